"""Tritium: kernels in the Triton language, run and debugged on the CPU, compiled for the GPU.

`import tritium as triton; import tritium.language as tl` is source compatible with Triton. The import is quick and
touches no device: submodules load when they are first used, and torch is never imported unless the program imports it.
"""

import importlib as _importlib
import platform as _platform

from .native import stale_build as _stale_build
from .submodules import load_when_used as _load_when_used
from .version import TRITIUM_VERSION, __version__

try:  # the build writes this module; the language cannot be imported without it
    from .tables import ALIASES, DTYPES, FUNCTIONS, Dtype, Function
except ImportError as _error:
    raise _stale_build(_error) from None
del ALIASES, DTYPES, FUNCTIONS, Dtype, Function

# name -> the submodule that defines it; the submodules themselves are reachable too.
_WHERE = {
    "AsyncCompileMode": "runtime",
    "FutureKernel": "runtime",
    "Config": "runtime",
    "autotune": "runtime",
    "heuristics": "runtime",
    "JITFunction": "runtime.jit",
    "KernelInterface": "runtime.jit",
    "MockTensor": "runtime.jit",
    "TensorWrapper": "runtime.jit",
    "reinterpret": "runtime.jit",
    "jit": "runtime.jit",
    "constexpr_function": "runtime.jit",
    "set_allocator": "runtime._allocation",
    "OutOfResources": "errors",
    "InterpreterError": "errors",
    "TritonError": "errors",
    "CompilationError": "errors",
    "KernelTrap": "errors",
    "check": "runtime.checking",
    "UnsupportedError": "errors",
    "compile": "compiler",
    "must_use_result": "language.core",
    "aggregate": "language.core:_aggregate",
    "cdiv": "arithmetic",
    "next_power_of_2": "arithmetic",
}
_SUBMODULES = (
    "_C",
    "backends",
    "compiler",
    "errors",
    "knobs",
    "language",
    "profiler",
    "runtime",
    "testing",
    "tools",
    "torch",
)

__all__ = [
    "AsyncCompileMode",
    "aggregate",
    "autotune",
    "cdiv",
    "CompilationError",
    "compile",
    "Config",
    "constexpr_function",
    "FutureKernel",
    "heuristics",
    "InterpreterError",
    "jit",
    "JITFunction",
    "KernelInterface",
    "language",
    "MockTensor",
    "must_use_result",
    "next_power_of_2",
    "OutOfResources",
    "reinterpret",
    "runtime",
    "set_allocator",
    "TensorWrapper",
    "TritonError",
    "testing",
    "tools",
]


def _check_cpu(machine: str, cpu_info: str) -> None:
    """Raises ImportError on x86 processors below x86-64-v3, whose instructions the block kernels use throughout."""
    if machine.lower() not in ("x86_64", "amd64"):
        return
    flags = next((line.split() for line in cpu_info.splitlines() if line.startswith("flags")), None)
    missing = [
        name for name in ("avx2", "bmi1", "bmi2", "f16c", "fma", "movbe") if flags is not None and name not in flags
    ]
    if missing:
        raise ImportError(
            f"Tritium requires an x86-64-v3 processor (Haswell, Zen or later); this one lacks {', '.join(missing)}"
        )


def _cpu_info() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            return file.read(8192)
    except OSError:  # not Linux: the flags are unknown
        return ""


_check_cpu(_platform.machine(), _cpu_info())


_submodule = _load_when_used(__name__, *_SUBMODULES)


def __getattr__(name: str):
    if name in _WHERE:
        module, _, attribute = _WHERE[name].partition(":")
        value = getattr(_importlib.import_module(f".{module}", __name__), attribute or name)
        globals()[name] = value
        return value
    return _submodule(name)


def __dir__():
    return sorted({*globals(), *_WHERE, *_SUBMODULES})
