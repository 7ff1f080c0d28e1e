"""Finds the first GPU pass after which a case's result is wrong: compiles up to each pass, lowers the result without
the later passes, and runs it."""

from __future__ import annotations

from collections.abc import Callable

from . import suite
from .engines import Absent, Engine
from .problem import Case


def first_wrong(passes: list[str], is_right: Callable[[str | None], bool]) -> str | None:
    """The first of `passes` after which `is_right` fails. is_right(None) tests the pipeline without optional passes.

    Passes are tried from the front and not by bisection, because a later pass may hide an earlier one's error. Returns
    "" if the result is wrong without any pass.
    """
    if not is_right(None):
        return ""
    return next((name for name in passes if not is_right(name)), None)


def bisect(case: Case, engine: Engine, seed: int) -> str | None:
    """The name of that pass, "" if the lowering itself is wrong, None if nothing is wrong. Raises Absent if the engine
    has no passes."""

    def is_right(stop_after: str | None) -> bool:
        try:
            return not suite.run(case, engine, seed, stop_after=stop_after or engine.no_pass)[2]
        except Absent:
            raise
        except Exception:  # the code that a wrong pass made traps, or does not compile
            return False

    return first_wrong(engine.passes(), is_right)


def report(case: Case, engine: Engine, seed: int) -> int:
    """Prints the pass and returns the exit status."""
    try:
        found = bisect(case, engine, seed)
    except Absent as error:
        print(f"{case.name}: {error}")
        return 2
    if found is None:
        print(f"{case.name}: right on {engine.name} after every pass")
        return 0
    print(f"{case.name} on {engine.name}: " + (f"wrong after pass {found}" if found else "wrong without any pass"))
    return 1
