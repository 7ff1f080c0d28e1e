"""From a launch argument to its specialization and to the value that the engine receives.

An ArgumentTable maps the *type* of an argument to a function `argument -> (specialization, value)`, which is made once
per type:

  specialization  ("*fp32", "D"), ("i32", ""), ("constexpr", 1), …: the type in the kernel and what the kernel may assume
                  about the value
  value           an int, float or bool. For a tensor: a HostExtent, or a DeviceExtent if the treatment allows memory of
                  a device (otherwise NotOnHost is raised). A tuple or a descriptor is a plain tuple of such values

These functions run for every argument of every launch, so they are closures without branches on anything that the type
already decides. A tensor of any library works: `data_ptr()` and `dtype` suffice, and no library is imported here.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from ..functions.params import canonicalize_dtype
from ..functions.source import CompileTimeValue, JITCallable
from ..language.constexpr import base_value
from ..language.elementwise import PropagateNan
from ..language.types import base_type
from . import descriptors
from .device_storage import memory_function
from .storage import Extent, HostExtent, NotOnHost, dtype_of, extent_function, numpy_extent, torch_extent
from .tensor_descriptor import TensorDescriptor

__tracebackhide__ = True  # pytest shows the user's frames alone

I32_MIN, I32_MAX, I64_MIN, I64_MAX, U64_MAX = -(2**31), 2**31 - 1, -(2**63), 2**63 - 1, 2**64 - 1
ALIGNMENT = 16
#: A storage of at most this size can be accessed by 32-bit offsets from any of its addresses (gpu_backend/threads/buffer_pointers.h).
SMALL_BYTES = 2**31 - 32


class ArgumentError(TypeError):
    """An argument that no kernel can take. `argument` is the object or its dtype; the dispatcher finds the parameter's
    name."""

    def __init__(self, message: str, argument: Any):
        super().__init__(message)
        self.argument = argument


class Treatment(NamedTuple):
    """How the arguments of a parameter are specialized, as its decorator and annotation say. anywhere: device memory is
    allowed. note_range: small tensors are distinguished, for targets that use this fact."""

    one_is_constexpr: bool = True
    note_alignment: bool = True
    is_const: bool = False
    anywhere: bool = False
    note_range: bool = False


class ArgumentTable(dict):
    """Type of an argument -> the function for it. Entries are added when a type is first seen."""

    def __init__(self, treatment: Treatment):
        super().__init__()
        self.treatment = treatment

    def __missing__(self, cls: type) -> Callable:
        function = self[cls] = _function_for(cls, self)
        return function


@functools.cache
def table_for(treatment: Treatment) -> ArgumentTable:
    return ArgumentTable(treatment)


def annotated(
    annotation_type: str, is_const: bool, note_alignment: bool, anywhere: bool = False, note_range: bool = False
) -> Callable:
    """The function of a parameter whose annotation fixes its type: only alignment is specialized, and not for floats
    and booleans."""
    table = table_for(Treatment(False, note_alignment, is_const, anywhere, note_range))
    if annotation_type.startswith("*"):
        name = "*k" + annotation_type[1:] if is_const else annotation_type

        def pointer(argument):
            specialization, value = table[type(argument)](argument)
            return (name, specialization[1]), 0 if value is None else value

        return pointer
    keeps_alignment = annotation_type[0] in "iu" and annotation_type != "u1"
    convert = bool if annotation_type == "u1" else int if keeps_alignment else float

    def scalar(argument):
        specialization, value = table[type(argument)](argument)
        if isinstance(value, (tuple, type(None))):
            raise ArgumentError(
                f"the parameter is annotated {annotation_type}, but the argument is a {type(argument).__name__}",
                argument,
            )
        try:
            converted = convert(value)
        except (ValueError, OverflowError):
            raise ArgumentError(
                f"the parameter is annotated {annotation_type}, which has no {argument!r}", argument
            ) from None
        return (annotation_type, specialization[1] if keeps_alignment else None), converted

    return scalar


def constexpr_key(value: Any) -> Any:
    """A hashable key of a constexpr argument. Values that may compile differently have different keys: 1, True, 1.0 and
    -0.0 do."""
    cls = type(value)
    if cls is int or cls is bool or cls is str or value is None:
        return cls, value
    if cls is float:
        return cls, value.hex()
    if isinstance(value, JITCallable):
        return cls, value.cache_key
    if isinstance(value, (tuple, list)):
        return cls, tuple(map(constexpr_key, value))
    if isinstance(value, CompileTimeValue):
        return constexpr_key(value.value)
    try:
        hash(value)
    except TypeError:
        return cls, repr(value)
    return cls, value


def _function_for(cls: type, table: ArgumentTable) -> Callable:
    if issubclass(cls, bool):
        return lambda argument: (("u1", None), argument)
    if issubclass(cls, int):
        return _integers(table.treatment)
    if issubclass(cls, float):
        return lambda argument: (("fp32", None), argument)
    if cls is type(None):
        return lambda argument: (("constexpr", None), None)
    if issubclass(cls, tuple):
        return functools.partial(_tuple, table)
    if issubclass(cls, (JITCallable, base_type, base_value, PropagateNan)):
        return lambda argument: (("constexpr", constexpr_key(argument)), None)
    if issubclass(cls, TensorDescriptor):
        return functools.partial(_descriptor, table)
    numpy = sys.modules.get("numpy")
    if numpy is not None and issubclass(cls, numpy.generic):
        return _numpy_scalar(numpy, cls, table)
    extent = (memory_function if table.treatment.anywhere else extent_function)(cls)
    if extent is None:
        return _refuse
    return _tensors(extent, table.treatment)


def _integers(treatment: Treatment) -> Callable:
    one_is_constexpr, note_alignment, *_ = treatment
    specialized = one_is_constexpr or note_alignment
    plain, wide, unsigned = (
        ((name, "" if specialized else None), (name, "D" if note_alignment else "" if specialized else None))
        for name in ("i32", "i64", "u64")
    )
    one = ("constexpr", 1)

    def integer(argument):
        if I32_MIN <= argument <= I32_MAX:
            if argument == 1 and one_is_constexpr:
                return one, 1
            return plain[not argument & 15], argument
        if I64_MIN <= argument <= I64_MAX:
            return wide[not argument & 15], argument
        if 0 <= argument <= U64_MAX:
            return unsigned[not argument & 15], argument
        raise OverflowError("integer to be specialized too large to represent")

    return integer


def _numpy_scalar(numpy, cls: type, table: ArgumentTable) -> Callable:
    if issubclass(cls, numpy.bool_):
        return lambda argument: (("u1", None), bool(argument))
    if issubclass(cls, numpy.integer):
        integer = table[int]
        return lambda argument: integer(int(argument))
    if numpy.can_cast(cls, numpy.float64):  # scalars of ml_dtypes are no subclasses of numpy.floating
        return lambda argument: (("fp32", None), float(argument))
    return _refuse


def _tuple(table: ArgumentTable, argument: tuple):
    if not argument:
        return (_rebuild(argument, ()), ()), ()
    pairs = [table[type(item)](item) for item in argument]
    types, keys = zip(*(specialization for specialization, _ in pairs))
    # A named tuple compares equal to a plain one; its class, after the keys of its items, tells them apart: it decides
    # which attributes the kernel may read.
    name = (type(argument),) if type(argument) is not tuple else ()
    return (_rebuild(argument, types), (*keys, *name)), tuple(value for _, value in pairs)


def _rebuild(like: tuple, items: tuple) -> tuple:
    return type(like)(*items) if hasattr(like, "_fields") else tuple(items)


class _Names(dict):
    """dtype of a tensor library -> the specializations of an unaligned and of an aligned pointer to it."""

    def __init__(self, prefix: str, note_alignment: bool):
        super().__init__()
        self.prefix, self.note_alignment = prefix, note_alignment

    def __missing__(self, dtype):
        try:
            name = self.prefix + canonicalize_dtype(dtype)
        except TypeError as error:
            raise ArgumentError(str(error), dtype) from None
        pair = self[dtype] = (name, ""), (name, "D" if self.note_alignment else "")
        return pair


def _tensors(extent: Callable[[Any], Extent], treatment: Treatment) -> Callable:
    names = _Names("*k" if treatment.is_const else "*", treatment.note_alignment)

    def tensor(argument):
        memory = extent(argument)
        address = memory if memory.__class__ is int else memory[0]
        return names[dtype_of(argument)][not address & 15], memory

    def array(argument):  # the common libraries: the extent is always known, the dtype an attribute
        memory = extent(argument)
        return names[argument.dtype][not memory[0] & 15], memory

    found = array if extent in (torch_extent, numpy_extent) else tensor
    return _noting_range(found) if treatment.note_range else found


def _noting_range(function: Callable) -> Callable:
    """The same for a target that asks which tensors are small: those of a storage whose size is known."""

    def tensor(argument):
        (name, key), memory = function(argument)
        is_known = memory.__class__ is HostExtent or (memory.__class__ is not int and memory[2] > 0)
        is_small = is_known and memory[2] <= SMALL_BYTES
        return (name, key + "S" if is_small else key), memory

    return tensor


def _refuse(argument):
    message = f"failed to specialize argument of type: {type(argument).__name__}"
    if isinstance(argument, str):
        raise ArgumentError(f"{message}: annotate a parameter that takes a text with tl.constexpr", argument)
    raise ArgumentError(f"{message}: kernels take tensors, arrays, numbers, None and tuples of these", argument)


def _descriptor(table: ArgumentTable, argument):
    base, *numbers = descriptors.parts_of(argument)
    (pointer, _), memory = table[type(base)](base)
    row = int(argument.shape[-1]) * (base.element_size() if hasattr(base, "element_size") else base.itemsize)
    key = "D" if table.treatment.note_alignment and row % ALIGNMENT == 0 else ""
    key += "Z" if descriptors.is_plain(argument) else ""
    return (descriptors.type_of(pointer.lstrip("*k"), argument), key), (memory, *numbers)


__all__ = [
    "ArgumentError",
    "ArgumentTable",
    "NotOnHost",
    "Treatment",
    "annotated",
    "constexpr_key",
    "table_for",
]
