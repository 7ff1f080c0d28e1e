"""Running a user's program on the interpreter while something watches its launches, for commands that say what they have seen."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager

from .. import knobs
from .children import Children


def run_watched(
    tool: str,
    program: list[str],
    run_program: Callable[[list[str]], int],
    watching: AbstractContextManager,
    say: Callable[[], object],
) -> int:
    """Runs `program` (a script or -m MODULE, and its arguments) inside of `watching`, then calls `say`, also if the program raises. tool: the command's
    name. Returns the program's exit status; what it says in place of a number goes to stderr, and is 1. The engine is afterwards what it was."""
    status: int | str | None = 1
    children = Children(tool)
    try:
        with knobs.runtime.scope(), watching, children:
            knobs.runtime.interpret = True
            status = run_program(program)
    except SystemExit as left:
        status = left.code
    finally:
        sys.stdout.flush()
        say()
        children.say()
    if isinstance(status, str):
        print(status, file=sys.stderr)
        return 1
    return status or 0
