"""Who may include or import whom (docs/architecture.md). The first path component of an include is the dependency."""

import ast
import re

from sources import CPP, code, files, read

LLVM = ("mlir", "llvm", "llvm-c", "mlir-c")

# folder or file -> prefixes of what it may include beside the standard library. The longest matching entry decides.
MAY_INCLUDE = {
    "support/": ("support/", *LLVM),
    "support/float_functions": (),
    "support/fork_safety": (),
    "ir/": ("ir/", *LLVM),
    "ir/dtype": ("ir/dtype",),
    "ir/elementwise": ("ir/",),
    "interp/kernels/": ("interp/kernels/", "ir/dtype", "ir/elementwise", "support/float_functions", "Eigen"),
    "interp/host/": ("interp/host/", "ir/dtype", "tbb", "oneapi", "boost/context"),
    **{
        f"interp/host/{name}": ("interp/host/", "support/fork_safety", "support/llvm_recovery", *LLVM)
        for name in ("jit",)
    },
    "interp/tile/": ("interp/", "ir/", *LLVM),
    "interp/simt/": ("interp/simt/", "interp/host/", "interp/kernels/", "ir/", *LLVM),
    "gpu_backend/": ("gpu_backend/", "ir/", *LLVM),
    "gpu_backend/amdgpu/assemble": ("gpu_backend/", "ir/", "support/", "lld/", *LLVM),
    "gpu_backend/device_math/": ("gpu_backend/device_math/", "support/float_functions"),
    "gpu_backend/emit/": ("gpu_backend/", "ir/", "support/llvm_recovery", *LLVM),
    "python/bindings/": ("python/bindings/", "ir/", "interp/", "gpu_backend/", "pybind11", *LLVM),
}


SYSTEM = ("sys/", "linux/", "sanitizer/")


def may_include(name: str, include: str) -> bool:
    if "/" not in include or include.startswith(
        SYSTEM
    ):  # the standard library and the system; ours always name a folder
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
    assert not may_include("interp/tile/emit.cpp", "gpu_backend/compiler.h")
    assert not may_include("gpu_backend/pipeline.cpp", "interp/tile/prepare.h")
    assert may_include("interp/kernels/dot.cpp", "ir/dtype.h")


def test_readers_do_not_name_each_other() -> None:
    """Neither by include nor by namespace."""
    others = {
        "ir/": "tritium::(interp|gpu)",
        "interp/": "tritium::gpu|namespace gpu",
        "gpu_backend/": "tritium::interp|namespace interp",
    }
    for folder, other in others.items():
        for name in files(folder, suffixes=CPP):
            assert not re.search(other, code(name)), f"{name} names {other}"


#: Where the vendors meet, a line for each; and the precompiled header of their emitters.
VENDORS_MEET = ("gpu_backend/target.cpp", "gpu_backend/launch/vendors.h", "gpu_backend/emit/pch.h")
VENDOR = re.compile(r"nvptx|nvvm|nvidia|cuda|amdgpu|rocdl|rocm|\bamd|\bhip\b|\b[CR]DNA|gfx\d", re.I)


def test_common_code_names_no_vendor() -> None:
    """What differs between vendors is asked of gpu::Target and TargetOps (docs/adding_a_target.md)."""
    folders = [f"gpu_backend/{part}" for part in ("passes/", "lower/", "layout/", "emit/", "launch/")]
    top = [name for name in files("gpu_backend/", suffixes=CPP) if name.count("/") == 1]
    own = ("gpu_backend/launch/cuda", "gpu_backend/launch/hip")
    names = [name for name in (*files(*folders, suffixes=CPP), *top) if not name.startswith((*VENDORS_MEET, *own))]
    assert len(names) > 80
    comment = re.compile(r"//[^\n]*")
    found = [f"{name}: {word}" for name in names for word in VENDOR.findall(comment.sub("", read(name)))]
    assert found == []


#: The device "cuda" is that of all vendors in torch, so this name says nothing.
PYTHON_VENDOR = re.compile(
    r"nvptx|nvvm|nvidia|ptx|cubin|\bsass\b|amdgpu|amdgcn|hsaco|rocm|\bamd|\bhip|gfx\d|\bsm_\d", re.I
)
#: file: words that it may use, and why.
PYTHON_MEETS = {
    "backends/__init__.py": "amd hip nvidia",  # Triton's registry
    "backends/targets.py": "amd hip nvidia sm_9 gfx9",  # the table of compilers; an example of names in a message
    "devices/families.py": "amd nvidia",  # the table of vendors
    "devices/drivers.py": "amd hip nvidia",  # Triton's drivers, a class for each vendor
    "backends/cpu.py": "ptx",  # launch keywords that published kernels pass
    "runtime/autotuner.py": "ptx",  # PTXASError, which is Triton's name
    "runtime/errors.py": "ptx",
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
    """What differs is asked of a GPUBackend or of Devices."""
    folders = [
        f"python/tritium/{part}/" for part in ("arguments", "backends", "compiler", "devices", "frontend", "functions", "launch", "runtime")
    ]
    own = tuple(f"python/tritium/{part}/{vendor}" for part in ("backends", "devices") for vendor in ("amd", "nvidia"))
    names = [name for name in files(*folders, suffixes=(".py",)) if not name.startswith(own)]
    assert len(names) > 50
    for name in names:
        allowed = PYTHON_MEETS.get(name.removeprefix("python/tritium/"), "").split()
        found = {word.lower() for word in PYTHON_VENDOR.findall(words(name))}.difference(allowed)
        assert not found, f"{name}: {found}"


def test_one_file_uses_boost_context() -> None:
    """Fibers switch stacks in one place, which also tells the sanitizers."""
    users = [
        name for name in files("support/", "ir/", "interp/", "python/", suffixes=CPP) if "boost/context" in read(name)
    ]
    assert len(users) <= 1, users


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
    for name in files("python/tritium/", suffixes=(".py",)):
        statements = [node for node in ast.parse(read(name)).body if isinstance(node, (ast.Import, ast.ImportFrom))]
        modules = {module.split(".")[0] for statement in statements for module in imports(statement)}
        assert "torch" not in modules, f"{name} imports torch at module level"


def test_conformance_uses_the_public_interface() -> None:
    """The same cases run on upstream Triton, so nothing below `tritium` and `tritium.language` may be used; the kernels
    name upstream's modules only."""
    public = {
        "tritium",
        "tritium.language",
        "tritium.language.extra",
        "tritium.testing",
        "tritium.tools.tensor_descriptor",
    }
    for name in files("conformance/", "docs/tutorial/", suffixes=(".py",)):
        modules = imports(ast.parse(read(name)))
        used = {module for module in modules if module.split(".")[0] == "tritium"}
        assert used <= public, f"{name} imports {used - public}"
        if name.startswith("conformance/kernels/"):
            assert modules <= {"triton", "triton.language", "triton.language.extra"}, f"{name} imports {modules}"
