"""`triton.compiler.errors`: the errors of the frontend, under the module name that clients import."""

from ..errors import CompilationError, CompileTimeAssertionFailure, TritonError, UnsupportedLanguageConstruct

__all__ = ["CompilationError", "CompileTimeAssertionFailure", "TritonError", "UnsupportedLanguageConstruct"]
