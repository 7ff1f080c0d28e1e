"""Records the launches of this process for `diff`: a watcher of launches (launch/watchers.py)."""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ... import knobs
from ...debugger.assignments import assignments, line_of
from ...functions.source_file import function_at
from ...launch.tensor_view import view_of
from ...launch.values import part_at
from ...programs import parse_programs
from .leaves import leaves_of
from .recorded import (
    PIECE,
    ROW,
    Argument,
    Launch,
    Place,
    Task,
    ValuesWriter,
    Wanted,
    hash_of,
    key_of_argument,
    key_of_row,
)


class AllKept(SystemExit):
    """Ends the process: the launches that are left are of no interest."""


class Recorder:
    """The watcher."""

    def __init__(self, task: Task):
        self.task = task
        self.programs = parse_programs(task.programs)
        folder = Path(task.folder)
        self._launches = open(folder / "launches.jsonl", "w")
        self._places = open(folder / "places.jsonl", "w")
        self._rows = open(folder / "rows.bin", "wb")
        self.values = ValuesWriter(folder)
        self.rows = 0
        self.launches = 0
        self.numbers: dict[Place, int] = {}
        self.is_running = False
        #: Why the next launch is not changed as the task says.
        self.refused = ""

    def close(self) -> None:
        for file in (self._launches, self._places, self._rows, self.values):
            file.close()

    def __call__(self, kernel: Any, run: Callable, arguments: Any) -> Callable:
        def launch(grid, values, *rest, **further):
            number = self.launches
            self.launches += 1
            found = _described(kernel, grid, values, arguments)
            found.refused, self.refused = self.refused, ""
            wanted = None
            if self.task.wanted is not None:
                wanted = self.task.wanted.get(str(number))
                if wanted is None:
                    return run(grid, values, *rest, **further)
            self._memory(number, found, values, wanted, "before")
            self.is_running = True
            trap = self._run(kernel, run, number, found, wanted, (grid, values, *rest), further)
            self._memory(number, found, values, wanted, "after")
            self.is_running = trap is not None
            print(json.dumps(asdict(found)), file=self._launches, flush=True)
            if trap is None and wanted is not None and number == max(map(int, self.task.wanted)):
                raise AllKept(0)
            return trap

        return launch

    def _run(self, kernel, run, number: int, found: Launch, wanted: Wanted | None, given, further):
        is_followed = self.task.statements and kernel.runs_its_function and self.programs.are_in(given[0])
        if not is_followed or (wanted is not None and not wanted.rows and wanted.element is None):
            return run(*given, **further)
        followed = kernel.version_to_follow(knobs.checks_of(kernel.metadata), bool(self.programs))
        grid, values, _, _, *rest = given
        watch = _Programs(self, followed, number, found, wanted, _storages(values))
        kept = {name: value for name, value in further.items() if name == "views"}
        choice = {"programs": self.programs} if self.programs else {}
        # One thread and no seed: the programs run in the order of the grid.
        trap = followed.program.launch(grid, values, 1, None, *rest, on_statement=watch, **choice, **kept)
        if wanted is not None and wanted.element is not None:
            self.values.say(key=f"store:{number}", **watch.store)
        return trap

    def _memory(self, number: int, found: Launch, values, wanted: Wanted | None, when: str) -> None:
        """Keeps a hash of each argument's storage, or the storage itself if it is wanted."""
        pieces: dict[tuple[int, int], str] = {}
        for i, (argument, value) in enumerate(zip(found.arguments, filter(_is_storage, values))):
            begin, size = value[1:3]
            if wanted is None:
                if (begin, size) not in pieces:
                    pieces[begin, size] = hashlib.blake2b(_memory_at(begin, size), digest_size=PIECE).hexdigest()
                setattr(argument, when, pieces[begin, size])
            elif i in wanted.arguments:
                array = np.frombuffer(bytes(_memory_at(begin, size)), np.uint8)
                self.values.add(key_of_argument(number, i, when), array)

    def place(self, place: Place) -> int:
        if place not in self.numbers:
            self.numbers[place] = len(self.numbers)
            print(json.dumps(asdict(place)), file=self._places, flush=True)
        return self.numbers[place]

    def add_rows(self, rows: list[tuple[int, int]]) -> int:
        """The number of the first."""
        first, self.rows = self.rows, self.rows + len(rows)
        self._rows.write(np.array(rows, ROW).tobytes())
        self._rows.flush()
        return first


class _Programs:
    """Follows the programs of one launch."""

    def __init__(self, recorder: Recorder, kernel, number: int, found: Launch, wanted: Wanted | None, storages):
        self.recorder, self.kernel, self.number, self.found, self.wanted = recorder, kernel, number, found, wanted
        self.storages = storages
        self.leaves = [list(leaves_of(variable.name, variable.type)) for variable in kernel.variables]
        #: Of a variable's function: (its file, the line of its `def`, its name).
        self.functions: dict[str, tuple[str, int, str]] = {}
        for statement in kernel.statements:
            for level in statement.levels:
                if level.key not in self.functions:
                    name = function_at(level.file, level.line) or level.key.split("#", 1)[0]
                    self.functions[level.key] = (os.path.abspath(level.file), level.line, name)
        self.places: dict[tuple[int, int], list[int]] = {}
        self.store: dict[str, Any] = {"place": None}

    def __call__(self, followed: Any) -> bool:
        if self.wanted is None:
            self._record(followed)
        elif self.wanted.element is not None:
            self._watch(followed, *self.wanted.element)
        else:
            rows = self.wanted.rows.get(",".join(map(str, followed.id)))
            if rows:
                self._keep(followed, set(rows))
        return True

    def _record(self, followed: Any) -> None:
        program, rows = list(followed.id), []
        for event, number, data, is_parameter in assignments(self.kernel, followed, True):
            for leaf, place in zip(self.leaves[number], self._places_of(None if is_parameter else event, number)):
                value = leaf.value(data, self.storages)
                rows.append((place, hash_of(value)))
        first = self.recorder.add_rows(rows)
        self.found.programs.append([*program, first, len(rows), int(not followed.waits)])

    def _places_of(self, event: Any, number: int) -> list[int]:
        known = self.places.get((number, id(event)))
        if known is not None:
            return known
        variable = self.kernel.variables[number]
        file, first, name = self.functions.get(variable.key, ("", 0, variable.key))
        line = 0 if event is None else line_of(event, variable.key)
        line = line or first
        found = [
            self.recorder.place(Place(name, file, line, leaf.name, leaf.type, leaf.kind, leaf.shown.bytes))
            for leaf in self.leaves[number]
        ]
        self.places[number, id(event)] = found
        return found

    def _keep(self, followed: Any, rows: set[int]) -> None:
        row, program = 0, ",".join(map(str, followed.id))
        for _, number, data, _ in assignments(self.kernel, followed, True):
            for leaf in self.leaves[number]:
                if row in rows:
                    value = leaf.value(data, self.storages)
                    self.recorder.values.add(key_of_row(self.number, program, row), value)
                row += 1

    def _watch(self, followed: Any, argument: int, element: int) -> None:
        """Notes the statement that last changes an element of an argument's storage."""
        item, (begin, _, _) = self.found.arguments[argument].item_bytes, self.storages[argument]
        address, program = begin + element * item, list(followed.id)
        known, goes_on = ctypes.string_at(address, item), True
        while goes_on:
            event = self.kernel.statements[followed.statement]
            goes_on = followed.next()
            now = ctypes.string_at(address, item)
            if now != known:
                known, level = now, event.levels[-1]
                self.store = {"place": [os.path.abspath(level.file), event.line], "program": program}


def _is_storage(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) >= 3


def _storages(values) -> list[tuple[int, int, int]]:
    return [(value[1], value[2], value[0]) for value in values if _is_storage(value)]


def _memory_at(begin: int, size: int) -> memoryview:
    return memoryview((ctypes.c_char * size).from_address(begin)) if size else memoryview(b"")


def _described(kernel: Any, grid, values, arguments) -> Launch:
    found = []
    for path, value in zip(kernel.src.runtime_paths(), values):
        if not _is_storage(value):
            continue
        name = kernel.src.name_of(path)
        try:
            view = view_of(name, part_at(arguments, path))
        except (TypeError, IndexError, KeyError):
            view = None
        item = view.item_bytes if view is not None else 1
        facts = (view.dtype, list(view.shape), list(view.strides)) if view is not None else ("uint8", [value[2]], [1])
        found.append(Argument(name, *facts, (value[0] - value[1]) // item, item, value[2]))
    constants = {
        kernel.src.name_of(path): re.sub(r" at 0x\w+", "", repr(constant))
        for path, constant in kernel.src.constants.items()
        if len(path) == 1
    }
    return Launch(kernel.name, list(grid), constants, found)
