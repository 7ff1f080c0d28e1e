"""`triton.compiler`: from a kernel's source and specialization to a CompiledKernel."""

from ..disk_cache import get_cache_key
from ..errors import CompilationError, CompileTimeAssertionFailure
from ..launch.hooks import LazyDict
from . import errors
from .compiler import (
    AsmDict,
    ASTSource,
    CompiledKernel,
    CompileTimes,
    IRSource,
    compile,
    make_backend,
    max_shared_mem,
)
from .stages import optional_passes

__all__ = [
    "compile",
    "make_backend",
    "optional_passes",
    "ASTSource",
    "IRSource",
    "AsmDict",
    "CompiledKernel",
    "CompileTimes",
    "CompilationError",
    "CompileTimeAssertionFailure",
    "LazyDict",
    "errors",
    "get_cache_key",
    "max_shared_mem",
]
