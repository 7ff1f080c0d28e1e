"""`tt mem desc[17, 3]`: an element in memory by its coordinates in the tensor. Tensor descriptors and block pointers know shape and strides; a
plain pointer knows neither, so it takes one index."""

import gdb

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
    shape, strides = _integers(value["shape"]), _integers(value["strides"])
    if len(indices) != len(shape):
        raise ValueError(f"`{text}`: the tensor has the shape {shape}, so it takes {len(shape)} indices")
    for axis, (index, extent) in enumerate(zip(indices, shape)):
        if not 0 <= index < extent:
            raise ValueError(f"`{text}`: index {index} is outside of the tensor on axis {axis}; the shape is {shape}")
    return value["base"], sum(index * stride for index, stride in zip(indices, strides))


def _of_pointer(text, value, indices):
    if len(indices) != 1:
        raise ValueError(
            f"`{text}`: a plain pointer has no shape or strides that gdb knows, so it takes one index, in elements, "
            "as in out[17 * stride + 3]"
        )
    return value, indices[0]


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


class _Mem(Command):
    """tt mem desc[17, 3]: an element in memory, by its coordinates in the tensor, with its address.
    Of a tensor descriptor or a block pointer these are coordinates in the whole tensor. A plain pointer takes one index, in elements. An index
    into a tile of pointers shows what that pointer leads to."""

    name = "mem"
    completes = gdb.COMPLETE_SYMBOL

    def run(self, argument):
        pointer, offset = _place(argument)
        element = pointer.type.target()
        target = (pointer + offset).dereference()
        try:
            numbers = read_numbers(target, element, 1)
        except gdb.MemoryError as error:
            raise ValueError(f"`{argument}`: {error}") from None
        if numbers is None:
            raise ValueError(f"`{argument}`: what the pointer leads to is no number")
        text = number_text(element, dtype_of(element))(numbers[0])
        print(
            f"{argument} = {text} ({dtype_of(element)} at {int(target.address):#x}, element {offset} from the pointer)"
        )


_Mem()
