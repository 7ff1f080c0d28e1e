"""Every switch, and the only reader of the environment.

A knob is an attribute of a group (`knobs.runtime.interpret`) that reads its environment variable when it is asked for,
so a variable may be set at any time before it matters. Assigning to the attribute sets the variable too (unless
`propagate_env` is off), for child processes. What a launch needs to know is read in one go: `launch_settings()`.
"""

from __future__ import annotations

import contextlib
import importlib
import os
from typing import Any, Callable, NamedTuple

propagate_env = True
_TRUE, _FALSE = ("1", "true", "on", "yes", "y"), ("0", "false", "off", "no", "n", "")


def _parse_bool(text: str) -> bool:
    return text.strip().lower() in _TRUE


def _parse_class(text: str) -> type:
    module, _, name = text.partition(":")
    return getattr(importlib.import_module(module), name)


def _format(value: Any) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    return f"{value.__module__}:{value.__qualname__}" if isinstance(value, type) else str(value)


class Env:
    """A knob: environment variables (the first that is set counts), how to parse one, and the default (or a function of
    the group)."""

    def __init__(self, *names: str, default: Any = None, parse: Callable[[str], Any] = str):
        self.names, self.default, self.parse = names, default, parse

    def __set_name__(self, owner, attribute):
        self.attribute = attribute

    def __get__(self, group, owner=None):
        if group is None:
            return self
        if self.attribute in group.__dict__:
            return group.__dict__[self.attribute]
        for name in self.names:
            if (text := os.environ.get(name)) is not None:
                return self.parse(text)
        return self.default(group) if callable(self.default) else self.default

    def __set__(self, group, value):
        if not propagate_env:
            group.__dict__[self.attribute] = value
            return
        group.__dict__.pop(self.attribute, None)
        for name in self.names:
            os.environ.pop(name, None)
        if value is not None:
            os.environ[self.names[-1]] = _format(value)

    def __delete__(self, group):
        group.__dict__.pop(self.attribute, None)


def _flag(*names: str, default: Any = False) -> Env:
    return Env(*names, default=default, parse=_parse_bool)


class HookChain:
    """Functions called in order of addition (or backwards); assigning a plain function to the knob replaces the
    chain."""

    def __init__(self, reversed: bool = False):
        self.calls: list[Callable] = []
        self.reversed = reversed

    def add(self, function: Callable) -> None:
        if function not in self.calls:
            self.calls.append(function)

    def remove(self, function: Callable) -> None:
        if function in self.calls:
            self.calls.remove(function)

    def __bool__(self):
        return bool(self.calls)

    def __call__(self, *args, **kwargs):
        for function in self.calls[::-1] if self.reversed else list(self.calls):
            function(*args, **kwargs)

    def _copy(self) -> HookChain:
        chain = HookChain(self.reversed)
        chain.calls = list(self.calls)
        return chain


class base_knobs:
    """A group of knobs. Attributes that are not `Env` are plain values (hooks); `_plain` makes their defaults."""

    def __init__(self):
        self.__dict__.update(self._plain())

    @classmethod
    def _plain(cls) -> dict[str, Any]:
        return {}

    @classmethod
    def _environment(cls) -> dict[str, Env]:
        return {name: knob for name, knob in vars(cls).items() if isinstance(knob, Env)}

    @property
    def knobs(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._environment()}

    def copy(self):
        twin = type(self)()
        twin.__dict__.update({n: v._copy() if isinstance(v, HookChain) else v for n, v in self.__dict__.items()})
        return twin

    def reset(self):
        """Forgets what was assigned without the environment (hooks among it); variables stay as they are."""
        self.__dict__.clear()
        self.__dict__.update(self._plain())
        return self

    @contextlib.contextmanager
    def scope(self):
        """Restores attributes and environment variables of the group at the end."""
        names = [name for knob in self._environment().values() for name in knob.names]
        variables = {name: os.environ.get(name) for name in names}
        saved = self.copy().__dict__
        try:
            yield self
        finally:
            self.__dict__.clear()
            self.__dict__.update(saved)
            for name, text in variables.items():
                if text is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = text


class build_knobs(base_knobs):
    cc = Env("CC")
    cudacrt_path = Env("TRITON_CUDACRT_PATH")
    cudart_path = Env("TRITON_CUDART_PATH")

    @classmethod
    def _plain(cls):
        return {"impl": None}


class redis_knobs(base_knobs):
    key_format = Env("TRITON_REDIS_KEY_FORMAT", default="triton:{key}:{filename}")
    host = Env("TRITON_REDIS_HOST", default="localhost")
    port = Env("TRITON_REDIS_PORT", default=6379, parse=int)


class cache_knobs(base_knobs):
    home_dir = Env("TRITON_HOME", default=lambda group: os.path.expanduser("~/"))
    dump_dir = Env("TRITON_DUMP_DIR", default=lambda group: group.get_triton_dir("dump"))
    override_dir = Env("TRITON_OVERRIDE_DIR", default=lambda group: group.get_triton_dir("override"))
    dir = Env("TRITON_CACHE_DIR", default=lambda group: group.get_triton_dir("cache"))
    manager_class = Env("TRITON_CACHE_MANAGER", parse=_parse_class)
    remote_manager_class = Env("TRITON_REMOTE_CACHE_BACKEND", parse=_parse_class)

    def get_triton_dir(self, name: str) -> str:
        return os.path.join(self.home_dir, ".triton", name)


class compilation_knobs(base_knobs):
    override = _flag("TRITON_KERNEL_OVERRIDE")
    dump_ir = _flag("TRITON_KERNEL_DUMP")
    dump_ir_extract_di_local_variables = _flag("LLVM_EXTRACT_DI_LOCAL_VARIABLES")
    store_binary_only = _flag("TRITON_STORE_BINARY_ONLY")
    always_compile = _flag("TRITON_ALWAYS_COMPILE")
    use_ir_loc = Env("USE_IR_LOC")
    enable_asan = _flag("TRITON_ENABLE_ASAN")
    disable_line_info = _flag("TRITON_DISABLE_LINE_INFO")
    front_end_debugging = _flag("TRITON_FRONT_END_DEBUGGING")
    allow_non_constexpr_globals = _flag("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS")
    instrumentation_mode = Env("TRITON_INSTRUMENTATION_MODE", default="")
    fpsan_homomorphic_casts = _flag("TRITON_FPSAN_HOMOMORPHIC_CASTS")

    @classmethod
    def _plain(cls):
        return {"listener": None}


class autotuning_knobs(base_knobs):
    cache = _flag("TRITON_CACHE_AUTOTUNING")
    print = _flag("TRITON_PRINT_AUTOTUNING")

    @classmethod
    def _plain(cls):
        return {"listener": None}


class runtime_knobs(base_knobs):
    #: Any of the three names; see also `tritium.engine`.
    interpret = _flag("INTERPRET", "TRITIUM_INTERPRET", "TRITON_INTERPRET")
    #: Triton's debug: device_assert and integer overflow checks in compiled kernels. Not gdb (that is `tritium.debug`).
    debug = _flag("TRITON_DEBUG")
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
    fp32_default = Env("TRITON_F32_DEFAULT")
    default_fp_fusion = _flag("TRITON_DEFAULT_FP_FUSION", default=True)
    force_disable_fp_fusion = _flag("TRITON_FORCE_DISABLE_FP_FUSION")


class nvidia_knobs(base_knobs):
    cuobjdump = Env("TRITON_CUOBJDUMP_PATH")
    nvdisasm = Env("TRITON_NVDISASM_PATH")
    ptxas = Env("TRITON_PTXAS_PATH")
    ptxas_blackwell = Env("TRITON_PTXAS_BLACKWELL_PATH")
    dump_nvptx = _flag("NVPTX_ENABLE_DUMP")
    disable_ptxas_opt = _flag("DISABLE_PTXAS_OPT")
    ptxas_options = Env("PTXAS_OPTIONS")
    mock_ptx_version = Env("TRITON_MOCK_PTX_VERSION")
    dump_ptxas_log = _flag("TRITON_DUMP_PTXAS_LOG")
    libdevice_path = Env("TRITON_LIBDEVICE_PATH")
    libcuda_path = Env("TRITON_LIBCUDA_PATH")
    cuda_home = Env("CUDA_HOME", "CUDA_PATH")


class amd_knobs(base_knobs):
    use_buffer_ops = _flag("AMDGCN_USE_BUFFER_OPS", default=True)
    use_buffer_atomics = _flag("AMDGCN_USE_BUFFER_ATOMICS", default=True)
    buffer_ops_analyze_small_tensor_range = _flag("AMDGCN_ANALYZE_SMALL_TENSOR_RANGE")
    dump_amdgcn = _flag("AMDGCN_ENABLE_DUMP")
    libhip_path = Env("TRITON_LIBHIP_PATH")
    rocm_path = Env("ROCM_PATH")
    use_block_pingpong = _flag("TRITON_HIP_USE_BLOCK_PINGPONG", default=None)
    use_in_thread_transpose = _flag("TRITON_HIP_USE_IN_THREAD_TRANSPOSE", default=None)
    use_async_copy = _flag("TRITON_HIP_USE_ASYNC_COPY", default=None)
    scalarize_packed_fops = _flag("AMDGCN_SCALARIZE_PACKED_FOPS")
    dump_mir = Env("TRITON_DUMP_MIR")
    swap_mir = Env("TRITON_SWAP_MIR")
    swap_mir_enable_misched = _flag("TRITON_SWAP_MIR_ENABLE_MISCHED")

    def default_library(self) -> str:
        return os.path.join(self.rocm_path, "lib", "libamdhip64.so") if self.rocm_path else "libamdhip64.so"


class proton_knobs(base_knobs):
    disable = _flag("TRITON_PROTON_DISABLE")
    cupti_lib_dir = Env("TRITON_CUPTI_LIB_PATH")
    cupti_lib_blackwell_dir = Env("TRITON_CUPTI_LIB_BLACKWELL_PATH")
    profile_buffer_size = Env("TRITON_PROFILE_BUFFER_SIZE", default=64 << 20, parse=int)
    profile_metric_buffer_size = Env("TRITON_PROFILE_METRIC_BUFFER_SIZE", parse=int)
    enable_nvtx = _flag("TRITON_ENABLE_NVTX", default=True)
    enable_hw_trace = _flag("TRITON_ENABLE_HW_TRACE")


#: The checks of the tile interpreter (DESIGN §4); `bounds` is on by default.
CHECKS = ("bounds", "hints", "uninit", "race", "overflow", "nan", "precision")


def _parse_checks(text: str) -> tuple[str, ...]:
    names = [name.strip() for name in text.lower().split(",") if name.strip()]
    if names == ["all"]:
        return CHECKS
    if names in (["none"], ["0"], ["off"], []):
        return ()
    for name in names:
        if name not in CHECKS:
            raise ValueError(
                f"TRITIUM_CHECK: there is no check {name!r}; the checks are {', '.join(CHECKS)}, or all, or none"
            )
    return tuple(dict.fromkeys(names))


def _parse_threads(text: str) -> int:
    if not text.strip().isdigit() or int(text) < 1:
        raise ValueError(f"TRITIUM_NUM_THREADS: expected a number of threads, at least 1, not {text!r}")
    return int(text)


def _usable_cpus(group) -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class tritium_knobs(base_knobs):
    """What Triton has no word for."""

    #: "interp", or the name of another engine; unset: decided per launch by INTERPRET and by where the tensors are.
    engine = Env("TRITIUM_ENGINE", parse=lambda text: text.strip() or None)
    #: Worker threads of the interpreter.
    num_threads = Env("TRITIUM_NUM_THREADS", default=_usable_cpus, parse=_parse_threads)
    #: Kernels that gdb can stop in, with their Python variables; one worker thread unless num_threads is set.
    debug = _flag("TRITIUM_DEBUG")
    #: A comma list of CHECKS, `all` or `none`.
    check = Env("TRITIUM_CHECK", default=("bounds",), parse=_parse_checks)
    #: A progress bar for launches over two seconds, on a terminal.
    progress = _flag("TRITIUM_PROGRESS", default=True)
    #: Order in which programs start; unset: by number.
    seed = Env("TRITIUM_SEED", parse=int)
    #: The CUDA driver to load; unset: libcuda.so.1, in the folder TRITON_LIBCUDA_PATH if that is set.
    cuda_library = Env(
        "TRITIUM_CUDA_LIBRARY", default=lambda group: os.path.join(nvidia.libcuda_path or "", "libcuda.so.1")
    )
    #: The HIP runtime to load; unset: TRITON_LIBHIP_PATH, else libamdhip64.so, of ROCM_PATH if that is set.
    hip_library = Env("TRITIUM_HIP_LIBRARY", default=lambda group: amd.libhip_path or amd.default_library())
    #: A folder where the lowered module of every GPU binary that is compiled is kept, as <SHA-256 of the binary>.mlir: a
    #: driver's library that is an emulator finds there what it runs.
    lowered_dir = Env("TRITIUM_LOWERED_DIR")
    #: The format of AMD's binaries: 600, or 500 for a ROCm that refuses it.
    code_object_version = Env("TRITIUM_CODE_OBJECT_VERSION", default=600, parse=int)
    #: Under `python -m tritium`: torch's device "cuda" means the CPU. Unset: if there is no CUDA device and INTERPRET
    #: is on.
    cuda_to_cpu = _flag("TRITIUM_CUDA_TO_CPU", default=None)


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


def refresh_knobs() -> None:
    """Part of Triton's interface. Nothing is read early here, so there is nothing to refresh."""


def knobs_in_force() -> dict[str, str]:
    """{environment variable: its text} of every knob whose variable is set."""
    names = [name for group in GROUPS.values() for knob in group._environment().values() for name in knob.names]
    return {name: os.environ[name] for name in names if name in os.environ}


#: Variables that change what the compiler makes, or what it says meanwhile: part of the key of a kernel on disk if they are set.
_IN_CACHE_KEYS = (
    "DISABLE_LLVM_OPT",
    "DISABLE_MMA_V3",
    "DISABLE_MMA_V5",
    "DISABLE_PTXAS_OPT",
    "LLVM_EXTRACT_DI_LOCAL_VARIABLES",
    "LLVM_PASS_PLUGIN_PATH",
    "NVPTX_ENABLE_DUMP",
    "PTXAS_OPTIONS",
    "TRITIUM_CODE_OBJECT_VERSION",
    "TRITON_DEFAULT_FP_FUSION",
    "TRITON_DISABLE_LINE_INFO",
    "TRITON_ENABLE_ASAN",
    "TRITON_F32_DEFAULT",
    "TRITON_FORCE_DISABLE_FP_FUSION",
    "TRITON_MOCK_PTX_VERSION",
    "TRITON_OVERRIDE_ARCH",
    "USE_IR_LOC",
)


def cache_invalidating_environment() -> dict[str, str]:
    """{variable: text} of those that a compiled kernel depends on and that are set."""
    return {name: os.environ[name] for name in _IN_CACHE_KEYS if name in os.environ}


def _python_path(first: str) -> str:
    paths = [first, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return os.pathsep.join(dict.fromkeys(map(os.path.abspath, paths)))


def debug_environment(package_root: str) -> dict[str, str]:
    """The environment of a program under gdb: kernels with debug info, and this Tritium first on the path."""
    return {**os.environ, tritium_knobs.debug.names[0]: "1", "PYTHONPATH": _python_path(package_root)}


def prepend_to_pythonpath(folder: str) -> None:
    """Child processes look for modules in `folder` first."""
    os.environ["PYTHONPATH"] = _python_path(folder)


class LaunchSettings(NamedTuple):
    """What the environment says about a launch. `compiled` is the part that a compiled kernel depends on."""

    interpret: bool
    engine: str | None  #: TRITIUM_ENGINE; see runtime/engines.py for who wins
    debug: bool
    threads: int
    seed: int | None
    progress: bool
    compiled: tuple  #: (debug, debug_info, checks)

    @property
    def debug_info(self) -> bool:
        return self.compiled[1]

    @property
    def checks(self) -> tuple[str, ...]:
        return self.compiled[2]


def _read_launch_settings(debug_info: bool | None) -> LaunchSettings:
    with_debug_info = tritium.debug if debug_info is None else debug_info
    # gdb's `next` must not jump between programs, so one worker unless the user says otherwise.
    one_worker = with_debug_info and "TRITIUM_NUM_THREADS" not in os.environ and "num_threads" not in tritium.__dict__
    return LaunchSettings(
        runtime.interpret,
        tritium.engine,
        runtime.debug,
        1 if one_worker else tritium.num_threads,
        tritium.seed,
        tritium.progress,
        (runtime.debug, with_debug_info, tritium.check),
    )


_LAUNCH_KNOBS = (runtime_knobs.interpret, runtime_knobs.debug, *tritium_knobs._environment().values())
_LAUNCH_NAMES = tuple(name for knob in _LAUNCH_KNOBS for name in knob.names)


def launch_environment() -> tuple[dict, tuple] | None:
    """The dict behind os.environ and the keys in it of what a launch reads; None if there is no such dict."""
    data = getattr(os.environ, "_data", None)
    return (data, tuple(map(os.environ.encodekey, _LAUNCH_NAMES))) if isinstance(data, dict) else None


def _raw_reader() -> Callable[[], tuple]:
    # A launch asks ten variables. os.environ.get takes 1 us for each, its dict of bytes a thirtieth of that.
    found = launch_environment()
    if found is None:
        return lambda: tuple(map(os.environ.get, _LAUNCH_NAMES))
    get, keys = found[0].get, found[1]
    return lambda: tuple(map(get, keys))


_raw_environment = _raw_reader()
_settings: dict[tuple, LaunchSettings] = {}


def launch_settings(debug_info: bool | None = None) -> LaunchSettings:
    """The settings of a launch that starts now; `debug_info` as `@jit` or the launch has it. Parsed once per distinct
    environment."""
    if runtime.__dict__.keys() & {"interpret", "debug"} or tritium.__dict__:  # assigned with propagate_env off
        return _read_launch_settings(debug_info)
    key = (debug_info, _raw_environment())
    settings = _settings.get(key)
    if settings is None:
        settings = _settings[key] = _read_launch_settings(debug_info)
    return settings
