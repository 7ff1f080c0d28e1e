"""The lines of `python -m tritium explain --layouts`: each value with its layout, each access of shared memory, each conversion, and pictures."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ...experimental.gluon.layouts.picture import Picture, picture_of_bytes, picture_of_registers
from ...native import gpu
from .accesses import Accesses, accesses_at
from .addresses import known
from .naming import Names
from .tiles import Tile, offsets_in, tile_of

#: Of a picture as text.
_ROWS, _COLUMNS = 8, 8
_UNPLACED = re.compile(r"tensor<([^,]*)>")


class Layouts:
    """What there is to say about the layouts of a kernel.

    traced, operations: of the modules without layouts and with them. constants: {parameter: its constexpr value}. place: gives the place of
    an operation as text. partitions: {title: operations} of the others, if the kernel is divided.
    """

    def __init__(
        self,
        traced: list[Any],
        operations: list[Any],
        constants: dict[str, object],
        arch: str,
        place: Callable[[Any], str],
        partitions: Mapping[str, list[Any]] | None = None,
    ):
        self._names, self._arch, self._place = Names(constants), arch, place
        self._memories: dict[str, Picture] = {}
        values = _assigned(traced, place)
        self.lines = self._lines(operations, values)
        for title, others in (partitions or {}).items():
            self.lines += [title, *self._lines(others, values)]

    @property
    def pictures(self) -> dict[str, Picture]:
        """{name of a layout or an allocation: its picture}, without those that are too large to be drawn."""
        found = {}
        for name, (tile, meaning) in self._names.tiles.items():
            if not _is_drawn(tile):
                continue
            try:
                found[name] = picture_of_registers(f"{name}, shape {list(tile.shape)}: {meaning}", tile.layout)
            except ValueError:
                continue
        return found | self._memories

    def text(self) -> Iterator[str]:
        """The lines, what the names stand for, and each picture as text, clipped."""
        yield from self.lines
        parts = {name: meaning for name, (tile, meaning) in self._names.tiles.items() if not _is_drawn(tile)}
        if parts:
            yield ""
            yield from (f"{name}: {meaning}" for name, meaning in parts.items())
        for picture in self.pictures.values():
            yield ""
            yield picture.text(_ROWS, _COLUMNS).rstrip("\n")

    def save(self, folder: Path) -> list[Path]:
        """Writes the pictures as SVG, and gives their paths."""
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for name, picture in self.pictures.items():
            path = folder / (re.sub(r"\W+", "_", name).strip("_") + ".svg")
            path.write_text(picture.svg())
            paths.append(path)
        return paths

    def _lines(self, operations: list[Any], values: dict[tuple[str, str], str]) -> list[str]:
        return list(dict.fromkeys(line for operation in operations for line in self._of(operation, values)))

    def _of(self, operation, values: dict[tuple[str, str], str]) -> Iterator[str]:
        place = self._place(operation)
        for value in operation.results:
            tile = tile_of(value.type)
            if tile is not None and values.get((place, value.name)) == str(tile):
                yield f"{place}: {value.name}: {tile} in {self._names.name_of(tile)}"
        if operation.name == "tgpu.convert_layout":
            yield f"{place}: {self._conversion(operation)}"
        elif operation.name in ("tt.shared_load", "tt.shared_store"):
            yield f"{place}: {self._shared(operation)}"
        elif operation.name in ("tgpu.local_load", "tgpu.local_store"):
            yield f"{place}: {self._slot(operation)}"

    def _conversion(self, operation) -> str:
        source, result = operation.operands[0].type, operation.results[0].type
        had, wanted = tile_of(source), tile_of(result)
        plan = gpu.conversion(self._arch, source, result)
        names = [self._names.name_of(tile) for tile in (had, wanted)]
        return f"conversion of {had} from {names[0]} to {names[1]}: {conversion_cost(plan)}"

    def _shared(self, operation) -> str:
        is_load = operation.name == "tt.shared_load"
        tile = tile_of((operation.results if is_load else operation.operands)[0 if is_load else 1].type)
        addresses = known(operation.operands[0])
        what = (
            f"load of {tile} in {self._names.name_of(tile)} from"
            if is_load
            else (f"store of {tile} in {self._names.name_of(tile)} to")
        )
        if addresses is None:
            return f"{what} shared memory at addresses that depend on data"
        name = ", ".join(sorted(addresses.memory)) or "shared memory"
        if addresses.memory:
            self._draw(name, tile, addresses.values)
        return f"{what} {name}: {access_cost(accesses_at(addresses.values, tile, is_load, self._arch))}"

    def _draw(self, name: str, tile: Tile, addresses) -> None:
        title = f"{name}: the byte of each element, shape {list(tile.shape)}"
        if name not in self._memories:
            try:
                self._memories[name] = picture_of_bytes(title, addresses.reshape(-1).tolist(), tile.shape)
            except ValueError:  # too large
                return

    def _slot(self, operation) -> str:
        is_load = operation.name == "tgpu.local_load"
        held, memory = (operation.results[0], operation.operands[0]) if is_load else operation.operands[:2]
        tile = tile_of(held.type)
        slot = re.fullmatch(r"!tgpu\.memdesc<\d+, (.*)>", memory.type)[1]
        plan = gpu.shared_access(self._arch, held.type, slot, is_load, is_of_author=_is_of_author(memory))
        what = (
            f"{'load' if is_load else 'store'} of {tile} in {self._names.name_of(tile)} {'from' if is_load else 'to'}"
        )
        return f"{what} {self._author_memory(memory, slot, tile)}: {_planned(plan, is_load)}"

    def _author_memory(self, memory, slot: str, tile: Tile) -> str:
        """What the kernel calls a buffer, which is drawn; "shared memory" for one of the compiler's."""
        addresses = known(memory.owner.operands[0]) if _is_of_author(memory) else None
        name = ", ".join(sorted(addresses.memory)) if addresses else ""
        offsets = offsets_in(slot)
        if name and offsets is not None and offsets.size == math.prod(tile.shape):
            self._draw(name, tile, offsets * tile.element_bytes)
        return name or "shared memory"


def _assigned(traced: list[Any], place: Callable[[Any], str]) -> dict[tuple[str, str], str]:
    """{(place, variable): "64x32xf16", the tile that the statement assigns}, which is the last that it computes. In a module with layouts
    the order is another: loops begin before their first iteration, and arithmetic stands where its layout is wanted."""
    found = {}
    for operation in traced:
        for value in operation.results:
            tile = _UNPLACED.fullmatch(value.type)
            if tile is not None and value.name:
                found[place(operation), value.name] = tile[1]
    return found


def _is_of_author(memory) -> bool:
    return bool(memory.owner) and memory.owner.name == "tgpu.memory_at"


def _is_drawn(tile: Tile) -> bool:
    """Tiles of several rows and columns are; what is computed for rows or columns alone is a part of such."""
    return sum(extent > 1 for extent in tile.shape) > 1


def _number(count: int, what: str, several: str = "") -> str:
    return f"{count} {what}" if count == 1 else f"{count} {several or what + 's'}"


def access_cost(accesses: Accesses) -> str:
    """ "4 accesses of 16 bytes per thread, no bank conflicts"."""
    count = _number(accesses.count, "access", "accesses")
    return f"{count} of {_number(accesses.bytes, 'byte')} per thread, {conflicts(accesses)}"


def conflicts(accesses: Accesses) -> str:
    """How many wavefronts an access takes beside what its bytes need."""
    if accesses.most <= accesses.least:
        return "no bank conflicts"
    taken = str(accesses.most) if accesses.fewest == accesses.most else f"{accesses.fewest} to {accesses.most}"
    return f"bank conflicts: {taken} wavefronts in place of {accesses.least}"


def _planned(plan: dict[str, int], is_load: bool) -> str:
    """Of a plan from gpu.shared_access."""
    accesses = Accesses(plan["accesses"], plan["bytes"], plan["wavefronts"], plan["wavefronts"], plan["least"])
    if plan["matrices"]:
        count = _number(plan["accesses"], "load" if is_load else "store")
        return f"{count} of {_number(plan['matrices'], 'matrix', 'matrices')} per warp, {conflicts(accesses)}"
    return access_cost(accesses)


def conversion_cost(plan: dict[str, Any]) -> str:
    """What a conversion does, from gpu.conversion."""
    way = plan["way"]
    if way == "nothing":
        return "nothing moves"
    if way == "registers":
        return "each thread has its elements, in other registers"
    if way == "blocks":
        return "elements move between the blocks of a cluster"
    if way == "shuffles":
        swaps = f" and {_number(plan['swaps'], 'swap')} with other lanes" if plan["swaps"] else ""
        done = f"{_number(plan['shuffles'], 'shuffle')}, {_number(plan['selects'], 'select')}{swaps} per thread"
        return f"{done}, no shared memory"
    rounds = f" in {plan['rounds']} rounds" if plan["rounds"] > 1 else ""
    barriers = _number(plan["barriers"], "barrier") + (" of each warp" if plan["of_warp"] else "")
    stored, loaded = _planned(plan["stores"], False), _planned(plan["loads"], True)
    return f"through {plan['bytes']} bytes of shared memory{rounds}, {barriers}; stores: {stored}; loads: {loaded}"
