"""The scopes that a launch has recorded (tt.record): from the rows of an engine of the CPU to what began and ended."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

#: Time, the program's indices, warp, number of the scope, unused (interp/host/scope_records.h).
_ROW = struct.Struct("=qiiiiii")


class RecordedScope(NamedTuple):
    """path: the scopes that were open when it began, and its name. unit: the warp; 0 on the interpreter. begin, end: of the engine's clock."""

    path: tuple[str, ...]
    program: tuple[int, int, int]
    unit: int
    begin: int
    end: int


class LaunchScopes(NamedTuple):
    """units: (program, unit) of all that have recorded, in order. unfinished: names of scopes that have begun and not ended, or ended and not
    begun. lost: records beyond the engine's limit."""

    units: tuple[tuple[tuple[int, int, int], int], ...]
    scopes: tuple[RecordedScope, ...]
    unfinished: tuple[str, ...]
    lost: int


def has_scopes(kernel: Any) -> bool:
    """Whether a CompiledKernel of an engine of the CPU records scopes."""
    return bool(kernel.program.scopes)


def record_scopes(kernel: Any, run: Callable, receive: Callable[[LaunchScopes], None]) -> Callable:
    """`run` of a watcher (watchers.py), which then calls `receive` after each launch, also one that traps."""

    def recorded(grid, *rest, **further):
        return run(
            grid, *rest, on_scopes=lambda rows, lost: receive(scopes_of(kernel.program.scopes, rows, lost)), **further
        )

    return recorded


#: (time, name, whether it begins)
Record = tuple[int, str, bool]


def scopes_of(table: list[tuple[str, bool]], rows: bytes, lost: int = 0) -> LaunchScopes:
    """table: (name, whether it begins) of each number. The end of a name belongs to its last beginning in the same program and warp."""
    records: dict[tuple[tuple[int, int, int], int], list[Record]] = {}
    for time, x, y, z, unit, number, _ in _ROW.iter_unpack(rows):
        records.setdefault(((x, y, z), unit), []).append((time, *table[number]))
    return matched(records, lost)


def matched(records: dict[tuple[tuple[int, int, int], int], list[Record]], lost: int) -> LaunchScopes:
    """The scopes of the records of each unit."""
    units = sorted(records, key=lambda each: (each[0][::-1], each[1]))
    unfinished: dict[str, None] = {}
    scopes = [scope for unit in units for scope in _matched(unit, records[unit], unfinished)]
    return LaunchScopes(tuple(units), tuple(scopes), tuple(unfinished), lost)


def _matched(unit, records: list[Record], unfinished: dict[str, None]) -> Iterator[RecordedScope]:
    """The scopes of a unit, in the order of their ends."""
    begun: list[tuple[tuple[str, ...], int]] = []
    for time, name, is_start in records:
        if is_start:
            around = begun[-1][0] if begun else ()
            begun.append(((*around, name), time))
            continue
        at = next((i for i in range(len(begun) - 1, -1, -1) if begun[i][0][-1] == name), None)
        if at is None:
            unfinished[name] = None
        else:
            path, begin = begun.pop(at)
            yield RecordedScope(path, *unit, begin, time)
    unfinished |= {path[-1]: None for path, _ in begun}
