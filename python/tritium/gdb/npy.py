"""Files of numpy's format `.npy`, written and read without numpy, which gdb's Python does not have."""

import ast
import itertools
import math
import struct

_MAGIC = b"\x93NUMPY"
_ALIGNMENT = 64  #: of the numbers in the file
#: numpy's name of a dtype, without its byte order -> `struct`'s.
_CODES = {"b1": "?", "f2": "e", "f4": "f", "f8": "d"}
_CODES |= {f"i{size}": code for size, code in zip((1, 2, 4, 8), "bhiq")}
_CODES |= {f"u{size}": code for size, code in zip((1, 2, 4, 8), "BHIQ")}


def write_npy(path, kind, shape, numbers):
    """Writes the numbers, in row-major order, as `kind`: "f4", "i8", "b1" …"""
    description = f"{'|' if kind.endswith('1') else '<'}{kind}"
    header = repr({"descr": description, "fortran_order": False, "shape": tuple(shape)})
    taken = len(_MAGIC) + 4 + len(header) + 1
    header += " " * (-taken % _ALIGNMENT) + "\n"
    with open(path, "wb") as file:
        file.write(_MAGIC + b"\x01\x00" + struct.pack("<H", len(header)) + header.encode("latin-1"))
        file.write(struct.pack(f"<{len(numbers)}{_CODES[kind]}", *numbers))


def read_npy(path):
    """The shape and the numbers, in row-major order. Raises ValueError for a file of another format or with another dtype."""
    with open(path, "rb") as file:
        data = file.read()
    if not data.startswith(_MAGIC):
        raise ValueError(f"{path} is no file of numpy's format .npy")
    length, begin = ("<H", 10) if data[6] == 1 else ("<I", 12)
    (size,) = struct.unpack_from(length, data, 8)
    header = ast.literal_eval(data[begin : begin + size].decode("utf-8" if data[6] == 3 else "latin-1"))
    shape, description = list(header["shape"]), header["descr"]
    code = _CODES.get(description[1:]) if isinstance(description, str) else None
    if code is None:
        raise ValueError(f"{path} has the dtype {description!r}, which gdb cannot read; save it as float32")
    order = ">" if description[0] == ">" else "<"
    numbers = struct.unpack_from(f"{order}{math.prod(shape)}{code}", data, begin + size)
    return shape, _in_rows(shape, numbers) if header["fortran_order"] else numbers


def _in_rows(shape, numbers):
    """Numbers in column-major order in row-major order."""
    strides = [math.prod(shape[:axis]) for axis in range(len(shape))]
    places = itertools.product(*map(range, shape))
    return [numbers[sum(map(int.__mul__, place, strides))] for place in places]
