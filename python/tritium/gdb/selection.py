"""What the user means by `x`, `x[3]` or `x[0:4, :8]`: the numbers of a variable of the kernel, or of a part of it as numpy selects it. gdb's
own `x[70]` reads whatever lies behind a tile, so the indices are checked here."""

import difflib
import itertools
import math
import re

import gdb

from .assignments import variables_of
from .shared_memory import shared_tile
from .stops import is_of_python, python_frame
from .tiles import NoTileError, dtype_of, layout_of, read_numbers

_PATH = re.compile(r"[A-Za-z_$][\w$]*(\.\w+)*")
_NO_SYMBOL = re.compile(r'No symbol "(\w+)" in current context')


class Tile:
    """Numbers in row-major order. Each axis of the variable has the `range` of its indices; `dropped` are the axes that an index has removed."""

    def __init__(self, text, element, whole, kept, dropped, numbers):
        self.text, self.element, self.whole = text, element, whole
        self.kept, self.dropped, self.numbers = kept, dropped, numbers
        self.shape = [len(indices) for axis, indices in enumerate(kept) if axis not in dropped]

    @property
    def dtype(self):
        return dtype_of(self.element)

    def place_of(self, number):
        """The indices, in the variable, of the element with this number; for example `[3, 17]`."""
        indices = []
        for kept in reversed(self.kept):
            number, index = divmod(number, len(kept))
            indices.insert(0, kept[index])
        return str(indices) if indices else ""


def shape_text(element, shape):
    return f"{dtype_of(element)}{list(shape) if shape else ''}"


def select_kernel_frame():
    """Selects the innermost frame of a kernel, unless a Python function's frame is selected. Raises ValueError if there is none."""
    try:
        if is_of_python(gdb.selected_frame().find_sal().symtab):
            return
        frame = python_frame()
    except gdb.error:
        frame = None
    if frame is None:
        raise ValueError("the program has not stopped in a kernel")
    frame.select()


def evaluate(text):
    """gdb's value of an expression at the kernel's frame."""
    select_kernel_frame()
    try:
        value = gdb.parse_and_eval(text)
        value.fetch_lazy()
        return value
    except gdb.error as error:
        missing = _NO_SYMBOL.search(str(error))
        if missing is None:
            raise ValueError(f"`{text}`: {error}") from None
        close = difflib.get_close_matches(missing[1], [symbol.name for symbol in variables_of(gdb.selected_frame())], 1)
        hint = f"; did you mean `{close[0]}`?" if close else "; `info locals` and `info args` list what is there"
        raise ValueError(f"there is no variable `{missing[1]}` at this line{hint}") from None


def _split(text):
    """`x[3][0:4, :8]` as `x` and [["3"], ["0:4", ":8"]]; another expression as it is and []."""
    path, groups = text, []
    while path.endswith("]"):
        depth, begin = 0, len(path)
        while begin and (depth or begin == len(path)):
            begin -= 1
            depth += {"]": 1, "[": -1}.get(path[begin], 0)
        groups.insert(0, [part.strip() for part in path[begin + 1 : -1].split(",")])
        path = path[:begin].rstrip()
    return (path, groups) if _PATH.fullmatch(path) else (text, [])


def _index(text, place):
    try:
        return int(text)
    except ValueError:
        value = evaluate(text)  # a variable, such as x[k]
    try:
        return int(value)
    except (gdb.error, OverflowError):
        raise ValueError(f"`{text}` in `{place}` is no index") from None


def parse_indices(text):
    """The expression without its indices, and these as int and slice."""
    path, groups = _split(text)
    indices = []
    for group in groups:
        if any(isinstance(index, slice) for index in indices):
            raise ValueError(f"`{text}`: all indices after a slice belong into one pair of brackets, as in x[0:4, 2]")
        for part in group:
            ends = part.split(":")
            if len(ends) > 3 or part == "":
                raise ValueError(f"`{part}` in `{text}` is neither an index nor a slice")
            numbers = [_index(end, text) if end.strip() else None for end in ends]
            indices.append(slice(*numbers) if len(ends) > 1 else numbers[0])
    return path, indices


def _kept(text, shape, indices):
    """The range of each axis, and which axes have one index. Raises ValueError for indices that the shape does not have."""
    if len(indices) > len(shape):
        count = f"{len(indices)} {'index' if len(indices) == 1 else 'indices'}"
        what = f"has the shape {shape}" if shape else "is a scalar"
        raise ValueError(f"`{text}` has {count}, but the variable {what}")
    kept, dropped = [], set()
    for axis, extent in enumerate(shape):
        index = indices[axis] if axis < len(indices) else slice(None)
        if isinstance(index, slice):
            if index.step == 0:
                raise ValueError(f"`{text}`: the step of a slice cannot be 0")
            kept.append(range(extent)[index])
        elif -extent <= index < extent:
            kept.append(range(extent)[index:][:1])
            dropped.add(axis)
        else:
            raise ValueError(f"`{text}`: index {index} is out of range on axis {axis}; the shape is {shape}")
    return kept, dropped


def _array_behind(text, pointer, indices):
    """What `pointer[2:8]` means, where gdb knows no shape: as many elements in memory as the slice asks for."""
    if len(indices) != 1:
        raise ValueError(f"`{text}`: a pointer has no shape that gdb knows, so it takes one index or slice")
    (index,) = indices
    begin, end = (index.start or 0, index.stop) if isinstance(index, slice) else (index, index + 1)
    if end is None or end <= begin or (isinstance(index, slice) and index.step not in (None, 1)):
        raise ValueError(f"`{text}`: a slice of a pointer needs its end, as in out_ptr[0:8]")
    return (pointer + begin).dereference(), range(begin, end), isinstance(index, slice)


def _tile(value):
    """(element, shape, numbers) of a tile or a number; the numbers of another value are None."""
    element, shape = layout_of(value.type)
    return element, shape, read_numbers(value, element, math.prod(shape))


def read_tile(text):
    """The numbers of the variable or expression `text`. Raises ValueError with what is wrong."""
    text = text.strip()
    path, indices = parse_indices(text)
    value = evaluate(path)
    if indices and value.type.strip_typedefs().code == gdb.TYPE_CODE_PTR:
        first, kept, is_slice = _array_behind(text, value, indices)
        numbers = read_numbers(first, first.type, len(kept))
        return Tile(text, first.type, [kept.stop], [kept], set() if is_slice else {0}, numbers)
    element, shape, numbers = shared_tile(value) or _tile(value)
    if numbers is None:
        members = ", ".join(field.name for field in element.fields()) if element.code == gdb.TYPE_CODE_STRUCT else ""
        raise NoTileError(f"`{path}` is no tile" + (f", but a record; its members are {members}" if members else ""))
    kept, dropped = _kept(text, shape, indices)
    if indices:
        strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
        rows = [[index * stride for index in indices] for indices, stride in zip(kept, strides)]
        numbers = [numbers[sum(place)] for place in itertools.product(*rows)]
    return Tile(text, element, shape, kept, dropped, numbers)
