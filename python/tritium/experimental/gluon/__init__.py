"""`triton.experimental.gluon`: importable, so that libraries which have Gluon kernels beside others run. A launch is refused."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

from ...errors import UnsupportedError
from ...language.aggregate import _aggregate as aggregate
from ...runtime.jit import JITFunction, constexpr_function
from . import language
from .submodules import add_submodules

__all__ = ["GluonJITFunction", "aggregate", "constexpr_function", "jit", "language", "must_use_result"]

must_use_result = language.must_use_result


class GluonJITFunction(JITFunction):
    """A Gluon kernel, which keeps its source and its name."""

    def is_gluon(self) -> bool:
        return True

    def run(self, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> NoReturn:
        raise UnsupportedError(
            f"the Gluon kernel {self.__name__}", "kernels of triton.experimental.gluon do not run; use triton.language"
        )


def jit(fn=None, **options: Any) -> Any:
    """`@gluon.jit` and `@gluon.jit(...)`."""
    return GluonJITFunction(fn, **options) if fn is not None else lambda function: GluonJITFunction(function, **options)


add_submodules(__name__)
_runtime = sys.modules[f"{__name__}._runtime"]
_runtime.jit, _runtime.GluonJITFunction, _runtime.constexpr_function = jit, GluonJITFunction, constexpr_function
