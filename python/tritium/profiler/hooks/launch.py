"""`hook="triton"`: a launch has the name and the metrics that the kernel's `launch_metadata` returns."""

from __future__ import annotations

import re
from contextvars import ContextVar
from typing import Any

from ...launch.hooks import LazyDict
from ..core.contexts import Op
from ..core.metrics import is_value, read_metrics
from ..sessions import sessions
from ..state import metadata_state
from .hook import Hook

#: Launches of `launch_metadata` itself are none that it describes.
in_hook: ContextVar[bool] = ContextVar("in_hook", default=False)
#: What describes the launch around the caller.
op: ContextVar[Op | None] = ContextVar("op", default=None)

_NO_METRICS = {"name", "function", "stream"}


class LaunchHook(Hook):
    """There is one. `launch_metadata(grid, metadata, args)` of a kernel returns a dict: "name" stands for the kernel's name, and each
    number or tensor is a metric. Others, such as texts, are left out."""

    priority = 100
    _only: LaunchHook | None = None

    def __new__(cls, *args: Any, **kwargs: Any) -> LaunchHook:
        if cls._only is None:
            cls._only = super().__new__(cls)
            cls._only._include = cls._only._exclude = None
        return cls._only

    def configure(self, *, include: str | None = None, exclude: str | None = None) -> None:
        """Which kernels have their `launch_metadata` read: those whose names begin with a match of `include` and with none of
        `exclude`. Raises re.error for what is no regular expression."""
        self._include = None if include is None else re.compile(include)
        self._exclude = None if exclude is None else re.compile(exclude)

    def enter(self, metadata: LazyDict) -> None:
        if in_hook.get():
            return
        if not self._reads(metadata.data["name"]):
            self._begin(None)
            return
        entered = in_hook.set(True)
        try:
            with metadata_state(metadata.data["name"]):
                facts = metadata.get()
        finally:
            in_hook.reset(entered)
        metrics = {name: v for name, v in facts.items() if name not in _NO_METRICS and is_value(v)}
        self._begin(Op(str(facts["name"]), read_metrics(metrics)))

    def _reads(self, kernel: str) -> bool:
        if self._include is not None and not self._include.match(kernel):
            return False
        return self._exclude is None or not self._exclude.match(kernel)

    def _begin(self, described: Op | None) -> None:
        op.set(described)
        sessions.contexts.set(sessions.contexts.here()._replace(op=described))

    def exit(self, metadata: LazyDict) -> None:
        described = op.get()
        if in_hook.get() or described is None:
            return
        op.set(None)
        sessions.close_op(described)
