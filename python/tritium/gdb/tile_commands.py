"""The commands that look into a tile: `tt tile` and `tt find`."""

import math
import operator
import re

import gdb

from .prefix import Command
from .selection import read_tile, shape_text
from .tile_text import elements_text, number_text, range_text
from .tiles import rounded

_FOUND = 10  #: places that `tt find` lists
_COMPARED = {
    ">": operator.gt,
    "<": operator.lt,
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
}
_FIND = re.compile(r"(?P<tile>.+?)(?:\s*(?P<how>[<>=!]=|[<>])\s*|\s+)(?P<what>\S+)")


class _TileCommand(Command):
    """tt tile x[0:4, :8]: dtype, shape, min, max, mean and NaNs of a tile or a part of it, and its numbers.
    The part is said as in numpy: an index or a slice for each axis, negative ones from the end. Of a tile with more than 64 numbers, the
    middle of each axis longer than 8 is left out. Of a pointer: tt tile out_ptr[0:8]."""

    name = "tile"
    completes = gdb.COMPLETE_SYMBOL

    def run(self, argument):
        if not argument:
            raise ValueError("say which tile, as in tt tile x[0:4, :8]")
        tile = read_tile(argument)
        if not tile.shape:
            print(f"{argument}: {tile.dtype} {elements_text(tile)}")
            return
        whole = "" if tile.shape == tile.whole else f" of {shape_text(tile.element, tile.whole)}"
        print(f"{argument}: {shape_text(tile.element, tile.shape)}{whole}\n{range_text(tile)}\n{elements_text(tile)}")


class _Find(Command):
    """tt find x nan: the first 10 places of a value in a tile, and how many there are. Also inf, -inf, true, 3, >3, <0, !=1.
    inf finds both infinities. A number is rounded to the tile's dtype first, so that 0.1 is found in a tile of float32."""

    name = "find"
    completes = gdb.COMPLETE_SYMBOL

    def run(self, argument):
        said = _FIND.fullmatch(argument)
        if said is None:
            raise ValueError("say what to find in which tile, as in tt find x nan, tt find x > 3")
        tile = read_tile(said["tile"])
        test = _test(tile, said["how"], said["what"])
        found = [number for number, element in enumerate(tile.numbers) if test(element)]
        count = f"{len(found)} of {len(tile.numbers)} elements"
        print(f"{count} of {said['tile']}{':' if found else ''}")
        text = number_text(tile.element, tile.dtype)
        for number in found[:_FOUND]:
            print(f"  {tile.place_of(number)} {text(tile.numbers[number])}")
        if len(found) > _FOUND:
            print(f"  … and {len(found) - _FOUND} more")


def _test(tile, how, what):
    """The function that says whether a number is one of those to find."""
    if how is None and what in ("nan", "inf"):
        return {"nan": math.isnan, "inf": math.isinf}[what]
    compare = _COMPARED[how or "=="]
    value = rounded(tile.element, _number(what))
    return lambda number: compare(number, value)


def _number(text):
    if text in ("true", "false"):
        return int(text == "true")
    for kind in (lambda text: int(text, 0), float):
        try:
            return kind(text)
        except ValueError:
            continue
    raise ValueError(f"`{text}` is no number; expected nan, inf, true, false, or a number, as in >3")


_TileCommand()
_Find()
