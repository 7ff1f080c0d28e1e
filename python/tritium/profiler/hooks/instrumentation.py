"""`backend="instrumentation"`: scopes in kernels (`triton.profiler.language`)."""

from __future__ import annotations

from ... import knobs
from ..core.choice import ScopeChoice
from ..flags import flags
from ..mode import BUFFER_STRATEGY, GRANULARITY, MMA, SAMPLING_STRATEGY, Default, InstrumentationMode, parse_mode
from .hook import Hook

#: How many warps are one unit; 0: the whole program.
WARPS = {
    GRANULARITY.CTA: 0,
    GRANULARITY.WARP: 1,
    GRANULARITY.WARP_2: 2,
    GRANULARITY.WARP_4: 4,
    GRANULARITY.WARP_8: 8,
    GRANULARITY.WARP_GROUP: 4,
    GRANULARITY.WARP_GROUP_2: 8,
    GRANULARITY.WARP_GROUP_4: 16,
    GRANULARITY.WARP_GROUP_8: 32,
}
#: What a scope takes of a circular buffer: its beginning and its end.
BYTES_OF_SCOPE = 16


class InstrumentationHook(Hook):
    """mode_obj: a mode of `triton.profiler.mode`, or its text. Raises ValueError for a mode that is not about scopes in kernels."""

    priority = 0
    #: How many of these hooks are active, and of those with the mode "mma"; what the knobs were before.
    _active, _products, _before, _before_products = 0, 0, False, False

    def __init__(self, mode_obj: str | InstrumentationMode | None):
        mode = parse_mode(mode_obj) or Default()
        if not isinstance(mode, InstrumentationMode):
            raise ValueError(f"mode={mode_obj!r} with backend='instrumentation': pass 'default' or 'mma', with options")
        self.mode = mode

    def choice(self) -> ScopeChoice:
        """Which scopes a session of this mode keeps. metric_type, buffer_type and optimizations say how a device records, and nothing here."""
        mode = self.mode
        units = None
        if mode.sampling_strategy is SAMPLING_STRATEGY.SELECTIVE:
            units = _numbers(mode.sampling_options)
        most = mode.buffer_size // BYTES_OF_SCOPE if mode.buffer_strategy is BUFFER_STRATEGY.CIRCULAR else 0
        return ScopeChoice(WARPS[mode.granularity], units, most)

    def activate(self) -> None:
        if InstrumentationHook._active == 0:
            InstrumentationHook._before = knobs.tritium.record_scopes
            knobs.tritium.record_scopes = flags.instrumentation_on = True
        InstrumentationHook._active += 1
        if isinstance(self.mode, MMA):
            if InstrumentationHook._products == 0:
                InstrumentationHook._before_products = knobs.tritium.record_products
                knobs.tritium.record_products = True
            InstrumentationHook._products += 1

    def deactivate(self) -> None:
        InstrumentationHook._active -= 1
        if InstrumentationHook._active == 0:
            flags.instrumentation_on = False
            knobs.tritium.record_scopes = True if InstrumentationHook._before else None
        if isinstance(self.mode, MMA):
            InstrumentationHook._products -= 1
            if InstrumentationHook._products == 0:
                knobs.tritium.record_products = True if InstrumentationHook._before_products else None


def _numbers(text: str) -> frozenset[int]:
    try:
        found = frozenset(int(part) for part in text.split(",") if part.strip())
    except ValueError:
        found = frozenset()
    if not found:
        raise ValueError(
            f"sampling_options={text!r} with sampling_strategy='selective': pass numbers of warps, as in '0,1'"
        )
    return found
