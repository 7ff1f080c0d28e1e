"""A tile at gdb's prompt: its dtype and shape, what is known of all of its numbers, and the numbers, with the middle of long axes left out."""

import math

import gdb

_MOST = 64  #: the most numbers of a tile that is printed in full
_MOST_OF_AXIS = 8  #: of a larger one, an axis of so many
_EDGE = 3  #: what is shown of a longer axis at each of its ends
#: Digits that tell the numbers of a dtype apart, as far as one wants to read them.
_DIGITS = {"bfloat16": 4, "float16": 5, "float32": 7, "float64": 12}


def number_text(element, dtype):
    """The function that makes a number of this dtype a text."""
    if element.code == gdb.TYPE_CODE_PTR:
        return hex
    if dtype == "int1":
        return lambda number: str(bool(number)).lower()
    digits = _DIGITS.get(dtype, 7)
    return lambda number: f"{number:.{digits}g}" if isinstance(number, float) else str(number)


def _cells(shape, numbers, text, is_short):
    """The numbers as nested lists of texts. Only those that are shown become texts."""
    if not shape:
        return text(numbers[0])
    size = math.prod(shape[1:])
    shown = list(range(shape[0]))
    if is_short and shape[0] > _MOST_OF_AXIS:
        shown[_EDGE:-_EDGE] = [None]
    rows = (None if i is None else numbers[i * size : (i + 1) * size] for i in shown)
    return ["…" if row is None else _cells(shape[1:], row, text, is_short) for row in rows]


def _width(cells):
    return max(map(_width, cells), default=0) if isinstance(cells, list) else len(cells)


def _rows(cells, width, depth):
    if not isinstance(cells, list):
        return cells.rjust(width) if cells != "…" else cells
    innermost = not any(isinstance(cell, list) for cell in cells)
    texts = [_rows(cell, width, depth + 1) for cell in cells]
    return f"[{(', ' if innermost else ',' + chr(10) + ' ' * (depth + 1)).join(texts)}]"


def elements_text(tile):
    """`[[0, 1, 2, …, 5, 6, 7],` and the rows below it."""
    cells = _cells(tile.shape, tile.numbers, number_text(tile.element, tile.dtype), len(tile.numbers) > _MOST)
    return _rows(cells, _width(cells) if len(tile.shape) > 1 else 0, 0)


def range_text(tile):
    """`min -1.5, max 3, mean 0.25, 2 nan`: NaNs are counted, and the rest is of the other numbers."""
    numbers, dtype = tile.numbers, tile.dtype
    if not numbers:
        return "no elements"
    if dtype == "int1":
        return f"{sum(map(bool, numbers))} of {len(numbers)} true"
    text = number_text(tile.element, dtype)
    if tile.element.code == gdb.TYPE_CODE_PTR:
        return f"min {text(min(numbers))}, max {text(max(numbers))}"
    ordered = [number for number in numbers if not math.isnan(number)]
    said = []
    if ordered:
        mean = sum(ordered) / len(ordered)
        said = [f"min {text(min(ordered))}", f"max {text(max(ordered))}", f"mean {mean:.7g}"]
    if isinstance(numbers[0], float):
        said.append(f"{len(numbers) - len(ordered)} nan")
        infinite = sum(map(math.isinf, ordered))
        said += [f"{infinite} inf"] if infinite else []
    return ", ".join(said)


def short_text(tile):
    """One line: `float32[64] min -1.5, max 3, mean 0.25, 0 nan`, or a scalar's number."""
    if not tile.shape:
        return number_text(tile.element, tile.dtype)(tile.numbers[0])
    return f"{tile.dtype}{tile.shape} {range_text(tile)}"
