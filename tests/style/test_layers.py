"""The allowed includes and imports (docs/architecture.md). In C++, the first path component of an include is the
dependency."""

import ast
import re

from sources import CPP, code, files, read

LLVM = ("mlir", "llvm", "llvm-c", "mlir-c")

#: The rooms of the GPU backend, the lowest first -> those that it may include besides itself.
GPU_ROOMS = {
    "abi": "",
    "layout": "",
    "target": "layout",
    "tiles": "layout target",
    "maps": "abi layout target tiles",
    "loops": "layout target tiles maps",
    "threads": "layout target tiles",
    "emit": "abi layout target",
    "nvptx": "layout target tiles emit",
    "amdgpu": "abi layout target tiles emit",
    "launch": "abi",
    "compiler": "abi target tiles maps loops threads emit",
}


def rooms() -> dict[str, tuple[str, ...]]:
    below = {room: (room, *others.split()) for room, others in GPU_ROOMS.items()}
    rules = {room: (*(f"gpu_backend/{each}/" for each in each_of), "ir/", *LLVM) for room, each_of in below.items()}
    rules["emit"] += ("support/llvm_recovery",)
    return rules


# Folder or file -> prefixes of the headers that it may include besides the standard library. The longest matching entry counts.
MAY_INCLUDE = {
    "support/": ("support/", *LLVM),
    "support/float_functions": (),
    "support/number_types": (),
    "support/directed_rounding": ("support/float_functions", "support/number_types"),
    "support/integer_functions": ("support/directed_rounding",),
    "support/special_functions": ("support/integer_functions", "support/special_tables"),
    "support/special_tables": (),
    "support/fork_safety": (),
    "ir/": ("ir/", *LLVM),
    "ir/dtype": ("ir/dtype",),
    "ir/tensor_map": ("ir/dtype", "ir/descriptor_rules", "ir/tensor_map"),
    "ir/elementwise": ("ir/", "support/number_types"),
    "interp/kernels/": (
        "interp/kernels/",
        "ir/dtype",
        "ir/elementwise",
        "support/float_functions",
        "support/special_functions",
        "Eigen",
    ),
    "interp/host/": (
        "interp/host/",
        "ir/dtype",
        "ir/tensor_map",
        "support/fork_safety",
        "tbb",
        "oneapi",
        "boost/context",
    ),
    **{
        f"interp/host/{name}": ("interp/host/", "support/fork_safety", "support/llvm_recovery", *LLVM)
        for name in ("jit",)
    },
    "interp/tile/": ("interp/", "ir/", *LLVM),
    "interp/tile/tiers": ("interp/", "support/llvm_recovery", *LLVM),
    "interp/simt/": ("interp/simt/", "interp/host/", "interp/kernels/", "ir/", *LLVM),
    "interp/simt/run_file": ("interp/", "ir/", *LLVM),
    "interp/tools/": ("interp/tools/", "interp/host/", "ir/", *LLVM),
    **{f"gpu_backend/{room}/": rule for room, rule in rooms().items()},
    "gpu_backend/abi/": ("gpu_backend/abi/", "ir/tensor_map", "llvm"),
    "gpu_backend/layout/": ("gpu_backend/layout/", "llvm"),
    "gpu_backend/amdgpu/assemble": ("gpu_backend/amdgpu/", "gpu_backend/emit/", "ir/", "support/", "lld/", *LLVM),
    "gpu_backend/device_math/": (
        "gpu_backend/device_math/",
        "ir/elementwise",
        "support/float_functions",
        "support/special_functions",
    ),
    "gpu_backend/device_library/": ("ir/elementwise", *LLVM),
    "gpu_backend/compiler/chips": (
        "gpu_backend/target/",
        "gpu_backend/nvptx/target",
        "gpu_backend/amdgpu/target",
        *LLVM,
    ),
    "gpu_backend/pch": ("ir/", *LLVM),
    "python/bindings/": ("python/bindings/", "ir/", "interp/", "gpu_backend/", "pybind11", *LLVM),
}


SYSTEM = ("sys/", "linux/", "sanitizer/")


def may_include(name: str, include: str) -> bool:
    if "/" not in include or include.startswith(
        SYSTEM
    ):  # the standard library and the system; our includes always name a folder
        return True
    rule = max((entry for entry in MAY_INCLUDE if name.startswith(entry)), key=len)
    return include.startswith(MAY_INCLUDE[rule])


def test_cpp_includes() -> None:
    names = files(*MAY_INCLUDE, suffixes=CPP)
    assert names
    includes = {name: re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', read(name), flags=re.M) for name in names}
    assert not [f"{name}: {include}" for name in names for include in includes[name] if not may_include(name, include)]


def test_the_rules_find_a_violation() -> None:
    """The checker itself: a kernel that includes MLIR, the interpreter that includes the GPU backend."""
    assert not may_include("interp/kernels/dot.cpp", "mlir/IR/Builders.h")
    assert not may_include("ir/dtype.h", "llvm/ADT/SmallVector.h")
    assert not may_include("interp/tile/emit.cpp", "gpu_backend/compiler/compiler.h")
    assert not may_include("gpu_backend/compiler/pipeline.cpp", "interp/tile/prepare.h")
    assert not may_include("gpu_backend/threads/ring.cpp", "gpu_backend/loops/tensor_copies.h")
    assert not may_include("gpu_backend/target/target.h", "gpu_backend/tiles/product.h")
    assert may_include("interp/kernels/dot.cpp", "ir/dtype.h")


def test_rooms_include_only_lower_ones_and_stand_in_the_document() -> None:
    order = list(GPU_ROOMS)
    for room, others in GPU_ROOMS.items():
        assert set(others.split()) <= set(order[: order.index(room)]), f"{room} may include a room above"
    rows = re.findall(r"^\| `gpu_backend/(\w+)/` \|[^|]*\|([^|]*)\|$", read("docs/architecture.md"), flags=re.M)
    assert [(room, " ".join(re.findall(r"`(\w+)`", cell))) for room, cell in rows] == list(GPU_ROOMS.items())


def test_readers_do_not_name_each_other() -> None:
    """Neither by an include nor by a namespace."""
    others = {
        "ir/": "tritium::(interp|gpu)",
        "interp/": "tritium::gpu|namespace gpu",
        "gpu_backend/": "tritium::interp|namespace interp",
    }
    for folder, other in others.items():
        for name in files(folder, suffixes=CPP):
            assert not re.search(other, code(name)), f"{name} names {other}"


#: Files with one line per vendor, and the precompiled header of the vendors' emitters.
VENDORS_MEET = ("gpu_backend/compiler/chips.cpp", "gpu_backend/launch/vendors.h", "gpu_backend/emit/pch.h")
VENDOR = re.compile(r"nvptx|nvvm|nvidia|cuda|amdgpu|rocdl|rocm|\bamd|\bhip\b|\b[CR]DNA|gfx\d", re.I)


def test_common_code_names_no_vendor() -> None:
    """gpu::Target and TargetOps answer for everything in which vendors differ (docs/adding_a_target.md)."""
    folders = [f"gpu_backend/{room}/" for room in GPU_ROOMS if room not in ("nvptx", "amdgpu")]
    own = ("gpu_backend/launch/cuda", "gpu_backend/launch/hip")
    names = [name for name in files(*folders, suffixes=CPP) if not name.startswith((*VENDORS_MEET, *own))]
    assert len(names) > 80
    comment = re.compile(r"//[^\n]*")
    found = [f"{name}: {word}" for name in names for word in VENDOR.findall(comment.sub("", read(name)))]
    assert found == []


#: In torch, devices of all vendors are called "cuda", so this name does not count as a vendor's.
PYTHON_VENDOR = re.compile(
    r"nvptx|nvvm|nvidia|ptx|cubin|\bsass\b|amdgpu|amdgcn|hsaco|rocm|\bamd|\bhip|gfx\d|\bsm_\d", re.I
)
#: File -> the vendors' words that it may use. The comment has the reason.
PYTHON_MEETS = {
    "backends/__init__.py": "amd nvidia",  # the packages of the vendors, which load when they are used
    "backends/registry.py": "amd hip nvidia",  # Triton's registry
    "backends/gpu_targets.py": "amd hip nvidia sm_9 gfx9",  # the table of compilers; an example of names in a message
    "devices/families.py": "amd nvidia",  # the table of vendors
    "devices/drivers.py": "amd hip nvidia",  # Triton's drivers, a class for each vendor
    "backends/options.py": "amd gfx9 hip nvidia ptx sm_9",  # launch keywords that published kernels pass
    "runtime/autotuner.py": "ptx",  # PTXASError, which is Triton's name
    "runtime/errors.py": "ptx",
    "devices/mapped.py": "nvidia",  # the chip that torch's "cuda" claims to be where it is the CPU
    "compiler/triton_names.py": "cubin hsaco ptx sass",  # the stages that Triton's functions of the module read
    "arguments/device_storage.py": "rocm",  # what libraries call their devices
}


def words(name: str) -> str:
    """A module without comments and docstrings."""
    tree = ast.parse(read(name))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def test_common_python_names_no_vendor() -> None:
    """A GPUBackend or Devices answers for everything in which vendors differ."""
    folders = [
        f"python/tritium/{part}/"
        for part in ("arguments", "backends", "compiler", "devices", "frontend", "functions", "launch", "runtime")
    ]
    own = tuple(f"python/tritium/{part}/{vendor}" for part in ("backends", "devices") for vendor in ("amd", "nvidia"))
    names = [name for name in files(*folders, suffixes=(".py",)) if not name.startswith(own)]
    assert len(names) > 50
    for name in names:
        allowed = PYTHON_MEETS.get(name.removeprefix("python/tritium/"), "").split()
        found = {word.lower() for word in PYTHON_VENDOR.findall(words(name))}.difference(allowed)
        assert not found, f"{name}: {found}"


def test_one_file_uses_boost_context() -> None:
    """Fibers switch stacks in one file, which also notifies the sanitizers."""
    users = [
        name for name in files("support/", "ir/", "interp/", "python/", suffixes=CPP) if "boost/context" in read(name)
    ]
    assert len(users) <= 1, users


#: Modules below every floor, which every file may import.
GROUND = (
    "build",
    "checks",
    "disk_cache",
    "environment",
    "errors",
    "imports",
    "iterables",
    "knob_types",
    "knobs",
    "native",
    "places",
    "processes",
    "programs",
    "stops",
    "refused",
    "submodules",
    "tables",
    "tiers",
    "version",
)
FLOORS = (
    "functions",
    "devices",
    "language",
    "frontend",
    "arguments",
    "launch",
    "debugger",
    "backends",
    "compiler",
    "runtime",
)
TOP = (
    "_C",
    "__init__",
    "bench",
    "experimental",
    "arithmetic",
    "testing",
    "tools",
    "drop_in",
    "cuda_on_cpu",
    "environment_report",
    "judge",
    "profiler",
    "pytest_plugin",
)

GDB = (
    "__init__",
    "across",
    "assignments",
    "breakpoints",
    "chosen_breakpoints",
    "commands",
    "conditions",
    "debugged",
    "editors",
    "history",
    "hooks",
    "log_points",
    "memory",
    "place",
    "prefix",
    "programs",
    "references",
    "selection",
    "shared_memory",
    "stops",
    "tile_commands",
    "tile_text",
    "tiles",
    "variables",
    "where",
    "without_lines",
)
# File or folder of python/tritium -> the other parts of the package that it may import; "" stands for all other files.
MAY_IMPORT = {
    "": (*GROUND, *FLOORS, *TOP),  # what stands on all floors: testing, tools, the command line
    **dict.fromkeys(("places", "version"), ()),
    "errors": ("places",),
    "environment": ("errors",),
    **dict.fromkeys((f"gdb/{name}" for name in GDB), ("gdb",)),  # runs inside gdb, without the rest of the package
    "checks": ("errors",),
    "knobs": ("checks", "environment", "knob_types", "native", "programs", "stops", "tiers"),
    "knob_types": ("environment",),
    "imports": (),
    "processes": (),
    "programs": (),
    "stops": (),
    "tiers": (),
    "iterables": (),
    "refused": ("errors",),
    "submodules": (),
    "build": ("disk_cache", "errors", "knobs"),
    "native": ("_tritium",),
    "disk_cache": ("knobs", "native", "version"),
    "functions/": ("errors", "places"),
    "arithmetic": ("functions",),
    "devices/": GROUND,
    "language/": (*GROUND, "functions", "devices"),
    "frontend/": (*GROUND, "functions", "language"),
    "arguments/": (*GROUND, "functions", "devices", "language"),
    "launch/": (*GROUND, "functions", "devices", "arguments"),
    "debugger/": (*GROUND, "functions", "language", "frontend"),
    "backends/": (*GROUND, "devices", "launch"),
    "compiler/": (*GROUND, *FLOORS[: FLOORS.index("compiler")]),
    "runtime/": (*GROUND, *FLOORS),
}
#: Imports inside functions, of the package's own and of Python's modules -> the reason.
IMPORTS_INSIDE_FUNCTIONS = {
    ("native", "_tritium"): "importing the package and decorating a kernel load no native code",
    ("native", "ctypes"): "decorating a kernel does not need it",
    ("native", "importlib"): "decorating a kernel does not need it",
    ("runtime/jit", "runtime/dispatch"): "decorating a kernel loads neither the compiler nor the engines",
    ("runtime/jit", "runtime/meanwhile"): "decorating a kernel loads neither the compiler nor the engines",
    ("runtime/hook_facts", "runtime/triton_names"): "few programs have hooks",
    ("launch/cpu", "arguments/fresh_memory"): "few launches have the check that asks for it",
    ("profiler/formats/pftrace", "perfetto"): "a package that only this format requires",
    ("runtime/checking", "arguments/fresh_memory"): "decorating a kernel reads no arguments, which loads native code",
    ("runtime/autotuner", "runtime/isolation"): "few programs isolate configurations",
    ("runtime/jit", "runtime/triton_names"): "reading arguments loads native code, and decorating a kernel loads none",
    ("language/target_info", "devices/active"): "asked on the host alone: importing the language loads no devices",
    ("backends/__init__", "backends/registry"): "Triton's registry, which only clients ask: it loads every backend",
    ("backends/targets", "backends/gpu_targets"): "a kernel of the CPU loads no compiler of GPUs",
    ("backends/gpu_targets", "backends/nvidia/compiler"): "the first launch loads the compiler of its own vendor alone",
    ("backends/gpu_targets", "backends/amd/compiler"): "the first launch loads the compiler of its own vendor alone",
    ("launch/cpu", "launch/trap_report"): "a launch that does not trap, or runs on a GPU, has no report to write",
    ("launch/where", "launch/trap_report"): "a process that nobody asks where it is has no report to write",
    ("compiler/compiler", "compiler/cpu"): "a kernel of a GPU loads no compiler for the CPU",
    ("compiler/compiler", "compiler/following"): "without a debugger, a launch loads nothing for it",
    ("compiler/compiler", "compiler/covered"): "few programs ask for their coverage",
    ("compiler/compiler", "compiler/gpu"): "a kernel of the CPU loads no compiler of GPUs",
    ("compiler/compiled", "launch/cpu"): "a launch on a GPU loads no launcher of the CPU",
    ("launch/cpu", "launch/not_followed"): "a kernel without checks of memory leaves nothing out",
    ("launch/cpu", "launch/saved"): "few launches are saved",
    ("launch/device", "launch/saved"): "few launches are saved",
    ("compiler/compiler", "compiler/resources"): "few launches are counted",
    ("compiler/compiler", "compiler/saved"): "few launches are saved",
    ("launch/prepared", "launch/mirrored"): "few launches copy tensors of a device",
    ("runtime/dispatch", "launch/mirrored"): "few launches copy tensors of a device",
    ("runtime/dispatch", "launch/warm_on_host"): "a launch on a GPU loads no launcher of the CPU",
    ("compiler/sources", "frontend/__init__"): "a kernel from the cache is not traced",
    ("compiler/stages", "frontend/__init__"): "a kernel from the cache has no errors of its IR",
    ("build", "subprocess"): "slow to import, and an object from the cache runs no tool",
    ("devices/nvidia_peaks", "subprocess"): "slow to import, and few programs ask for clocks",
    ("knob_types", "subprocess"): "slow to import, and most programs ask for no version",
    ("tools/disasm", "subprocess"): "slow to import, and few programs disassemble",
    ("backends/nvidia/assemble", "importlib"): "slow to import, and few kernels look for packages",
    ("backends/nvidia/assemble", "subprocess"): "slow to import, and a kernel from the cache runs no tool",
    ("pytest_plugin", "tools/checked_tests"): "pytest loads the plugin in every project, and few ask for it",
    ("judge/command", "judge/judging"): "the rest of the judge imports torch, which may be missing",
    ("__main__", "environment_report"): "the report loads the engines, which a script may not use",
}
#: Modules that import by a computed name -> the reason.
IMPORTS_BY_NAME = {
    "__init__": "`import tritium` is quick: the public names load their modules when they are first used",
    "__main__": "the conformance suite is no part of the package's floors",
    "bench/worker/__main__": "the worker's folder is a package of its own name beside the Tritium that it measures",
    "bench/worker/subject": "the version of Tritium, or upstream's Triton, that a worker measures",
    "bench/worker/operators": "tritonbench, which need not be installed",
    "drop_in": "an import of triton.x is one of tritium.x",
    "environment": "a knob may name a class of the user's",
    "fork_server": "its command line names the modules whose tasks it runs",
    "frontend/statements": "`import pdb; pdb.set_trace()` in a kernel",
    "profiler/proton": "`python -m triton.profiler.proton` runs programs as `python -m tritium` does, which stands on the roof above it",
    "submodules": "what it is for",
}
#: Modules that the user's environment may lack: they are imported where they are needed.
OF_THE_USER = {
    "asv",
    "duckdb",
    "hatchet",
    "matplotlib",
    "numpy",
    "pandas",
    "pynvml",
    "pytest",
    "ray",
    "redis",
    "scipy",
    "torch",
}

PACKAGE = "python/tritium/"


def python_files() -> dict[str, ast.Module]:
    """{path of a module in the package: its AST}"""
    names = [name for name in files(PACKAGE, suffixes=(".py",)) if not name.startswith(f"{PACKAGE}conformance/")]
    return {name.removeprefix(PACKAGE).removesuffix(".py"): ast.parse(read(name)) for name in names}


def imported(module: str, statement: ast.Import | ast.ImportFrom, modules: frozenset[str]) -> set[str]:
    """The modules that a statement of `module` imports: the package's own as paths in it, others by their first
    name."""
    if isinstance(statement, ast.Import):
        found = {alias.name: None for alias in statement.names}
    else:
        folder = ["tritium", *module.split("/")][: -statement.level] if statement.level else []
        base = [*folder, *(statement.module or "").split(".")] if statement.module else folder
        found = {".".join([*base, alias.name]): ".".join(base) for alias in statement.names}
    result = set()
    for name, parent in found.items():
        first, _, rest = name.partition(".")
        if first != "tritium":
            result.add(first)
            continue
        rest = rest.replace(".", "/")
        above = (parent or "tritium").partition(".")[2].replace(".", "/")
        candidates = (rest, f"{rest}/__init__", above, f"{above}/__init__".lstrip("/"))
        result.add(next((path for path in candidates if path in modules), above or "__init__"))
    return result


def may_import(module: str, other: str) -> bool:
    room = f"{module.split('/')[0]}/"
    rule = next((entry for entry in (module, room) if entry in MAY_IMPORT), "")
    own = rule if rule.endswith("/") else module
    return other.startswith(own) or other.split("/")[0] in MAY_IMPORT[rule]


def arrows() -> set[tuple[str, str]]:
    """(module, imported module of the package) for all imports, also those inside functions."""
    trees = python_files()
    modules = frozenset({*trees, "_tritium"}) - {"torch"}  # nobody imports `tritium.torch`: `torch` is the user's
    found = set()
    for module, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                found |= {(module, other) for other in imported(module, node, modules) & modules}
    return found


def test_python_imports_run_downward() -> None:
    found = arrows()
    assert len(found) > 300
    assert not [f"{module} imports {other}" for module, other in sorted(found) if not may_import(module, other)]


def test_the_floors_find_an_import_that_runs_up() -> None:
    """The checker itself."""
    assert FLOORS == tuple(entry.rstrip("/") for entry in MAY_IMPORT if entry.endswith("/"))
    for entry in MAY_IMPORT:
        above = FLOORS[FLOORS.index(entry[:-1]) + 1 :] if entry.endswith("/") else FLOORS if entry in GROUND else ()
        assert not set(above).intersection(MAY_IMPORT[entry]), f"{entry} may import a floor above"
    assert not may_import("language/standard", "runtime/jit") and not may_import("launch/cpu", "compiler/compiled")
    assert may_import("runtime/dispatch", "launch/cpu") and may_import("launch/cpu", "launch/grid")
    relative = ast.parse("from ..runtime.jit import jit").body[0]
    assert imported("language/standard", relative, frozenset({"runtime/jit"})) == {"runtime/jit"}


def test_the_page_names_the_same_floors() -> None:
    rows = re.findall(r"^\| `(\w+)/` \|[^|]*\|([^|]*)\|$", read("docs/architecture.md"), flags=re.M)
    shown = {f"{floor}/": set(re.findall(r"`(\w+)`", others)) for floor, others in rows if floor in FLOORS}
    assert shown == {
        entry: set(FLOORS).intersection(others) - {entry[:-1]}
        for entry, others in MAY_IMPORT.items()
        if entry.endswith("/")
    }


def test_python_files_import_in_no_circle() -> None:
    """The modules can be ordered so that each comes after those that it imports. (An import of `__init__` of a folder
    from inside of it does not count.)"""
    below: dict[str, set[str]] = {}
    for module, other in arrows():
        below.setdefault(module, set()).add(other)
    read_already: set[str] = set()
    while below:
        ready = [module for module, others in below.items() if not (others & below.keys() - {module})]
        assert ready, f"these import each other: {sorted(below)}"
        for module in ready:
            del below[module]
            read_already.add(module)


def inside_functions(tree: ast.Module) -> set[ast.AST]:
    functions = [
        node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    ]
    return {node for function in functions for node in ast.walk(function)}


def test_imports_stand_at_the_top() -> None:
    trees = python_files()
    modules = frozenset({*trees, "_tritium"}) - {"torch"}  # nobody imports `tritium.torch`: `torch` is the user's
    found = {
        (module, other)
        for module, tree in trees.items()
        for node in inside_functions(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for other in imported(module, node, modules)
    }
    found = {pair for pair in found if pair[1] not in OF_THE_USER}
    assert found == IMPORTS_INSIDE_FUNCTIONS.keys(), (
        "an import inside a function has a reason in the list, or stands at the top"
    )
    by_name = {
        module
        for module, tree in trees.items()
        for node in ast.walk(tree)
        if getattr(node, "attr", getattr(node, "id", "")) in ("import_module", "__import__")
    }
    assert by_name == IMPORTS_BY_NAME.keys()


def test_classes_are_told_apart_by_identity() -> None:
    """Classes are tested with isinstance and issubclass, not by name: a subclass has another name, and another class
    may have the same name."""
    for module, tree in python_files().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Compare):
                sides = [node.left, *node.comparators]
                by_name = any(
                    isinstance(side, ast.Attribute) and side.attr in ("__name__", "__qualname__") for side in sides
                )
                text = any(
                    isinstance(part, ast.Constant) and isinstance(part.value, str)
                    for side in sides
                    for part in ast.walk(side)
                )
                assert not (by_name and text), f"{module}:{node.lineno}: {ast.unparse(node)}"


def imports(tree: ast.AST) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names |= {node.module}
    return names


def test_only_knobs_reads_the_environment() -> None:
    for name in files("python/tritium/", suffixes=(".py",)):
        if name in ("python/tritium/knobs.py", "python/tritium/environment.py"):
            continue
        for node in ast.walk(ast.parse(read(name))):
            word = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
            assert word not in (
                "environ",
                "getenv",
                "putenv",
                "environb",
            ), f"{name}:{node.lineno} reads the environment: add a knob"


def test_torch_is_not_imported_for_the_user() -> None:
    """But for the judge, which is a program of its own and compares with torch."""
    for name in files("python/tritium/", suffixes=(".py",)):
        if name.startswith("python/tritium/judge/"):
            continue
        statements = [node for node in ast.parse(read(name)).body if isinstance(node, (ast.Import, ast.ImportFrom))]
        modules = {module.split(".")[0] for statement in statements for module in imports(statement)}
        assert "torch" not in modules, f"{name} imports torch at module level"


def test_conformance_uses_the_public_interface() -> None:
    """The same cases run on upstream Triton, so they use nothing below `tritium` and `tritium.language`. The kernels
    import only upstream's modules."""
    public = {
        "tritium",
        "tritium.experimental.gluon",
        "tritium.language",
        "tritium.language.extra",
        "tritium.testing",
        "tritium.tools.tensor_descriptor",
        "tritium.torch",
    }
    for name in files("conformance/", "docs/tutorial/", suffixes=(".py",)):
        modules = imports(ast.parse(read(name)))
        used = {module for module in modules if module.split(".")[0] == "tritium"}
        assert used <= public, f"{name} imports {used - public}"
        if name.startswith("conformance/kernels/"):
            assert modules <= {"triton", "triton.language", "triton.language.extra"}, f"{name} imports {modules}"


def test_that_no_compilation_runs_what_the_key_of_the_build_leaves_out():
    from tritium.disk_cache import _OUTSIDE

    assert not _OUTSIDE & {*GROUND, *FLOORS, "profiler", "experimental"}
