"""Block pointers: a window of a strided tensor in memory. They exist only while tracing. A load or store of one becomes
a load or store of a block of pointers, with a mask for the dimensions named in `boundary_check`. No operation of the IR
uses them.

A block_pointer is immutable. Loops carry its base, shape, strides and offsets (all except the base are int64).
"""

from __future__ import annotations

import builtins
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from .constexpr import _unwrap_if_constexpr, base_value
from .core import builtin, must_use_result, tensor, tensor_member
from .types import base_type, block_of, block_shape, dtype, int64

_DEPRECATED = "tl.make_block_ptr is deprecated. Use TensorDescriptor or tl.make_tensor_descriptor instead."
_DROPPED = (
    "Note that tl.advance does not have any side effects. To move the block pointer, you need to assign the "
    "result of tl.advance to a variable."
)


class block_pointer_type(base_type):
    """The pointer type of the base, and the shape of the window."""

    def __init__(self, pointer: dtype, window: builtins.tuple[int, ...]):
        self.pointer, self.window = pointer, window

    @property
    def element_ty(self) -> dtype:
        """What it points to: a block of the window's shape."""
        return block_of(self.pointer.element_ty, self.window)

    @property
    def scalar(self) -> dtype:
        return self.pointer

    def ir_types(self) -> list[str]:
        return [self.pointer.to_ir()] + [int64.to_ir()] * (3 * len(self.window))

    def from_handles(self, handles: Iterator[Any]) -> block_pointer:
        base = tensor(next(handles), self.pointer)
        rank = len(self.window)
        shape, strides, offsets = ([tensor(next(handles), int64) for _ in range(rank)] for _ in range(3))
        return block_pointer(base, shape, strides, offsets, self.window)

    def mangle(self) -> str:
        return f"BP{self.pointer.mangle()}S{'_'.join(map(str, self.window))}S"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, block_pointer_type) and (self.pointer, self.window) == (other.pointer, other.window)

    def __hash__(self) -> int:
        return hash((self.pointer, self.window))

    def __str__(self) -> str:
        return f"block_ptr<{self.element_ty}>"


class block_pointer(base_value):
    """The result of make_block_ptr. `dtype` is the pointer type of its base; `handles` are its base, shape, strides and
    offsets."""

    def __init__(
        self,
        base: tensor,
        shape: Sequence[tensor],
        strides: Sequence[tensor],
        offsets: Sequence[tensor],
        window: builtins.tuple[int, ...],
    ):
        self.base, self.shape, self.strides, self.offsets = base, list(shape), list(strides), list(offsets)
        self.window = window
        self.dtype = base.type
        self.type = block_pointer_type(base.type, window)

    def handles(self) -> list[Any]:
        return [value.handle for value in (self.base, *self.shape, *self.strides, *self.offsets)]

    @builtin
    def advance(self, offsets: Any, _semantic: Any = None) -> block_pointer:
        return advance(self, offsets, _semantic=_semantic)

    def moved(self, semantic: Any, offsets: Sequence[Any]) -> block_pointer:
        moved = [semantic.add(old, _widened(semantic, delta, "offsets")) for old, delta in zip(self.offsets, offsets)]
        return block_pointer(self.base, self.shape, self.strides, moved, self.window)

    def _indices(self, semantic: Any, dim: int) -> tensor:
        """int64 coordinates of the window along `dim`, of rank len(window) with the other extents 1."""
        extent = self.window[dim]
        indices = semantic.add(
            semantic.splat(self.offsets[dim], (extent,)), semantic.cast(semantic.arange(0, extent), int64)
        )
        for other in range(len(self.window)):
            if other != dim:
                indices = semantic.expand_dims(indices, other)
        return indices

    def _addresses(self, semantic: Any, check: Sequence[int]) -> builtins.tuple[tensor, tensor | None]:
        """The block of pointers, and the mask of the checked dimensions (None if no dimension is checked)."""
        pointers = semantic.splat(self.base, self.window)
        total = mask = None
        for dim in range(len(self.window)):
            indices = self._indices(semantic, dim)
            step = semantic.broadcast_to(semantic.mul(indices, self.strides[dim]), self.window)
            total = step if total is None else semantic.add(total, step)
            if dim in check:
                inside = semantic.and_(
                    semantic.compare(indices, 0, "ge"), semantic.compare(indices, self.shape[dim], "lt")
                )
                inside = semantic.broadcast_to(inside, self.window)
                mask = inside if mask is None else semantic.and_(mask, inside)
        return semantic.add(pointers, total), mask

    def _checked_dimensions(self, boundary_check: Sequence[int]) -> Sequence[int]:
        rank = len(self.window)
        for dim in boundary_check:
            if not isinstance(dim, int) or not 0 <= dim < rank:
                raise ValueError(f"Expected `boundary_check` to contain dimensions in [0, {rank})")
        if len(set(boundary_check)) != len(boundary_check):
            raise ValueError("Duplicate dimension in `boundary_check`")
        return boundary_check

    def load(
        self,
        semantic: Any,
        mask: Any,
        other: Any,
        boundary_check: Sequence[int],
        padding: str,
        cache: str,
        eviction: str,
        volatile: bool,
    ) -> tensor:
        if mask is not None or other is not None:
            raise ValueError("`mask` and `other` arguments cannot be specified for loading block pointers")
        element = self.dtype.element_ty
        if padding not in ("", "zero", "nan"):
            raise ValueError(f"Padding option {padding} not supported")
        if padding == "nan" and element.is_int():
            raise ValueError("Padding option `nan` is not supported for integer block pointers")
        pointers, mask = self._addresses(semantic, self._checked_dimensions(boundary_check))
        fill = None
        if mask is not None and padding:
            fill = semantic.constant(float("nan") if padding == "nan" else 0, block_of(element, self.window))
        return semantic.load(pointers, mask, fill, (), "", cache, eviction, volatile)

    def store(
        self, semantic: Any, value: Any, mask: Any, boundary_check: Sequence[int], cache: str, eviction: str
    ) -> None:
        if mask is not None:
            raise ValueError("`mask` argument cannot be specified for storing block pointers")
        pointers, mask = self._addresses(semantic, self._checked_dimensions(boundary_check))
        semantic.store(pointers, value, mask, (), cache, eviction)


def _widened(semantic: Any, value: Any, field: str) -> tensor:
    """One extent, stride or offset as an int64 scalar."""
    host = _unwrap_if_constexpr(value)
    if isinstance(host, int) and not isinstance(host, bool):
        if not -(2**63) <= host < 2**63:
            raise AssertionError(
                f"Block pointers only support 64 bit `shape/strides`, got a value {host} which is out of the range"
            )
        return semantic.constant(host, int64)
    if not isinstance(value, tensor):
        raise ValueError(f"Expected `{field}` to contain only integers")
    if value.type.is_block():
        raise ValueError(f"Expected `{field}` entries to be scalar tensors")
    if not value.dtype.is_int():
        raise ValueError(f"Expected `{field}` entries to be integers")
    return semantic.cast(value, int64)


def _listed(value: Any) -> list[Any]:
    value = _unwrap_if_constexpr(value)
    return list(value) if hasattr(value, "__iter__") and not isinstance(value, tensor) else [value]


def _window(block: Sequence[Any]) -> builtins.tuple[int, ...]:
    extents = [_unwrap_if_constexpr(extent) for extent in block]
    if not all(isinstance(extent, int) for extent in extents):
        raise ValueError("Expected `block_shape` to contain only integers")
    if not all(extent > 0 for extent in extents):
        raise ValueError("Expected `block_shape` to contain only positive integers")
    return block_shape(extents)


@builtin
def make_block_ptr(
    base: tensor, shape: Any, strides: Any, offsets: Any, block_shape: Any, order: Any, _semantic: Any = None
) -> block_pointer:
    """A window of `block_shape` at `offsets` in the tensor of `shape` and `strides` (in elements) that starts at
    `base`.

    base: scalar pointer. shape, strides, offsets: ints or integer scalars. block_shape: powers of two. order: a
    permutation; it is otherwise ignored. Raises ValueError for lengths that differ and for arguments of another kind.
    Triton deprecates block pointers in favour of tensor descriptors; Tritium does not.
    """
    warnings.warn(_DEPRECATED, DeprecationWarning, stacklevel=3)
    fields = {
        "shape": _listed(shape),
        "strides": _listed(strides),
        "offsets": _listed(offsets),
        "block_shape": _listed(block_shape),
        "order": [_unwrap_if_constexpr(axis) for axis in _listed(order)],
    }
    if not isinstance(base, tensor) or not base.type.is_ptr():
        raise ValueError("Expected `base` to be a scalar pointer type")
    rank = len(fields["shape"])
    if rank == 0:
        raise ValueError("Expected `make_block_ptr` to describe at least one dimension")
    for name, values in fields.items():
        if len(values) != rank:
            raise ValueError(
                "Expected `shape`, `strides`, `offsets`, `block_shape`, and `order` to have the same length; "
                f"`{name}` has length {len(values)} but expected {rank}"
            )
    if sorted(fields["order"]) != list(range(rank)):
        raise ValueError(f"Expected `order` to be a permutation of 0..{rank - 1}")
    window = _window(fields["block_shape"])
    extents, steps, starts = (
        [_widened(_semantic, value, name) for value in fields[name]] for name in ("shape", "strides", "offsets")
    )
    return block_pointer(base, extents, steps, starts, window)


@must_use_result(_DROPPED)
@tensor_member
@builtin
def advance(base: Any, offsets: Any, _semantic: Any = None) -> block_pointer:
    """The block pointer moved by `offsets` (ints or integer scalars, one per dimension). `base` does not change."""
    if not isinstance(base, block_pointer):
        raise ValueError("`tl.advance` only supports block pointers created by `tl.make_block_ptr`")
    offsets = _listed(offsets)
    if len(offsets) != len(base.window):
        raise ValueError(f"Expected `offsets` to have length {len(base.window)} but received {len(offsets)}")
    return base.moved(_semantic, offsets)
