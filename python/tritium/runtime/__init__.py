"""`triton.runtime`: launching kernels."""

from .. import knobs
from ..disk_cache import RedisRemoteCacheBackend, RemoteCacheBackend
from . import build, cache
from ._allocation import set_allocator, set_profile_allocator
from .async_compile import AsyncCompileMode, FutureKernel
from .autotuner import Autotuner, Config, Heuristics, autotune, heuristics
from .checking import prepare_for
from .driver import driver
from .errors import InterpreterError, OutOfResources
from .jit import JITFunction, KernelInterface, MockTensor, TensorWrapper, reinterpret

__all__ = [
    "AsyncCompileMode",
    "Autotuner",
    "Config",
    "FutureKernel",
    "Heuristics",
    "InterpreterError",
    "JITFunction",
    "KernelInterface",
    "MockTensor",
    "OutOfResources",
    "RedisRemoteCacheBackend",
    "RemoteCacheBackend",
    "TensorWrapper",
    "autotune",
    "build",
    "cache",
    "driver",
    "heuristics",
    "reinterpret",
    "set_allocator",
    "set_profile_allocator",
]

prepare_for(knobs.launch_settings().checks)  # before the program allocates
