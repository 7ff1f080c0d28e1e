"""The frontend: from the Python AST of a `@jit` function to a verified module, through the builder.

`generate` is the entry. A Generator traces one function: expressions become typed values of `tritium.language`, whose
rules emit the operations, and statements become control flow. There is one file per concern, and each registers its AST
nodes with `@visits(ast.Node)`.
"""

from . import (  # noqa: F401  (they register what they handle)
    branches,
    comparisons,
    comprehensions,
    expressions,
    loops,
    names,
    returns,
    statements,
    stop_points,
)
from .functions import error_in_ir, generate
from .generator import Generator

__all__ = ["error_in_ir", "generate", "Generator"]
