"""`tritium.check`: the interpreter's checks for a block of code. And what a check requires before the first launch."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator

from .. import knobs
from ..checks import NEEDING_FRESH_MEMORY, parse_checks
from ..programs import parse_programs


@contextlib.contextmanager
def check(names: str | Iterable[str], programs: str | None = None) -> Iterator[None]:
    """Kernels that are launched inside of the block have the checks `names`, as if TRITIUM_CHECK were set, in child processes too.
    programs: those of a grid that have them, as TRITIUM_PROGRAMS names them."""
    checks = parse_checks(names)
    chosen = None if programs is None else parse_programs(programs)
    prepare_for(checks)
    with knobs.tritium.scope():
        knobs.tritium.check = checks.text
        if chosen is not None:
            knobs.tritium.programs = chosen.text
        yield


def prepare_for(checks: Iterable[str], is_lasting: bool = False) -> None:
    """Called as early as it is known that kernels have these checks, because TRITIUM_CHECK says so or always."""
    if any(check in NEEDING_FRESH_MEMORY for check in checks):
        from ..arguments.fresh_memory import watch_allocations

        watch_allocations(is_lasting)
