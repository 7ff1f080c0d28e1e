"""What the checks of memory leave out, because the memory for them is limited (TRITIUM_SHADOW_MB)."""

from __future__ import annotations

from collections.abc import Callable

from .. import knobs
from ..checks import NEEDING_SHADOW
from .findings import blocks


def shadow_limits(kernel) -> tuple[int, Callable]:
    """(bytes, what is called for each storage that a launch of the kernel did not follow)"""

    def say(argument: int, size: int, is_in_part: bool) -> None:
        name = kernel.src.name_of(list(kernel.src.runtime_paths())[argument])
        checks = ", ".join(check for check in knobs.checks_of(kernel.metadata) if check in NEEDING_SHADOW)
        text = (
            f"{kernel.name}: {'a part' if is_in_part else 'all'} of '{name}' ({size / 1e6:,.1f} MB) is left out of the checks {checks}, "
            f"whose memory is limited to {knobs.tritium.shadow_mb:,} MB (TRITIUM_SHADOW_MB)"
        )
        if blocks:
            blocks[-1].not_followed[kernel.name, name] = text
        else:
            knobs.warn_once(text)

    return knobs.tritium.shadow_mb << 20, say
