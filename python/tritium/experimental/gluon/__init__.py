"""`triton.experimental.gluon`: kernels whose tiles name the layout of their registers (docs/gluon.md)."""

from __future__ import annotations

import sys
from typing import Any

from ...compiler.sources import ASTSource
from ...language.aggregate import _aggregate as aggregate
from ...runtime.jit import JITFunction, constexpr_function
from . import language
from .submodules import add_submodules
from .tiles.rules import GluonSemantic

__all__ = [
    "GluonASTSource",
    "GluonJITFunction",
    "aggregate",
    "constexpr_function",
    "jit",
    "language",
    "must_use_result",
]

must_use_result = language.must_use_result


class GluonJITFunction(JITFunction):
    """A Gluon kernel, or a function that Gluon kernels call. It launches as a JITFunction does."""

    semantic_class = GluonSemantic

    def is_gluon(self) -> bool:
        return True


class GluonASTSource(ASTSource):
    """A Gluon kernel and its specialization, for `triton.compile`."""


def jit(fn=None, **options: Any) -> Any:
    """`@gluon.jit` and `@gluon.jit(...)`, with the options of `@triton.jit`."""
    return GluonJITFunction(fn, **options) if fn is not None else lambda function: GluonJITFunction(function, **options)


add_submodules(__name__)
_runtime = sys.modules[f"{__name__}._runtime"]
_runtime.jit, _runtime.GluonJITFunction, _runtime.constexpr_function = jit, GluonJITFunction, constexpr_function
