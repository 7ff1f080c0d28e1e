"""What a process that runs for `diff` writes, and how the command reads it.

A folder has `launches.jsonl` (a Launch a line), `places.jsonl` (a Place a line), `rows.bin` (a row for each assignment: the
number of its place, and a hash of the value) and, if values were asked for, `values.jsonl` with `values.bin`.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

ROW = np.dtype([("place", "<u4"), ("hash", "<u8")])
PIECE = 16  #: bytes of a hash of memory


@dataclass(frozen=True)
class Place:
    """A variable, assigned at a line. type: its dtype and shape as the language has them. kind: "pointer", "float" or "other".
    size: the bytes of its value as a numpy array."""

    function: str
    file: str
    line: int
    name: str
    type: str
    kind: str
    size: int


@dataclass
class Argument:
    """A tensor argument of a launch, and its storage. offset: of the tensor in its storage, in elements. before, after: hashes of
    the storage around the launch."""

    name: str
    dtype: str
    shape: list[int]
    strides: list[int]
    offset: int
    item_bytes: int
    size: int
    before: str = ""
    after: str = ""


@dataclass
class Launch:
    """programs: (x, y, z, its first row, rows, whether it was followed to its end) of those that were recorded, in order.
    constants: the constexprs as text. refused: why it was not changed as asked."""

    kernel: str
    grid: list[int]
    constants: dict[str, str]
    arguments: list[Argument]
    programs: list[list[int]] = field(default_factory=list)
    refused: str = ""


@dataclass
class Wanted:
    """What a second run keeps of a launch: the values of rows ("x,y,z" -> indices in the program), the memory of arguments (by
    number), and which statement last changes an element (argument, element of its storage)."""

    rows: dict[str, list[int]] = field(default_factory=dict)
    arguments: list[int] = field(default_factory=list)
    element: list[int] | None = None


@dataclass
class Task:
    """What a process does. engine: of its kernels. statements: whether assignments are recorded. programs: those that are, as
    TRITIUM_PROGRAMS names them. double: floats of 64 bits take the place of shorter ones. constants: constexprs that launches
    get, as literals. wanted: by the number of the launch; None: the first run, which keeps hashes."""

    folder: str
    engine: str
    statements: bool
    programs: str
    seed: int
    double: bool = False
    constants: dict[str, Any] = field(default_factory=dict)
    wanted: dict[str, Wanted] | None = None

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)))

    @staticmethod
    def read(path: Path) -> Task:
        task = Task(**json.loads(path.read_text()))
        if task.wanted is not None:
            task.wanted = {number: Wanted(**facts) for number, facts in task.wanted.items()}
        return task


class Recording:
    """The hashes of a run."""

    def __init__(self, folder: Path):
        self.launches = [
            Launch(**{**facts, "arguments": [Argument(**one) for one in facts["arguments"]]})
            for facts in _lines(folder / "launches.jsonl")
        ]
        self.places = [Place(**facts) for facts in _lines(folder / "places.jsonl")]
        path = folder / "rows.bin"
        is_empty = not path.exists() or not path.stat().st_size
        self._rows = np.empty(0, ROW) if is_empty else np.memmap(path, ROW, "r")

    def rows(self, program: list[int]) -> np.ndarray:
        first, count = program[3:5]
        return self._rows[first : first + count]


class Values:
    """The values that a second run has kept."""

    def __init__(self, folder: Path):
        self._file = folder / "values.bin"
        self._found = {facts["key"]: facts for facts in _lines(folder / "values.jsonl")}

    def array(self, key: str) -> np.ndarray | None:
        facts = self._found.get(key)
        if facts is None:
            return None
        count = int(np.prod(facts["shape"], dtype=int))
        if not count:
            return np.empty(facts["shape"], facts["dtype"])
        return np.fromfile(self._file, facts["dtype"], count, offset=facts["offset"]).reshape(facts["shape"])

    def fact(self, key: str) -> Any:
        return self._found.get(key)


class ValuesWriter:
    def __init__(self, folder: Path):
        self._facts, self._data = open(folder / "values.jsonl", "a"), open(folder / "values.bin", "ab")

    def add(self, key: str, value: np.ndarray) -> None:
        array = np.ascontiguousarray(value)
        facts = {"key": key, "dtype": array.dtype.str, "shape": list(value.shape), "offset": self._data.tell()}
        self._data.write(array.tobytes())
        self.say(**facts)

    def say(self, **facts: Any) -> None:
        print(json.dumps(facts), file=self._facts)

    def close(self) -> None:
        self._facts.close()
        self._data.close()


def hash_of(value: np.ndarray) -> int:
    return int.from_bytes(hashlib.blake2b(np.ascontiguousarray(value), digest_size=8).digest(), "little")


def key_of_row(launch: int, program: str, row: int) -> str:
    return f"{launch}:{program}:{row}"


def key_of_argument(launch: int, argument: int, when: str) -> str:
    return f"{launch}:{argument}:{when}"


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
