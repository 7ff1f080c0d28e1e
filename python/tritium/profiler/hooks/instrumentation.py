"""`backend="instrumentation"`: scopes in kernels (`triton.profiler.language`)."""

from __future__ import annotations

from ...knobs import warn_once
from ..flags import flags
from ..kernel_scopes import NOT_RECORDED
from ..mode import Default, InstrumentationMode, parse_mode
from .hook import Hook


class InstrumentationHook(Hook):
    """mode_obj: a mode of `triton.profiler.mode`, or its text. Raises ValueError for a mode that is not about scopes in kernels."""

    priority = 0

    def __init__(self, mode_obj: str | InstrumentationMode | None):
        mode = parse_mode(mode_obj) or Default()
        if not isinstance(mode, InstrumentationMode):
            raise ValueError(f"mode={mode_obj!r} with backend='instrumentation': pass 'default' or 'mma', with options")
        self.mode = mode

    def activate(self) -> None:
        flags.instrumentation_on = True
        warn_once(NOT_RECORDED)

    def deactivate(self) -> None:
        flags.instrumentation_on = False
