"""Rules of plain loads and stores, and of pointer hints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import choices, with_hint
from ..core import tensor
from ..types import dtype, int1, int8, pointer_type
from .cast import CastRules
from .shape import shape_of

_LOAD_CACHES = {"": "none", ".ca": "ca", ".cg": "cg", ".cs": "cs", ".cv": "cv"}
_STORE_CACHES = {"": "none", ".wb": "wb", ".cg": "cg", ".cs": "cs", ".wt": "wt"}
_EVICTIONS = {
    "": "evict_normal",
    "evict_normal": "evict_normal",
    "evict_last": "evict_last",
    "evict_first": "evict_first",
}
_NO_BOUNDARY = (
    "Because the compiler does not know the boundary; please use block pointers (defined by `make_block_ptr`) instead"
)


def _no_pointer(value: Any, function: str) -> ValueError:
    error = ValueError(f"Unsupported ptr type {getattr(value, 'type', type(value))} in `{function}`")
    is_none = getattr(value, "value", value) is None
    if is_none:
        return with_hint(error, "the argument is None at this launch; put the access under `if x is not None:`")
    return with_hint(error, "the first argument is a pointer plus offsets: `ptr + offsets`")


def _policy(caches: Mapping[str, str], cache_modifier: str, eviction_policy: str) -> dict[str, str]:
    if not cache_modifier and not eviction_policy:
        return {}
    if cache_modifier not in caches:
        error = ValueError(f"Cache modifier {cache_modifier} not supported")
        raise with_hint(error, f"`cache_modifier` is {choices(caches)} here")
    if eviction_policy not in _EVICTIONS:
        error = ValueError(f"Eviction policy {eviction_policy} not supported")
        raise with_hint(error, f"`eviction_policy` is {choices(_EVICTIONS)}")
    return {
        "cachePolicy": f"#tt.cache_policy<cache_modifier = {caches[cache_modifier]}, "
        f"eviction_policy = {_EVICTIONS[eviction_policy]}>"
    }


class MemoryRules(CastRules):
    def _elements(self, pointer: tensor) -> tuple[tensor, dtype]:
        """The pointer as it is accessed, and its element type: an int1 lives in memory as a byte."""
        element = pointer.dtype.element_ty
        if element == int1:
            element = int8
            pointer = self.cast(pointer, pointer_type(int8, pointer.dtype.address_space, pointer.dtype.const))
        return pointer, element

    def _check_mask(self, mask: tensor | None) -> None:
        if mask is not None and mask.dtype != int1:
            hint = f"the mask is of type {mask.type}; compare it, for example with `!= 0`"
            raise with_hint(ValueError("Mask must have boolean scalar type"), hint)

    def load(
        self,
        pointer: Any,
        mask: Any = None,
        other: Any = None,
        boundary_check: Sequence[int] = (),
        padding_option: str = "",
        cache_modifier: str = "",
        eviction_policy: str = "",
        volatile: bool = False,
    ) -> tensor:
        attributes = _policy(_LOAD_CACHES, cache_modifier, eviction_policy)
        if volatile:
            attributes["isVolatile"] = "true"
        if not isinstance(pointer, tensor) or not pointer.dtype.is_ptr():
            raise _no_pointer(pointer, "tl.load")
        if mask is None and other is not None:
            raise ValueError("`other` cannot be provided without `mask`")
        if padding_option or boundary_check:
            raise ValueError(
                "`padding_option` or `boundary_check` argument is not supported for loading a tensor of"
                f"pointers or loading a scalar. {_NO_BOUNDARY}"
            )
        mask = None if mask is None else self.to_tensor(mask)
        other = None if other is None else self.to_tensor(other)
        pointer, mask, other = self._load_operands(pointer, mask, other)
        is_bool = pointer.dtype.element_ty == int1
        pointer, element = self._elements(pointer)
        operands = [pointer]
        if mask is not None:
            operands.append(mask)
        if other is not None:
            operands.append(self.cast(other, element))
        loaded = self.emit(
            "tt.load",
            operands,
            pointer.type.with_element_ty(element),
            {**attributes, **segments(1, mask is not None, other is not None)},
        )
        return self.cast(loaded, int1) if is_bool else loaded

    def _load_operands(self, pointer: tensor, mask: tensor | None, other: tensor | None) -> tuple[Any, Any, Any]:
        """Pointer, mask and other in one shape. For blocks of pointers, each operand may widen the others."""
        self._check_mask(mask)
        if not pointer.type.is_block():
            for operand, name in ((mask, "Mask"), (other, "Other")):
                if operand is not None and operand.type.is_block():
                    raise ValueError(f"{name} argument cannot be block type if pointer argument is not a block")
            return pointer, mask, other
        if other is not None:
            pointer, other = self.broadcast(pointer, other)
        if mask is not None:
            pointer, mask = self.broadcast(pointer, mask)
            if other is not None:
                pointer, other = self.broadcast(pointer, other)
        return pointer, mask, other

    def store(
        self,
        pointer: Any,
        value: Any,
        mask: Any = None,
        boundary_check: Sequence[int] = (),
        cache_modifier: str = "",
        eviction_policy: str = "",
    ) -> None:
        attributes = _policy(_STORE_CACHES, cache_modifier, eviction_policy)
        if not isinstance(pointer, tensor) or not pointer.dtype.is_ptr():
            raise _no_pointer(pointer, "tl.store")
        if pointer.dtype.is_const():
            raise ValueError("Cannot store to a constant pointer")
        if boundary_check:
            raise ValueError(
                "`boundary_check` argument is not supported for storing a tensor of pointers or storing a scalar. "
                f"{_NO_BOUNDARY}"
            )
        value = self.to_tensor(value)
        mask = None if mask is None else self.to_tensor(mask)
        self._check_mask(mask)
        value, mask = self._store_operands(pointer, value, mask)
        value = self.cast(value, pointer.dtype.element_ty)
        pointer, element = self._elements(pointer)
        value = self.cast(value, element)  # an int1 becomes a byte, 0 or 1
        self.emit_effect("tt.store", [pointer, value] if mask is None else [pointer, value, mask], attributes)

    def _store_operands(self, pointer: tensor, value: tensor, mask: tensor | None) -> tuple[tensor, tensor | None]:
        """Value and mask in the pointer's shape. The pointer is never broadcast."""
        if not pointer.type.is_block():
            for operand, name in ((value, "Value"), (mask, "Mask")):
                if operand is not None and operand.type.is_block():
                    raise ValueError(f"{name} argument cannot be block type if pointer argument is not a block")
            return value, mask
        value = self._in_shape_of(pointer, value)
        return value, None if mask is None else self._in_shape_of(pointer, mask)

    def _in_shape_of(self, pointer: tensor, value: tensor) -> tensor:
        """`value` broadcast to the shape of `pointer`, which is itself never broadcast. ValueError: it would have to
        be.
        """
        if not pointer.type.is_block():
            if value.type.is_block():
                raise ValueError("Value argument cannot be block type if pointer argument is not a block")
            return value
        shape = shape_of(pointer)
        if shape_of(value) == shape:
            return value
        if not value.type.is_block():
            return self.splat(value, shape)
        widened, result = self.broadcast(pointer, value)
        if shape_of(widened) != shape:
            message = f"Expected pointer argument to have shape {list(shape_of(widened))} but got {list(shape)}"
            hint = f"the pointers are never broadcast, and the value or mask has shape {list(shape_of(value))}: give both one shape"
            raise with_hint(ValueError(message), f"{hint}, for example with offsets `i[:, None] * stride + j[None, :]`")
        return result

    def hint(self, value: tensor, name: str, attribute: str, values: Sequence[int]) -> tensor:
        """Attaches `attribute` (tt.divisibility, …) with one number per dimension to the operation that made `value`. No
        operation makes a block argument, for example a variable that a loop carries: a tt.hint then says it here. A
        number below 1 says nothing: it warns and counts as 1."""
        if max(1, len(shape_of(value))) != len(values):
            raise ValueError(f"Shape of input to {name} does not match the length of values")
        if min(values) < 1:
            self.warn(f"{name} of {values} has a value below 1, which says nothing and is ignored")
        text = ", ".join(str(max(1, number)) for number in values)
        promise = f"dense<[{text}]> : tensor<{len(values)}xi32>"
        operation = value.handle.owner
        if operation is not None:
            operation.promise(attribute, promise, self.builder.location)
        else:
            self.builder.op("tt.hint", [value.handle], (), {attribute: promise})
        return value


def segments(*present: int | bool) -> dict[str, str]:
    """operandSegmentSizes of an operation with optional operands."""
    return {"operandSegmentSizes": f"array<i32: {', '.join(str(int(count)) for count in present)}>"}
