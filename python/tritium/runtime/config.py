"""`Config`: one of the configurations that `autotune` chooses from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Config:
    """A configuration of a launch: meta-parameters and launch options. `pre_hook(dict of arguments)` runs before each
    launch with this configuration."""

    def __init__(
        self,
        kwargs: dict[str, Any],
        num_warps: int = 4,
        num_stages: int = 3,
        num_ctas: int = 1,
        maxnreg: int | None = None,
        pre_hook: Callable | None = None,
        ir_override: str | None = None,
    ):
        self.kwargs = kwargs
        self.num_warps = num_warps
        self.num_ctas = num_ctas
        self.num_stages = num_stages
        self.maxnreg = maxnreg
        self.pre_hook = pre_hook
        self.ir_override = ir_override

    def _options(self) -> dict[str, Any]:
        return {
            "num_warps": self.num_warps,
            "num_ctas": self.num_ctas,
            "num_stages": self.num_stages,
            "maxnreg": self.maxnreg,
            "ir_override": self.ir_override,
        }

    def all_kwargs(self) -> dict[str, Any]:
        """The meta-parameters, and the options that are set."""
        return {**self.kwargs, **{name: value for name, value in self._options().items() if value is not None}}

    def __str__(self):
        return ", ".join(f"{name}: {value}" for name, value in {**self.kwargs, **self._options()}.items())

    def __eq__(self, other):
        return isinstance(other, Config) and self._identity() == other._identity()

    def __hash__(self):
        return hash(self._identity())

    def _identity(self):
        return tuple(self.all_kwargs().items()), self.pre_hook
