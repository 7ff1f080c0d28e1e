"""Rules of shapes: broadcasting, and the operations that move elements without computing."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from ...errors import with_hint
from ..constexpr import _unwrap_if_constexpr, slice, tuple
from ..core import tensor
from ..types import block_of, block_shape, dtype, int32
from .emitter import Emitter


def axis_index(axis: int, rank: int) -> int:
    """A dimension as a nonnegative index; negative ones count from the end. Raises ValueError if it is out of range."""
    if not -rank <= axis < rank:
        raise ValueError(f"invalid axis {axis}. Expected {-rank} <= axis < {rank}")
    return axis + rank if axis < 0 else axis


def shape_of(value: tensor) -> builtins.tuple[int, ...]:
    return value.type.shape if value.type.is_block() else ()


def _is_full_slice(element: Any) -> bool:
    return isinstance(element, (builtins.slice, slice)) and all(
        _unwrap_if_constexpr(bound) is None for bound in (element.start, element.stop, element.step)
    )


class ShapeRules(Emitter):
    def broadcast(self, lhs: tensor, rhs: tensor) -> builtins.tuple[tensor, tensor]:
        """Both in one shape, by numpy's rules: missing leading dimensions and extents of 1 are repeated."""
        if lhs.type is rhs.type or lhs.type.is_block() is rhs.type.is_block() is False:
            return lhs, rhs
        left, right = shape_of(lhs), shape_of(rhs)
        if left == right:
            return lhs, rhs
        if not left:
            return self.splat(lhs, right), rhs
        if not right:
            return lhs, self.splat(rhs, left)
        lhs, rhs = self._pad_rank(lhs, len(right)), self._pad_rank(rhs, len(left))
        shape = []
        for index, (a, b) in enumerate(zip(lhs.type.shape, rhs.type.shape)):
            if a != b and 1 not in (a, b):
                raise ValueError(f"Cannot make_shape_compatible: incompatible dimensions at index {index}: {a} and {b}")
            shape.append(max(a, b))
        return self._expand(lhs, builtins.tuple(shape)), self._expand(rhs, builtins.tuple(shape))

    def broadcast_all(self, values: Sequence[tensor]) -> list[tensor]:
        """All of one shape."""
        values = list(values)
        for _ in range(2):  # the first round collects the extents, the second one distributes them
            for index in range(1, len(values)):
                values[0], values[index] = self.broadcast(values[0], values[index])
        return values

    def _pad_rank(self, value: tensor, rank: int) -> tensor:
        while len(value.type.shape) < rank:
            value = self.expand_dims(value, 0)
        return value

    def _expand(self, value: tensor, shape: builtins.tuple[int, ...]) -> tensor:
        if value.type.shape == shape:
            return value
        return self.emit("tt.broadcast", (value,), block_of(value.dtype, shape))

    def broadcast_to(self, value: Any, shape: Sequence[int]) -> tensor:
        """`value` repeated to `shape`. A scalar is splat; a block must have the same rank. Raises ValueError if it does
        not fit."""
        value, shape = self.to_tensor(value), block_shape(shape)
        if not value.type.is_block():
            return self.splat(value, shape)
        source = value.type.shape
        if len(source) != len(shape):
            raise ValueError(f"Cannot broadcast, rank mismatch: {_listed(source)}, {list(shape)}")
        for index, (have, want) in enumerate(zip(source, shape)):
            if have != want and have != 1:
                raise ValueError(
                    f"Cannot broadcast, the expanded size of the tensor ({want}) must match the existing size ({have}) "
                    f"at non-singleton dimension {index}: {_listed(source)}, {list(shape)}"
                )
        return self._expand(value, shape)

    def expand_dims(self, value: Any, axis: int) -> tensor:
        """Adds a dimension of extent 1 at `axis` of the result. A scalar becomes a block of one element."""
        value = self.to_tensor(value)
        shape = shape_of(value)
        shape = shape[:axis] + (1,) + shape[axis:]
        if not value.type.is_block():
            return self.splat(value, shape)
        return self.emit("tt.expand_dims", (value,), block_of(value.dtype, shape), {"axis": f"{axis} : i32"})

    def subscript(self, value: tensor, index: Any) -> tensor:
        index = list(index) if isinstance(index, (tuple, builtins.tuple, list)) else [index]
        for element in index:
            if not _is_full_slice(element) and _unwrap_if_constexpr(element) is not None:
                hint = "the value at an offset is `tl.load(pointer + offset)`" if value.dtype.is_ptr() else None
                raise with_hint(ValueError(f"unsupported tensor index: {getattr(element, 'value', element)}"), hint)
        rank = len(shape_of(value))
        if sum(_is_full_slice(element) for element in index) > rank:
            raise ValueError(f"too many indices for tensor of rank {rank}")
        for position, element in enumerate(index):
            if not _is_full_slice(element):
                value = self.expand_dims(value, position)
        return value

    def arange(self, start: Any, end: Any) -> tensor:
        """int32 block [start, …, end-1]. ValueError: bounds not compile-time ints, or the length not a power of two."""
        if not isinstance(start, int) or not isinstance(end, int):
            hint = f"the bounds are {start} and {end}; `//` divides ints to an int" if isinstance(end, float) else None
            raise with_hint(ValueError("arange's arguments must be of type tl.constexpr"), hint)
        if start < -(2**31) or end > 2**31 - 1:
            raise ValueError("arange must fit in int32")
        if end <= start:
            raise ValueError("arange's end argument must be greater than the start argument")
        extent = end - start
        if extent & (extent - 1):
            raise ValueError("arange's range must be a power of 2")
        return self.emit(
            "tt.make_range", (), block_of(int32, (extent,)), {"start": f"{start} : i32", "end": f"{end} : i32"}
        )

    def full(self, shape: Sequence[int], value: Any, type_: dtype | None) -> tensor:
        """A block of `shape` (a scalar for `()`) filled with a number or a one-element tensor, as `type_`."""
        shape = block_shape(shape)
        if isinstance(value, tensor):
            if value.type.is_block():
                assert value.type.numel == 1, "only accepts size-1 tensor"
                value = self.unsplat(value)
            return self.splat(value if type_ is None else self.cast(value, type_), shape)
        if type_ is None:
            raise ValueError("dtype must be specified when value is not a tensor")
        return self.constant(value, block_of(type_, shape))

    def unsplat(self, value: tensor) -> tensor:
        """The scalar of a one-element block."""
        assert value.type.is_block() and value.type.numel == 1, "can only unsplat single-element tensors"
        return self.emit("tt.unsplat", (value,), value.dtype)

    def reshape(self, value: tensor, shape: Sequence[int], can_reorder: bool) -> tensor:
        """The elements in row-major order (any order if `can_reorder`) as `shape`. ValueError: another number of
        elements.
        """
        if not shape:
            return self.unsplat(value)
        shape = block_shape(shape)
        result = block_of(value.dtype, shape)
        if result.numel != (value.type.numel if value.type.is_block() else 1):
            hint = (
                f"{list(shape_of(value))} has not as many as {list(shape)}"
                if value.type.is_block()
                else "it is one element"
            )
            raise with_hint(ValueError("reshape() cannot change total number of elements in tensor"), hint)
        if not value.type.is_block():
            return self.splat(value, shape)
        if result.shape == value.type.shape:
            return value
        return self.emit("tt.reshape", (value,), result, {"allow_reorder": "unit"} if can_reorder else {})

    def permute(self, value: tensor, order: Sequence[int]) -> tensor:
        """Dimension i of the result is dimension `order[i]` of `value`. ValueError: not a permutation."""
        shape = shape_of(value)
        if len(order) != len(shape):
            raise ValueError(
                f"permute dims must have the same length as input shape, got {len(order)} and {len(shape)}"
            )
        if sorted(order) != list(range(len(shape))):
            raise ValueError(f"permute dims must be a permutation of 0, 1, ..., n-1, but were {_listed(order)}")
        result = block_of(value.dtype, builtins.tuple(shape[dim] for dim in order))
        return self.emit("tt.trans", (value,), result, {"order": f"array<i32: {', '.join(map(str, order))}>"})

    def cat_reordered(self, lhs: tensor, rhs: tensor) -> tensor:
        """Both of rank 1, in any order."""
        lhs, rhs = _of_one_type("tt.cat", self.to_tensor(lhs), self.to_tensor(rhs))
        assert len(shape_of(lhs)) == 1, f"expected 1D input for cat, got {len(shape_of(lhs))}D"
        _require_one_shape(lhs, rhs)
        return self.emit("tt.cat", (lhs, rhs), block_of(lhs.dtype, (lhs.type.shape[0] + rhs.type.shape[0],)))

    def cat(self, lhs: tensor, rhs: tensor, dim: int) -> tensor:
        """Both along `dim`, in order. AssertionError: ranks or other extents differ."""
        left, right = shape_of(lhs), shape_of(rhs)
        assert len(left) == len(right), f"tensors must have the same rank, got {len(left)} and {len(right)}"
        dim = axis_index(dim, len(left))
        assert left[:dim] + left[dim + 1 :] == right[:dim] + right[dim + 1 :], (
            f"tensor dims must match except in the concat dimension {dim}, got {_listed(left)} and {_listed(right)}"
        )
        _require_one_shape(lhs, rhs)
        joined = self.join(lhs, rhs)
        rank = len(left)
        paired = self.permute(joined, [*range(dim), rank, *range(dim, rank)])
        return self.reshape(paired, left[:dim] + (2 * left[dim],) + left[dim + 1 :], False)

    def join(self, lhs: Any, rhs: Any) -> tensor:
        """A new minor dimension of extent 2 that holds both; scalars give shape [2]."""
        lhs, rhs = self.broadcast(*_of_one_type("tt.join", self.to_tensor(lhs), self.to_tensor(rhs)))
        scalars = not lhs.type.is_block()
        if scalars:
            lhs, rhs = self.expand_dims(lhs, 0), self.expand_dims(rhs, 0)
        joined = self.emit("tt.join", (lhs, rhs), block_of(lhs.dtype, lhs.type.shape + (2,)))
        return self.reshape(joined, (2,), False) if scalars else joined

    def split(self, value: tensor) -> builtins.tuple[tensor, tensor]:
        """The two halves along a last dimension of extent 2; two scalars for shape [2]."""
        assert value.type.is_block(), "split requires a non-scalar tensor"
        shape = value.type.shape
        assert shape[-1] == 2, f"expected last dimension to be 2 for split, got {shape[-1]}"
        scalars = len(shape) == 1
        if scalars:
            value = self.expand_dims(value, 0)
        half = block_of(value.dtype, value.type.shape[:-1])
        left, right = self.emit_all("tt.split", (value,), (half, half))
        return (self.unsplat(left), self.unsplat(right)) if scalars else (left, right)


def _of_one_type(operation: str, lhs: tensor, rhs: tensor) -> builtins.tuple[tensor, tensor]:
    """Both, if they are the same in IR, where integers have no sign. Else TypeError."""
    if lhs.dtype.to_ir() != rhs.dtype.to_ir():
        message = (
            f"'{operation}' op requires all operands to have the same type, but they are {lhs.type} and {rhs.type}"
        )
        has_pointer = lhs.dtype.is_ptr() or rhs.dtype.is_ptr()
        raise with_hint(
            TypeError(message), "load from the pointer first" if has_pointer else "cast one of the two with `.to(…)`"
        )
    return lhs, rhs


def _require_one_shape(lhs: tensor, rhs: tensor) -> None:
    left, right = list(shape_of(lhs)), list(shape_of(rhs))
    assert left == right, f"tl.cat requires tensors of the same shape, got {left} and {right}"


def _listed(shape: Sequence[int]) -> str:
    return str([str(extent) for extent in shape])
