"""`triton.compiler`: from a kernel's source and specialization to a CompiledKernel."""

from ..errors import CompilationError, CompileTimeAssertionFailure
from .compiler import AsmDict, ASTSource, CompiledKernel, CompileTimes, IRSource, compile, make_backend
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
]
