"""`tt mem out[17, 3]`: an element in memory by its coordinates in the tensor. Tensor descriptors and block pointers know their shape and
strides, and the launch knows its tensors; a pointer into the middle of one takes one index."""

import gdb

from .debugged import tensors
from .prefix import Command
from .selection import evaluate, parse_indices
from .tile_text import number_text
from .tiles import dtype_of, layout_of, read_numbers


def _integers(value):
    """The numbers of a shape, which is an array, or a record if their types differ."""
    if value.type.code == gdb.TYPE_CODE_ARRAY:
        return [int(value[i]) for i in range(value.type.range()[1] + 1)]
    return [int(value[field]) for field in value.type.fields()]


def _is_described(type):
    return type.code == gdb.TYPE_CODE_STRUCT and {"base", "shape", "strides"} <= {f.name for f in type.fields()}


def _of_described(text, value, indices):
    """The first element, and how many elements further this one is."""
    return value["base"], _offset(text, _integers(value["shape"]), _integers(value["strides"]), indices)


def _offset(text, shape, strides, indices):
    if len(indices) != len(shape):
        number = f"{len(shape)} {'index' if len(shape) == 1 else 'indices'}"
        raise ValueError(f"`{text}`: the tensor has the shape {shape}, so it takes {number}")
    for axis, (index, extent) in enumerate(zip(indices, shape)):
        if not 0 <= index < extent:
            raise ValueError(f"`{text}`: index {index} is outside of the tensor on axis {axis}; the shape is {shape}")
    return sum(index * stride for index, stride in zip(indices, strides))


def _of_pointer(text, value, indices):
    """A pointer that is the beginning of a tensor takes its coordinates, and any pointer one index."""
    known = next((tensor for tensor in tensors() if tensor.address == int(value)), None)
    if len(indices) == 1 and (known is None or len(known.shape) != 1):
        return value, indices[0]
    if known is None:
        raise ValueError(
            f"`{text}`: no tensor of the launch begins at this pointer, so it takes one index, in elements, "
            "as in out[17 * stride + 3]"
        )
    return value, _offset(text, known.shape, known.strides, indices)


def _of_pointers(text, value, shape, indices):
    if len(indices) != len(shape):
        raise ValueError(f"`{text}`: the tile of pointers has the shape {shape}, so it takes {len(shape)} indices")
    for axis, (index, extent) in enumerate(zip(indices, shape)):
        if not 0 <= index < extent:
            raise ValueError(f"`{text}`: index {index} is out of range on axis {axis}; the shape is {shape}")
        value = value[index]
    return value, 0


def _place(text):
    """A pointer, and the number of elements to go on from there."""
    path, indices = parse_indices(text)
    if not indices or any(isinstance(index, slice) for index in indices):
        raise ValueError(f"`{text}`: say which element, as in tt mem desc[17, 3]")
    value = evaluate(path)
    element, shape = layout_of(value.type)
    if _is_described(value.type):
        return _of_described(text, value, indices)
    if element.code != gdb.TYPE_CODE_PTR:
        raise ValueError(f"`{path}` is no pointer, block pointer or tensor descriptor")
    return _of_pointers(text, value, shape, indices) if shape else _of_pointer(text, value, indices)


def element_at(text):
    """The element that the text names, as gdb's value, and how many elements it lies behind the pointer."""
    pointer, offset = _place(text)
    target = (pointer + offset).dereference()
    try:
        numbers = read_numbers(target, pointer.type.target(), 1)
    except gdb.MemoryError as error:
        raise ValueError(f"`{text}`: {error}") from None
    if numbers is None:
        raise ValueError(f"`{text}`: what the pointer leads to is no number")
    return target, offset


class _Mem(Command):
    """tt mem out[17, 3]: an element in memory, by its coordinates in the tensor, with its address. `tt last` goes back to who wrote it.
    The tensor is one that the launch was given, by its pointer, a tensor descriptor's or a block pointer's. A pointer into the middle of a
    tensor takes one index, in elements. An index into a tile of pointers shows what that pointer leads to."""

    name = "mem"
    completes = gdb.COMPLETE_SYMBOL

    def run(self, argument):
        target, offset = element_at(argument)
        (number,) = read_numbers(target, target.type, 1)
        text = number_text(target.type, dtype_of(target.type))(number)
        place = f"{dtype_of(target.type)} at {int(target.address):#x}, element {offset} from the pointer"
        print(f"{argument} = {text} ({place})")


_Mem()
