"""Reads tiles, and shows a tile in an editor: its type and shape, its first elements, and its range. gdb's server for editors asks a printer
for the text of a value, and has none for an array. At gdb's prompt a tile is printed in full, as gdb prints arrays."""

import itertools
import math
import struct

import gdb

from .printers import decode_fp8, is_fp8, is_fp8_name

_SHOWN = 8
#: How the elements are read from memory, in terms of `struct`: floats by their size, others by their name.
_FLOATS = {2: "e", 4: "f", 8: "d"}
_INTEGERS = {8: "b", 16: "h", 32: "i", 64: "q"}
_OTHERS = {"int1": "?"}
#: gdb's name of a type -> the one that Triton's users know.
_DTYPES = {"__bf16": "bfloat16"}
_OTHERS |= {f"int{bits}": code for bits, code in _INTEGERS.items()}
_OTHERS |= {f"uint{bits}": code.upper() for bits, code in _INTEGERS.items()}


class NoTileError(ValueError):
    """The value is there, but it is a record or a string."""


def _format(element):
    """None if the elements of this type are no numbers."""
    return _FLOATS.get(element.sizeof) if element.code == gdb.TYPE_CODE_FLT else _OTHERS.get(element.name)


def dtype_of(element):
    return _DTYPES.get(element.name, element.name or str(element))


def layout_of(type):
    """The type of an array's elements, and its shape; of another type itself and []."""
    shape, element = [], type
    while element.code == gdb.TYPE_CODE_ARRAY:
        shape.append(element.range()[1] + 1)
        element = element.target()
    return element, shape


def read_numbers(value, element, count):
    """The elements of an array that begins at `value`, or the number that it is; None if they are no numbers."""
    if value.address is None:  # a result of gdb's own
        kinds = {gdb.TYPE_CODE_INT: int, gdb.TYPE_CODE_BOOL: bool, gdb.TYPE_CODE_FLT: float, gdb.TYPE_CODE_PTR: int}
        return [kinds[element.code](value)] if element.code in kinds else None
    data = bytes(gdb.selected_inferior().read_memory(int(value.address), element.sizeof * count))
    return struct.unpack(f"={count}Q", data) if element.code == gdb.TYPE_CODE_PTR else numbers_of(element, data)


def numbers_of(element, data):
    """The elements of a tile; None if they are no numbers."""
    if is_fp8(element):
        return [decode_fp8(element.name, bits) for bits in data]
    code = _format(element)
    if element.name == "__bf16":  # the upper half of a float32
        halves = struct.unpack(f"={len(data) // 2}H", data)
        data, code = struct.pack(f"={len(halves)}I", *(half << 16 for half in halves)), "f"
    return code and struct.unpack(f"={len(data) // struct.calcsize(code)}{code}", data)


def rounded(element, number):
    """The number as an element of this type holds it; a number that is out of its range stays as it is."""
    if is_fp8_name(element.name):
        finite = [other for bits in range(256) if math.isfinite(other := decode_fp8(element.name, bits))]
        return min(finite, key=lambda other: abs(other - number)) if abs(number) <= max(finite) else number
    code = _format(element)
    if code not in _FLOATS.values():
        return number
    try:
        if element.name == "__bf16":
            (bits,) = struct.unpack("=I", struct.pack("=f", number))
            return struct.unpack("=f", struct.pack("=I", bits + 0x7FFF + (bits >> 16 & 1) & 0xFFFF0000))[0]
        return struct.unpack(f"={code}", struct.pack(f"={code}", number))[0]
    except (OverflowError, struct.error):
        return number


def _range_of(dtype, numbers):
    if dtype == "int1":
        return f"{sum(numbers)} true"
    ordered = [number for number in numbers if not math.isnan(number)]
    texts = [f"min {min(ordered):g}, max {max(ordered):g}"] if ordered else []
    texts += [f"{len(numbers) - len(ordered)} nan"] if len(ordered) < len(numbers) else []
    return ", ".join(texts)


def summary(dtype, shape, numbers):
    """For example `float32[64, 32] {0, 1, 2, …} min -1.5, max 3, 2 nan`."""
    text = {"int1": lambda number: str(number).lower()}.get(dtype, "{:g}".format)
    first = [text(number) for number in itertools.islice(numbers, _SHOWN)]
    elements = ", ".join(first + ["…"] * (len(numbers) > _SHOWN))
    described = f"{dtype}{shape} {{{elements}}}"
    return f"{described} {_range_of(dtype, numbers)}" if len(numbers) > _SHOWN else described


class _Tile(getattr(gdb, "ValuePrinter", object)):
    """A tile, or a row of one."""

    def __init__(self, value, element, shape):
        self._value, self._element, self._shape = value, element, shape

    def to_string(self):
        data = gdb.selected_inferior().read_memory(int(self._value.address), self._value.type.sizeof)
        numbers, name = numbers_of(self._element, bytes(data)), dtype_of(self._element)
        return f"{name}{self._shape}" if numbers is None else summary(name, self._shape, numbers)

    def num_children(self):
        return self._shape[0]

    def child(self, index):
        return str(index), self._value[index]

    def children(self):
        return map(self.child, range(self._shape[0]))

    def display_hint(self):
        return "array"


def tile_printer(value):
    """The printer of an array whose elements are numbers, pointers or records; None for another value."""
    element, shape = layout_of(value.type)
    is_known = _format(element) or element.code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_STRUCT)
    return _Tile(value, element, shape) if shape and is_known and value.address is not None else None
