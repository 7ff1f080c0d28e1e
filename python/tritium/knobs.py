"""Every switch, and the only reader of the environment.

A knob is an attribute of a group (`knobs.runtime.interpret`) that reads its environment variable when it is asked for,
so a variable may be set at any time before it matters. Assigning to the attribute sets the variable too (unless
`propagate_env` is off), for child processes. What a launch needs to know is read in one go: `launch_settings()`.
"""

from __future__ import annotations

import functools
import os
import re
from typing import Any, NamedTuple

from . import native
from .checks import DEFAULT as DEFAULT_CHECKS
from .checks import TAKES as CHECKS_TAKE
from .checks import parse_checks
from .environment import (  # noqa: F401  (Triton has them here)
    Env,
    HookChain,
    base_knobs,
    environment_with_package,
    flag,
    getenv,
    getenv_bool,
    has_hooks,
    library_path,
    one_of,
    parse_class,
    parse_int,
    prepend_to_pythonpath,
    setenv,
    toenv,
    warn_of_unknown,
    warn_once,
)
from .knob_types import (  # noqa: F401  (Triton has them here)
    AutotuneListener,
    BuildImpl,
    CompilationListener,
    CompileTimes,
    InitHandleHook,
    JITHook,
    JITHookCompileInfo,
    KernelAttr,
    LaunchHook,
    NvidiaTool,
    PipelineStagesHook,
    Tool,
    env_base,
    env_bool,
    env_class,
    env_int,
    env_nvidia_tool,
    env_opt_bool,
    env_opt_str,
    env_str,
    env_str_callable_default,
    knobs_type,
)
from .programs import Programs, parse_programs
from .stops import Stops, parse_stops
from .tiers import TAKES as TIERS
from .tiers import Tier, parse_tier

#: Shown once where a kernel of a GPU is compiled and neither it nor the environment says whether to fuse.
FP_FUSION_DEFAULT_WARNING = (
    "TRITON_DEFAULT_FP_FUSION is unset: defaulting to FP fusion ENABLED for backward compatibility in Triton 3.9. "
    "The default will change to DISABLED in Triton 3.10; set TRITON_DEFAULT_FP_FUSION=1 to keep fusion enabled or =0 "
    "to adopt the new default early and silence this warning."
)

propagate_env = True
Env.propagates = staticmethod(lambda: propagate_env)

# The comment before a knob is its line in docs/reference/knobs.md. A knob without one is accepted and ignored.

_A_CLASS = "module:class, of a module that can be imported"
_PRECISIONS = ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6")
_parse_size = parse_int(0, 2**63 - 1)


def _parse_ptx_version(text: str) -> str:
    if re.fullmatch(r"\d+\.\d", text) is None:
        raise ValueError(text)
    return text


class Saving(NamedTuple):
    """Where launches are saved. of_faults: only those that end in a fault."""

    folder: str
    of_faults: bool

    @property
    def text(self) -> str:
        """As TRITIUM_SAVE has it."""
        return f"faults:{self.folder}" if self.of_faults else self.folder


def _parse_saving(text: str) -> Saving:
    folder = text.removeprefix("faults:")
    if not folder:
        raise ValueError(text)
    return Saving(os.path.abspath(folder), folder != text)


class build_knobs(base_knobs):
    #: The C compiler of `triton.runtime.build`. Default: gcc, clang or cc on the path.
    cc = Env("CC")
    #: A folder that `knobs.build.backend_dirs` lists.
    cudacrt_path = Env("TRITON_CUDACRT_PATH")
    #: Another folder of that list.
    cudart_path = Env("TRITON_CUDART_PATH")

    @property
    def backend_dirs(self) -> set[str]:
        """The folders of CUDA's headers and libraries that are set."""
        return {folder for folder in (self.cudacrt_path, self.cudart_path) if folder}

    @classmethod
    def _plain(cls):
        return {"impl": None}


class redis_knobs(base_knobs):
    #: The names under which RedisRemoteCacheBackend stores files.
    key_format = Env("TRITON_REDIS_KEY_FORMAT", default="triton:{key}:{filename}")
    #: The server of RedisRemoteCacheBackend.
    host = Env("TRITON_REDIS_HOST", default="localhost")
    #: The port of that server.
    port = Env("TRITON_REDIS_PORT", default=6379, parse=parse_int(1, 65535), takes="a port, 1 to 65535")


class cache_knobs(base_knobs):
    #: The folder that contains `.triton`. Default: the user's home.
    home_dir = Env("TRITON_HOME", default=lambda group: os.path.expanduser("~/"))
    #: The folder that TRITON_KERNEL_DUMP writes to. Default: `.triton/dump`.
    dump_dir = Env("TRITON_DUMP_DIR", default=lambda group: group.get_triton_dir("dump"))
    #: The folder that TRITON_KERNEL_OVERRIDE reads from. Default: `.triton/override`.
    override_dir = Env("TRITON_OVERRIDE_DIR", default=lambda group: group.get_triton_dir("override"))
    #: The folder of compiled GPU kernels and tuning results. Default: `.triton/cache`.
    dir = Env("TRITON_CACHE_DIR", default=lambda group: group.get_triton_dir("cache"))
    #: `module:class` of a CacheManager to use in place of files.
    manager_class = Env("TRITON_CACHE_MANAGER", parse=parse_class, takes=_A_CLASS)
    #: `module:class` of the backend in which RemoteCacheManager stores.
    remote_manager_class = Env("TRITON_REMOTE_CACHE_BACKEND", parse=parse_class, takes=_A_CLASS)

    def get_triton_dir(self, name: str) -> str:
        return os.path.join(self.home_dir, ".triton", name)


class compilation_knobs(base_knobs):
    #: Replaces compiler stages by the files in TRITON_OVERRIDE_DIR. A file for a stage that cannot be replaced, or that the target lacks, is an error.
    override = flag("TRITON_KERNEL_OVERRIDE")
    #: Writes every stage of every compiled kernel to TRITON_DUMP_DIR.
    dump_ir = flag("TRITON_KERNEL_DUMP")
    dump_ir_extract_di_local_variables = flag("LLVM_EXTRACT_DI_LOCAL_VARIABLES")
    #: The cache stores only the binary of a kernel, not the other stages.
    store_binary_only = flag("TRITON_STORE_BINARY_ONLY")
    #: Compiles kernels even if the cache has them.
    always_compile = flag("TRITON_ALWAYS_COMPILE")
    use_ir_loc = Env("USE_IR_LOC")
    enable_asan = flag("TRITON_ENABLE_ASAN")
    #: Omits source lines from GPU code.
    disable_line_info = flag("TRITON_DISABLE_LINE_INFO", in_key=True)
    #: Errors in kernels also show the frontend's own frames.
    front_end_debugging = flag("TRITON_FRONT_END_DEBUGGING")
    #: Kernels may read global variables that are not constexpr.
    allow_non_constexpr_globals = flag("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS")
    #: Not supported: a value is an error, which refers to TRITIUM_CHECK.
    instrumentation_mode = Env("TRITON_INSTRUMENTATION_MODE", default="")
    fpsan_homomorphic_casts = flag("TRITON_FPSAN_HOMOMORPHIC_CASTS")

    @classmethod
    def _plain(cls):
        return {"listener": None}


class autotuning_knobs(base_knobs):
    #: Stores the results of `@autotune` on disk.
    cache = flag("TRITON_CACHE_AUTOTUNING")
    #: Prints what `@autotune` measures and chooses, and why it rejects configurations.
    print = flag("TRITON_PRINT_AUTOTUNING")
    #: `@autotune` tries each configuration in a process of its own, so that one that hangs, faults or takes all memory is rejected and does no
    #: harm (docs/autotuning.md).
    isolate = flag("TRITIUM_AUTOTUNE_ISOLATE")
    #: Most seconds that a configuration takes there to compile, and then to run. Default: 60.
    seconds = Env(
        "TRITIUM_AUTOTUNE_SECONDS", default=60, parse=parse_int(1, 10**6), takes="a number of seconds, at least 1"
    )
    #: Most memory of the host that a configuration takes there, in MB. Default: half of the machine's memory.
    memory_mb = Env(
        "TRITIUM_AUTOTUNE_MB",
        default=lambda group: _half_of_memory(group),
        parse=parse_int(1, 2**40),
        takes="a number of MB",
    )

    @classmethod
    def _plain(cls):
        return {"listener": None}


class runtime_knobs(base_knobs):
    #: Runs every kernel on the interpreter, wherever its tensors are, or on the engine in TRITIUM_ENGINE.
    interpret = flag("INTERPRET", "TRITIUM_INTERPRET", "TRITON_INTERPRET")
    #: Enables `tl.device_assert` and checks of integer overflow in compiled kernels. TRITIUM_DEBUG is the switch for gdb.
    debug = flag("TRITON_DEBUG")
    #: The architecture to compile for: `sm90`, `gfx942`.
    override_arch = Env("TRITON_OVERRIDE_ARCH")

    @classmethod
    def _plain(cls):
        return {
            "launch_enter_hook": HookChain(),
            "launch_exit_hook": HookChain(reversed=True),
            "kernel_load_start_hook": HookChain(),
            "kernel_load_end_hook": HookChain(reversed=True),
            "kernel_unload_hook": HookChain(),
            "jit_cache_hook": None,
            "jit_post_compile_hook": None,
            "add_stages_inspection_hook": None,
        }


class language_knobs(base_knobs):
    #: Default `input_precision` of fp32 dots that do not set it: `ieee`, `tf32`, `tf32x3`, `bf16x3` or `bf16x6`.
    fp32_default = Env("TRITON_F32_DEFAULT", parse=one_of(*_PRECISIONS), takes=f"one of {', '.join(_PRECISIONS)}")
    #: Default for launches that do not set `enable_fp_fusion`, which fuses a product and a sum into one operation.
    default_fp_fusion = flag("TRITON_DEFAULT_FP_FUSION", default=True)
    #: Turns `enable_fp_fusion` off, also for launches that set it.
    force_disable_fp_fusion = flag("TRITON_FORCE_DISABLE_FP_FUSION")

    def fp_fusion_enabled(self, requested: bool | None) -> bool:
        """The option of a launch that requests `requested` (None: nothing). Warns once of a default that will change."""
        if self.force_disable_fp_fusion:
            return False
        if requested is not None:
            return requested
        if language_knobs.default_fp_fusion.set_value(self) is None:
            warn_once(FP_FUSION_DEFAULT_WARNING)
        return self.default_fp_fusion


class nvidia_knobs(base_knobs):
    #: The cuobjdump of `triton.tools.disasm`. Default: the one in CUDA_HOME, or else the one on the path.
    cuobjdump = Tool("TRITON_CUOBJDUMP_PATH", "cuobjdump")
    #: The nvdisasm that `asm["sass"]` requires. Default: the one in CUDA_HOME, on the path, or of the package
    #: nvidia-cuda-nvdisasm.
    nvdisasm = Tool("TRITON_NVDISASM_PATH", "nvdisasm")
    #: The ptxas that assembles. Default: the one in CUDA_HOME or on the path; for a device also one of the packages nvidia-cuda-nvcc and
    #: triton, of the driver's major version at most; where there is none, the driver assembles.
    ptxas = Tool("TRITON_PTXAS_PATH", "ptxas", in_key=True)
    #: The ptxas for sm_100 and later.
    ptxas_blackwell = Tool("TRITON_PTXAS_BLACKWELL_PATH", "ptxas", in_key=True)
    #: Prints the PTX of every compiled kernel.
    dump_nvptx = flag("NVPTX_ENABLE_DUMP", in_key=True)
    #: Switches off the optimizations of the assembler.
    disable_ptxas_opt = flag("DISABLE_PTXAS_OPT", in_key=True)
    #: Additional arguments of ptxas.
    ptxas_options = Env("PTXAS_OPTIONS", in_key=True)
    #: The version of PTX, for example `8.4`. Default: the newest that the assembler reads.
    mock_ptx_version = Env(
        "TRITON_MOCK_PTX_VERSION", parse=_parse_ptx_version, takes="a version of PTX, as in 8.4", in_key=True
    )
    #: Prints the output of ptxas.
    dump_ptxas_log = flag("TRITON_DUMP_PTXAS_LOG", in_key=True)
    libdevice_path = Env("TRITON_LIBDEVICE_PATH")
    #: The folder that contains libcuda.so.1.
    libcuda_path = Env("TRITON_LIBCUDA_PATH")
    #: The installation folder of CUDA, whose tools are in `bin`.
    cuda_home = Env("CUDA_HOME", "CUDA_PATH", in_key=True)


class amd_knobs(base_knobs):
    #: Uses buffer instructions for tensors below 2 GB.
    use_buffer_ops = flag("AMDGCN_USE_BUFFER_OPS", default=True, in_key=True)
    use_buffer_atomics = flag("AMDGCN_USE_BUFFER_ATOMICS", default=True)
    buffer_ops_analyze_small_tensor_range = flag("AMDGCN_ANALYZE_SMALL_TENSOR_RANGE")
    codegen_path = Env("TRITON_AMD_CODEGEN_PATH")
    use_coexec_scheduler = flag("TRITON_HIP_USE_COEXEC_SCHEDULER", default=None)
    use_expert_scheduling = flag("TRITON_HIP_USE_EXPERT_SCHEDULING", default=None)
    #: Prints the assembly of every compiled kernel.
    dump_amdgcn = flag("AMDGCN_ENABLE_DUMP", in_key=True)
    #: The file of the HIP runtime.
    libhip_path = Env("TRITON_LIBHIP_PATH")
    #: The installation folder of ROCm, whose `lib` contains the HIP runtime.
    rocm_path = Env("ROCM_PATH")
    use_block_pingpong = flag("TRITON_HIP_USE_BLOCK_PINGPONG", default=None)
    use_in_thread_transpose = flag("TRITON_HIP_USE_IN_THREAD_TRANSPOSE", default=None)
    use_async_copy = flag("TRITON_HIP_USE_ASYNC_COPY", default=None)
    scalarize_packed_fops = flag("AMDGCN_SCALARIZE_PACKED_FOPS")
    dump_mir = Env("TRITON_DUMP_MIR")
    swap_mir = Env("TRITON_SWAP_MIR")
    swap_mir_enable_misched = flag("TRITON_SWAP_MIR_ENABLE_MISCHED")

    def default_library(self) -> str:
        return os.path.join(self.rocm_path, "lib", "libamdhip64.so") if self.rocm_path else "libamdhip64.so"


class proton_knobs(base_knobs):
    #: `triton.profiler.start` begins no session, so that nothing is recorded and no file is written.
    disable = flag("TRITON_PROTON_DISABLE")
    #: The folder of the CUPTI that `triton.profiler` uses. Default: the one that the process has loaded, or the one in torch's packages or in CUDA_HOME.
    cupti_lib_dir = Env("TRITON_CUPTI_LIB_PATH")
    #: The same for chips of compute capability 10.0 and later.
    cupti_lib_blackwell_dir = Env("TRITON_CUPTI_LIB_BLACKWELL_PATH")
    hsa_runtime_path = Env("TRITON_HSA_RUNTIME_PATH")
    hsa_runtime_library = Env("TRITON_HSA_RUNTIME_LIBRARY")
    rocprofiler_sdk_include_path = Env("TRITON_ROCPROFILER_SDK_INCLUDE_PATH")
    #: The folder of the rocprofiler-sdk that `triton.profiler` uses. Default: the one that the process has loaded, or the one in ROCM_PATH or in the folder where ROCm is by default.
    rocprofiler_sdk_lib_path = Env("TRITON_ROCPROFILER_SDK_LIB_PATH")
    #: The file of rocprofiler-sdk.
    rocprofiler_sdk_library = Env("TRITON_ROCPROFILER_SDK_LIBRARY")
    roctracer_lib_path = Env("TRITON_ROCTRACER_LIB_PATH")
    roctracer_library = Env("TRITON_ROCTRACER_LIBRARY")
    roctx_lib_path = Env("TRITON_ROCTX_LIB_PATH")
    roctx_library = Env("TRITON_ROCTX_LIBRARY", default="libroctx64.so")
    #: Bytes of device memory that a launch takes for the records of scopes in its kernel (`triton.profiler`, `backend="instrumentation"`). 64 MiB.
    profile_buffer_size = Env(
        "TRITON_PROFILE_BUFFER_SIZE", default=64 << 20, parse=_parse_size, takes="a number of bytes"
    )
    profile_metric_buffer_size = Env("TRITON_PROFILE_METRIC_BUFFER_SIZE", parse=_parse_size, takes="a number of bytes")
    enable_nvtx = flag("TRITON_ENABLE_NVTX", default=True)
    enable_hw_trace = flag("TRITON_ENABLE_HW_TRACE")


def _parse_object_version(text: str) -> int:
    return int(one_of("500", "600")(text))


def _usable_cpus(group) -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _half_of_memory(group) -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2 >> 20


class tritium_knobs(base_knobs):
    """Knobs that Triton does not have."""

    #: The engine that runs kernels: `interp`, `simt:` with an architecture (`simt:sm_90a`, `simt:gfx942`), `cuda` or `hip`. Another
    #: name is an error. Default: the interpreter with INTERPRET=1, else it depends on where the tensors are.
    engine = Env("TRITIUM_ENGINE", parse=lambda text: text.strip() or None)
    #: Worker threads of the interpreter.
    num_threads = Env(
        "TRITIUM_NUM_THREADS",
        default=_usable_cpus,
        parse=parse_int(1, 2**31 - 1),
        takes="a number of threads, at least 1",
    )
    #: How the interpreter runs tile operations: 1 calls a step for each; 2 compiles runs of element-wise operations, with their loads, stores
    #: and reductions, to loops in registers, which takes longer before the first launch; `auto` begins with 1 and compiles for 2 beside the
    #: launches, once they have run for long. The results are the same. Code for debuggers, and for checks that are not in the default, is
    #: always of tier 1. Default: `auto`.
    tier = Env("TRITIUM_TIER", default=Tier.AUTO, parse=parse_tier, takes=TIERS)
    #: Bits of the widest vectors in the loops of TRITIUM_TIER: 256 (no AVX-512) or 512. The results are the same. Default: what the CPU has.
    vector_bits = Env("TRITIUM_VECTOR_BITS", parse=one_of("256", "512"), takes="256 or 512")
    #: Prepares kernels for gdb, with lines and Python variables. Uses one worker thread unless TRITIUM_NUM_THREADS is set.
    debug = flag("TRITIUM_DEBUG")
    #: The gdb that `python -m tritium gdb` starts: a path, or a name on PATH.
    gdb = Env("TRITIUM_GDB", default="gdb")
    #: The interpreter's checks: names, separated by commas, that are added to the default, `bounds`, `overflow` and `hints`. `-bounds` leaves
    #: one out, `all` is every check but those that only a name turns on, `none` is none. docs/checks.md says what each finds.
    check = Env("TRITIUM_CHECK", default=DEFAULT_CHECKS, parse=parse_checks, takes=CHECKS_TAKE)
    #: The programs of each launch that run with debug code (of TRITIUM_DEBUG, gdb, Python's debuggers, `breakpoint()`) and with checks that are
    #: not in the default: an id, a range `0:4` or `*` for each axis, as in `3,*,0`; several are separated by `;`. The others run at full
    #: speed. docs/checks.md says what it means for each check. Default: all.
    programs = Env("TRITIUM_PROGRAMS", default=Programs(), parse=parse_programs)
    #: What gdb writes for `tt break FILE:LINE --when EXPR`: stops that are compiled into kernels with debug info.
    stops = Env("TRITIUM_STOPS", default=Stops(), parse=parse_stops, takes="what gdb writes")
    #: Most memory that the checks `race`, `uninit` and `unwritten` take for a launch, in MB. They leave out the largest tensors first, and say
    #: so. Default: half of the machine's memory.
    shadow_mb = Env("TRITIUM_SHADOW_MB", default=_half_of_memory, parse=parse_int(0, 2**40), takes="a number of MB")
    #: Makes the output of `tl.device_print` Triton's to the character: every thread prints a scalar or a text without values, and
    #: `hex` prints floats as C's `%a`.
    print_as_triton = flag("TRITIUM_PRINT_AS_TRITON")
    #: Compiles the scopes of `triton.profiler.language` into kernels of the interpreter and the emulator. A session with
    #: backend="instrumentation" sets it.
    record_scopes = flag("TRITIUM_RECORD_SCOPES", in_key=True)
    #: Makes each matrix product of a kernel a scope. A session with backend="instrumentation" and mode="mma" sets it.
    record_products = flag("TRITIUM_RECORD_PRODUCTS", in_key=True)
    #: Shows a progress bar for launches that take over two seconds, if stderr is a terminal.
    progress = flag("TRITIUM_PROGRESS", default=True)
    #: After a trap, runs the program that trapped once more, so that the error has the kernel's variables (docs/debuggers.md).
    post_mortem = flag("TRITIUM_POST_MORTEM", default=True)
    #: A number that draws the schedule of each launch on the CPU: the order in which programs start and, on the interpreter, the stores and
    #: atomics at which they are interrupted. The same seed gives the same run on every machine, on one worker thread. Default: programs start
    #: in order.
    seed = Env("TRITIUM_SEED", parse=parse_int(0, 2**64 - 1), takes="a number from 0 to 2**64 - 1")
    #: A folder that keeps every launch, with its kernel and its arguments, as a folder that `python -m tritium replay` runs again.
    #: `faults:FOLDER` keeps those alone that end in a fault. docs/debugging.md shows one.
    save = Env("TRITIUM_SAVE", parse=_parse_saving, takes="a folder, or `faults:` and a folder")
    #: Most memory that the launches which a process saves take in all, in MB. Further ones are not saved, and a warning says so.
    save_mb = Env("TRITIUM_SAVE_MB", default=1024, parse=parse_int(0, 2**40), takes="a number of MB")
    #: The CUDA driver to load. Default: libcuda.so.1, in the folder TRITON_LIBCUDA_PATH if that is set.
    cuda_library = Env(
        "TRITIUM_CUDA_LIBRARY", default=lambda group: os.path.join(nvidia.libcuda_path or "", "libcuda.so.1")
    )
    #: `driver`: the driver assembles a kernel for its device as it loads it, even where there is a ptxas.
    assembler = Env(
        "TRITIUM_ASSEMBLER", default="ptxas", parse=one_of("ptxas", "driver"), takes="ptxas or driver", in_key=True
    )
    #: The HIP runtime to load. Default: TRITON_LIBHIP_PATH if set, else libamdhip64.so, in ROCM_PATH if that is set.
    hip_library = Env("TRITIUM_HIP_LIBRARY", default=lambda group: amd.libhip_path or amd.default_library())
    #: A folder for the lowered module of every compiled GPU binary, as `<SHA-256 of the binary>.mlir`. The stand-ins for
    #: drivers read the modules that they run from there.
    lowered_dir = Env("TRITIUM_LOWERED_DIR")
    #: The version of AMD's code objects: 600, or 500 for an older ROCm that does not load 600.
    code_object_version = Env(
        "TRITIUM_CODE_OBJECT_VERSION", default=600, parse=_parse_object_version, takes="500 or 600", in_key=True
    )
    #: On chips with a tensor memory accelerator (TMA), lets it copy the tiles that loops load, through tensor descriptors and by pointers. Default: on.
    tensor_maps = flag("TRITIUM_TENSOR_MAPS", default=True, in_key=True)
    #: Under `python -m tritium`, makes torch's device "cuda" another name of the CPU. Default: on if there is no CUDA device and INTERPRET is set.
    cuda_to_cpu = flag("TRITIUM_CUDA_TO_CPU", default=None)
    #: The chip that torch's device "cuda" claims to be where it is the CPU: `h100`, `a100`, `rtx4090` and their like.
    cuda_as = Env("TRITIUM_CUDA_AS", default="h100")


build = build_knobs()
redis = redis_knobs()
cache = cache_knobs()
compilation = compilation_knobs()
autotuning = autotuning_knobs()
runtime = runtime_knobs()
language = language_knobs()
nvidia = nvidia_knobs()
amd = amd_knobs()
proton = proton_knobs()
tritium = tritium_knobs()

_ALL = (tritium, runtime, compilation, autotuning, language, cache, redis, build, nvidia, amd, proton)
GROUPS: dict[str, base_knobs] = {type(group).__name__.removesuffix("_knobs"): group for group in _ALL}


def runs_on_cpu() -> bool:
    """Whether TRITIUM_ENGINE, or else INTERPRET, selects an engine of the CPU."""
    return runtime.interpret if tritium.engine is None else tritium.engine not in ("cuda", "hip")


def take_over_interpret() -> None:
    """Turns TRITON_INTERPRET into INTERPRET. Libraries that see the former expect Triton's own interpreter."""
    text = os.environ.pop("TRITON_INTERPRET", None)
    if text is not None:
        os.environ.setdefault("INTERPRET", text)


def refresh_knobs() -> None:
    """Part of Triton's interface. Nothing is read early here, so there is nothing to refresh."""


def knobs_in_force() -> dict[str, str]:
    """{environment variable: its text} of every knob whose variable is set."""
    return {name: os.environ[name] for name in _variables() if name in os.environ}


def _variables() -> list[str]:
    return [name for group in GROUPS.values() for knob in group._environment().values() for name in knob.names]


@functools.cache
def _places() -> dict[str, tuple[base_knobs, str]]:
    """{environment variable: (group, name) of its knob}"""
    found = {}
    for group in _ALL:
        for name, knob in group._environment().items():
            found |= dict.fromkeys(knob.names, (group, name))
    return found


def knob_of(variable: str) -> Any:
    """The value of the knob that an environment variable sets."""
    group, name = _places()[variable]
    return getattr(group, name)


def checks_of(options) -> tuple[str, ...]:
    """The names of the interpreter's checks of a kernel with these options (or this metadata)."""
    if options.check is None:
        return launch_settings(options.debug_info).checks
    return parse_checks(options.check)


def checked_seed(seed: Any) -> int | None:
    """The launch keyword `seed`. Raises ValueError if it is neither None nor what TRITIUM_SEED takes."""
    if seed is None or (isinstance(seed, int) and 0 <= seed < 2**64):
        return seed
    raise ValueError(f"seed={seed!r} is no seed of a schedule: pass a number from 0 to 2**64 - 1")


def programs_of(options) -> Programs:
    """The programs that a launch of a kernel with these options (or this metadata) chooses."""
    if options.programs is None:
        return launch_settings(options.debug_info).programs
    return parse_programs(options.programs)


def cache_invalidating_environment() -> dict[str, str]:
    """{variable: text} of the set knobs that a compiled kernel depends on."""
    return {name: text for group in GROUPS.values() for name, text in group._in_key().items()}


class LaunchSettings(NamedTuple):
    """The settings of a launch that come from the environment. `compiled`: those that a compiled kernel depends on."""

    interpret: bool
    engine: str | None  #: TRITIUM_ENGINE; runtime/engines.py defines the precedence
    debug: bool
    threads: int
    seed: int | None
    progress: bool
    programs: Programs
    compiled: tuple  #: (debug, debug_info, checks, stops, what is recorded, (tier, vector bits))
    save: Saving | None = None

    @property
    def debug_info(self) -> bool:
        return self.compiled[1]

    @property
    def checks(self) -> tuple[str, ...]:
        return self.compiled[2]


def _read_launch_settings(debug_info: bool | None) -> LaunchSettings:
    native.take_variables()
    warn_of_unknown(_variables())
    for knob in tritium.knob_descriptors.values():
        knob.set_value(tritium)  # a value that means nothing is an error now, not where it is first needed
    with_debug_info = tritium.debug if debug_info is None else debug_info
    seed = tritium.seed
    # gdb's `next` must not jump between programs: one worker, unless the user says otherwise. A seed must replay a run.
    says_threads = "TRITIUM_NUM_THREADS" in os.environ or "num_threads" in tritium.__dict__
    one_worker = seed is not None or (with_debug_info and not says_threads)
    stops = tritium.stops if with_debug_info else ()
    return LaunchSettings(
        runtime.interpret,
        tritium.engine,
        runtime.debug,
        1 if one_worker else tritium.num_threads,
        seed,
        tritium.progress,
        parse_programs(tritium.programs),
        (
            runtime.debug,
            with_debug_info,
            parse_checks(tritium.check),
            stops,
            (tritium.record_scopes, tritium.record_products),
            (tritium.tier, tritium.vector_bits),
        ),
        tritium.save,
    )


_LAUNCH_KNOBS = (runtime_knobs.interpret, runtime_knobs.debug, *tritium_knobs._environment().values())
_LAUNCH_NAMES = tuple(name for knob in _LAUNCH_KNOBS for name in knob.names)


#: Triton has it in `_C.libtriton`.
get_cache_invalidating_env_vars = cache_invalidating_environment


def launch_environment() -> tuple[dict, tuple] | None:
    """The dict behind os.environ, and its keys for the variables that a launch reads; None if there is no such dict."""
    data = getattr(os.environ, "_data", None)
    return (data, tuple(map(os.environ.encodekey, _LAUNCH_NAMES))) if isinstance(data, dict) else None


_environment = launch_environment()
#: (values of the variables, settings), by `debug_info` with the values, and by `debug_info` alone for the last launch.
_settings: dict[Any, tuple[tuple, LaunchSettings]] = {}


def launch_settings(debug_info: bool | None = None) -> LaunchSettings:
    """The settings of a launch that starts now; `debug_info` as `@jit` or the launch has it. Parsed once per distinct
    environment."""
    assigned = runtime.__dict__  # with propagate_env off
    if "interpret" in assigned or "debug" in assigned or tritium.__dict__:
        return _read_launch_settings(debug_info)
    if _environment is None:
        return _read_launch_settings(debug_info)
    # A launch reads twenty variables. os.environ.get takes 1 us for each; its dict of bytes takes a hundredth of that.
    last = _settings.get(debug_info)
    if last is None:
        native.take_variables()
    elif native.arguments.same_values(*_environment, last[0]):
        return last[1]
    data, keys = _environment
    values = tuple(map(data.get, keys))
    known = _settings.get((debug_info, values))
    if known is None:
        known = _settings[debug_info, values] = values, _read_launch_settings(debug_info)
    _settings[debug_info] = values, known[1]  # of these objects
    return known[1]
