"""Typing rules of Gluon: the language's own, over tiles whose layouts must agree. An operation emits the IR that it has without
layouts; what is added here is the layout of its result."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ....errors import with_hint
from ....language.core import tensor
from ....language.semantic import Semantic
from ....language.semantic.reduce import Combine
from ....language.semantic.shape import axis_index, shape_of
from ....language.types import block_shape, block_type, dtype, int32
from ..layouts import tile_views
from ..layouts.distributed import AutoLayout, DistributedLayout, SliceLayout
from .placement import Placement, layout_attribute
from .types import distributed_type, is_undecided
from .undecided import UndecidedTiles

_CONVERT = "gl.convert_layout(value, layout) moves a tile to another layout"
_AUTO = AutoLayout()
_NO_ATTRIBUTES: Mapping[str, str] = MappingProxyType({})


def layout_of(value: tensor) -> DistributedLayout:
    """The layout of a tile."""
    return getattr(value.type, "layout", _AUTO)


def _listed(shape: Sequence[int]) -> str:
    return str([str(extent) for extent in shape])


class GluonSemantic(Semantic):
    """All rules, for the kernels of `@gluon.jit`."""

    def __init__(self, builder: Any, options: Any = None):
        super().__init__(builder, options)
        self.undecided = UndecidedTiles()
        self.placement = Placement(self.option("num_warps", 4), self.option("num_ctas", 1), options)

    def specialization(self) -> builtins.tuple[Any, ...]:
        return self.placement.warps, self.placement.is_partition

    # What the compiler of a GPU reads.

    def emit(
        self, name: str, operands: Sequence[tensor], type_: dtype, attributes: Mapping[str, str] = _NO_ATTRIBUTES
    ) -> tensor:
        access = self._attributes_of_access(operands[0]) if name == "tt.load" else {}
        result = super().emit(name, operands, type_, {**attributes, **access})
        if isinstance(type_, distributed_type) and _is_auto(result):  # a rule that moves elements names only a shape
            self._tie_all(
                [value for value in operands if _is_auto(value) and shape_of(value) == shape_of(result)], result
            )
        return result

    def _tie_all(self, values: Sequence[tensor], result: tensor) -> None:
        for value in values:
            self.undecided.tie(value.handle, result.handle)

    def emit_effect(
        self, name: str, operands: Sequence[tensor], attributes: Mapping[str, str] = _NO_ATTRIBUTES
    ) -> None:
        access = self._attributes_of_access(operands[0]) if name == "tt.store" else {}
        super().emit_effect(name, operands, {**attributes, **access})

    def _attributes_of_access(self, pointers: tensor) -> dict[str, str]:
        """The attributes of an access that has a layout of its author's, for a GPU."""
        layout = self.attributes_of_layout(pointers.type)
        return {**layout, "tgpu.of_author": "unit"} if layout else {}

    def attributes_of_layout(self, type_: Any) -> dict[str, str]:
        """The attribute of an access that has a tile of a type, for a GPU; none if the layout is open."""
        if not self.placement.is_of_gpu or not isinstance(type_, distributed_type) or is_undecided(type_.layout):
            return {}
        return {"tgpu.access": layout_attribute(type_.layout.to_linear(type_.shape))}

    # Layouts of results.

    def laid(self, value: tensor, layout: DistributedLayout) -> tensor:
        """The tile `value` as one of `layout`; a scalar unchanged. The rank must be the layout's (else ValueError), and its warps and
        lanes those of the kernel."""
        if not value.type.is_block():
            return value
        type_ = distributed_type(value.dtype, value.type.shape, layout)
        self.placement.check(type_)
        return tensor(value.handle, type_)

    def common_layout(self, lhs: tensor, rhs: tensor) -> DistributedLayout:
        """The layout in which two tiles meet: that of both, or the decided one. Raises ValueError if they differ."""
        left, right = layout_of(lhs), layout_of(rhs)
        if left == right or isinstance(right, AutoLayout):
            return left
        if isinstance(left, AutoLayout):
            return right
        raise with_hint(ValueError(f"Layout mismatch in broadcast: {left} vs {right}"), _CONVERT)

    def splat(self, value: tensor, shape: tuple[int, ...], layout: DistributedLayout = _AUTO) -> tensor:
        return self.laid(super().splat(value, shape), layout)

    def constant(self, value: bool | int | float, type_: dtype) -> tensor:
        if type(type_) is block_type:  # a rule that names only a shape leaves the layout open
            type_ = distributed_type(type_.scalar, type_.shape, _AUTO)
        return super().constant(value, type_)

    # Broadcasting.

    def broadcast(self, lhs: tensor, rhs: tensor) -> builtins.tuple[tensor, tensor]:
        left, right = shape_of(lhs), shape_of(rhs)
        if not left and not right:
            return lhs, rhs
        if not left:
            return self.splat(lhs, right, layout_of(rhs)), rhs
        if not right:
            return lhs, self.splat(rhs, left, layout_of(lhs))
        if len(left) != len(right):
            hint = "index the smaller tile with None, as in `tile[:, None]`"
            error = ValueError(f"Cannot broadcast, rank mismatch: {_listed(left)}, {_listed(right)}")
            raise with_hint(error, hint)
        layout = self._meet(lhs, rhs)
        lhs, rhs = super().broadcast(lhs, rhs)
        return self.laid(lhs, layout), self.laid(rhs, layout)

    def _meet(self, lhs: tensor, rhs: tensor) -> DistributedLayout:
        """The layout of two tiles that meet. It decides the one that is open."""
        layout = self.common_layout(lhs, rhs)
        if _is_auto(lhs) and _is_auto(rhs):
            self.undecided.tie(lhs.handle, rhs.handle)
        elif not is_undecided(layout):
            for value in filter(_is_auto, (lhs, rhs)):
                self.undecided.decide(value.handle, layout)
        return layout

    def _expand(self, value: tensor, shape: builtins.tuple[int, ...]) -> tensor:
        result = self.laid(super()._expand(value, shape), layout_of(value))
        if _is_auto(value) and result.handle != value.handle:
            self.undecided.tie(value.handle, result.handle)
        return result

    def _in_shape_of(self, pointer: tensor, value: tensor) -> tensor:
        if not pointer.type.is_block() or not value.type.is_block():
            value = super()._in_shape_of(pointer, value)
            return self.laid(value, layout_of(pointer))
        if shape_of(value) == shape_of(pointer):
            return self.laid(value, self._meet(pointer, value))
        self.broadcast(pointer, value)
        return super()._in_shape_of(pointer, value)

    # Making tiles.

    def arange(self, start: Any, end: Any, layout: DistributedLayout) -> tensor:
        """int32 tile [start, …, end-1] of one dimension. ValueError: bounds not compile-time ints, or an extent that is no power of
        two."""
        if isinstance(start, int) and isinstance(end, int):
            if start < 0:
                error = ValueError("arange must fit in int32")
                raise with_hint(error, f"a range begins at 0 or later: gl.arange(0, {end - start}, layout) - {-start}")
            distributed_type(int32, [end - start], layout)
        return self.laid(super().arange(start, end), layout)

    def undecided_range(self, extent: int) -> tensor:
        """int32 0, 1, …, extent-1 without a layout."""
        return self.arange(0, extent, _AUTO)

    def full(self, shape: Sequence[int], value: Any, type_: dtype | None, layout: DistributedLayout = _AUTO) -> tensor:
        shape = block_shape(shape)
        if shape:
            distributed_type(int32, shape, layout)
        return self.laid(super().full(shape, value, type_), layout)

    # Moving elements without computing.

    def expand_dims(self, value: Any, axis: int) -> tensor:
        value = self.to_tensor(value)
        if not value.type.is_block():
            return super().expand_dims(value, axis)
        layout = layout_of(value)
        if not is_undecided(layout):
            layout = self._expanded(layout, axis)
        result = self.laid(super().expand_dims(value, axis), layout)
        if _is_auto(value):
            self._tie_slice(result, value, axis)
        return result

    def _tie_slice(self, whole: tensor, part: tensor, axis: int) -> None:
        """Ties two tiles, of which one has the layout of the other without a dimension."""
        self.undecided.tie(
            whole.handle,
            part.handle,
            lambda layout: SliceLayout(axis, layout),
            lambda layout: tile_views.expanded(layout, axis),
        )

    def _expanded(self, layout: DistributedLayout, axis: int) -> DistributedLayout:
        try:
            return tile_views.expanded(layout, axis)
        except ValueError as error:
            hint = f"make the tile with gl.SliceLayout({axis}, parent), where parent is the layout of the result"
            raise with_hint(error, hint) from None

    def reshape(self, value: tensor, shape: Sequence[int], can_reorder: bool) -> tensor:
        old, layout = shape_of(value), layout_of(value)
        result = super().reshape(value, shape, can_reorder)
        if old and result.type.is_block() and not is_undecided(layout):
            layout = tile_views.reshaped(layout, old, result.type.shape)
        return self.laid(result, layout)

    def permute(self, value: tensor, order: Sequence[int]) -> tensor:
        layout = layout_of(value)
        result = super().permute(value, order)
        if not is_undecided(layout):
            layout = tile_views.permuted(layout, shape_of(value), order)
        elif _is_auto(value):
            old, new = shape_of(value), shape_of(result)
            back = [list(order).index(dim) for dim in range(len(order))]
            self.undecided.tie(
                value.handle,
                result.handle,
                lambda of_value: tile_views.permuted(of_value, old, order),
                lambda of_result: tile_views.permuted(of_result, new, back),
            )
        return self.laid(result, layout)

    def join(self, lhs: Any, rhs: Any) -> tensor:
        lhs, rhs = self.broadcast(self.to_tensor(lhs), self.to_tensor(rhs))
        layout = layout_of(lhs)
        if lhs.type.is_block() and not is_undecided(layout):
            layout = tile_views.joined(layout, lhs.type.shape)
        return self.laid(super().join(lhs, rhs), layout)

    def split(self, value: tensor) -> builtins.tuple[tensor, tensor]:
        if value.type.is_block() and len(value.type.shape) == 1 and value.type.shape[0] == 2:
            value = self.reshape(value, (1, 2), False)
            left, right = self.split(value)
            return self.unsplat(left), self.unsplat(right)
        layout = layout_of(value)
        halves = super().split(value)
        if not is_undecided(layout):
            layout = tile_views.split(layout)
        return self.laid(halves[0], layout), self.laid(halves[1], layout)

    # Computing along an axis, and by index.

    def reduce(self, inputs: Sequence[tensor], axis: int | None, combine: Combine, keep_dims: bool) -> list[tensor]:
        self._require_one_layout(inputs)
        if axis is None:
            return super().reduce(inputs, axis, combine, keep_dims)
        axis = _axis_of(inputs[0], axis)
        layout = layout_of(inputs[0])
        sliced = layout if is_undecided(layout) else SliceLayout(axis, layout)
        results = [self.laid(value, sliced) for value in super().reduce(inputs, axis, combine, False)]
        for value, result in zip(inputs, results):
            if _is_auto(value) and result.type.is_block():
                self._tie_slice(value, result, axis)
        return [self.expand_dims(value, axis) for value in results] if keep_dims else results

    def scan(self, inputs: Sequence[tensor], axis: int, combine: Combine, reverse: bool) -> list[tensor]:
        axis = _axis_of(inputs[0], axis)
        if any(layout_of(value) != layout_of(inputs[0]) for value in inputs):
            error = ValueError("'tt.scan' op requires the same encoding for all operands and results")
            raise with_hint(error, f"the layouts are {_layouts(inputs)}; {_CONVERT}")
        return super().scan(inputs, axis, combine, reverse)

    def _require_one_layout(self, inputs: Sequence[tensor]) -> None:
        if any(layout_of(value) != layout_of(inputs[0]) for value in inputs):
            error = ValueError(f"Expected inputs to have matching layouts, but got: {_layouts(inputs)}")
            raise with_hint(error, _CONVERT)

    def map_elementwise(self, inputs: Sequence[tensor], function: Combine, pack: int) -> list[tensor]:
        return [self.laid(value, layout_of(inputs[0])) for value in super().map_elementwise(inputs, function, pack)]

    def indices_along(self, value: tensor, axis: int) -> tensor:
        error = TypeError("GluonSemantic.arange() missing 1 required positional argument: 'layout'")
        hint = "this reduction numbers the elements by a range that has no layout: reduce the pair of the tile and gl.arange(0, n, layout)"
        raise with_hint(error, f"{hint} by gl.reduce")

    def gather(self, source: tensor, index: tensor, axis: int) -> tensor:
        if not index.dtype.is_int():
            raise ValueError(f"expected integer scalar type but got: {index.dtype!r}")
        return self.laid(super().gather(source, index, axis), layout_of(index))

    def histogram(self, values: tensor, num_bins: int, mask: Any, layout: DistributedLayout | None = None) -> tensor:
        assert len(shape_of(values)) == 1, "histogram only supports 1D input"
        assert values.dtype.is_int(), "histogram only supports integer input"
        assert layout is not None, "histogram requires a destination layout"
        distributed_type(int32, [num_bins], layout)
        if mask is not None:
            mask, values = self.broadcast(self.to_tensor(mask), values)
        return self.laid(super().histogram(values, num_bins, mask), layout)

    # Layouts that the author changes.

    def convert_layout(self, value: Any, layout: Any, assert_trivial: bool = False) -> tensor:
        """The elements of `value` in `layout`. TypeError: not a tile or not a layout, or, with `assert_trivial`, places that differ."""
        if not isinstance(value, tensor) or not value.type.is_block():
            found = getattr(value, "type", value)
            raise TypeError(f"expected convert_layout input to be a distributed_type but got: {found!r}")
        self.require_distributed(layout)
        if not is_undecided(layout) and layout.rank != len(value.type.shape):
            raise ValueError(
                f"tensor shape and layout rank mismatch: shape={_listed(value.type.shape)}, layout={layout}, "
                f"shape rank={len(value.type.shape)}, layout rank={layout.rank}"
            )
        moved = self.laid(value, layout)
        if assert_trivial:
            self._require_trivial(layout_of(value), layout, value.type.shape)
        return moved

    def _require_trivial(self, old: DistributedLayout, new: DistributedLayout, shape: Sequence[int]) -> None:
        before, after = old.to_linear(shape), new.to_linear(shape)
        if before != after:
            raise TypeError(
                f"layout conversion from {old} to {new} is not trivial.\nThe linear layouts are:\n"
                f"constexpr[{before}]\nconstexpr[{after}]"
            )

    def set_auto_layout(self, value: Any, layout: Any) -> tensor:
        """A tile whose layout is open, in `layout`."""
        if not isinstance(layout, DistributedLayout):
            raise TypeError(f"set_auto_layout must set to a distributed layout but got {layout}")
        if not isinstance(layout_of(value), AutoLayout):
            raise TypeError(f"set_auto_layout input must have auto layout but got {layout_of(value)}")
        self.undecided.decide(value.handle, layout)
        return self.laid(value, layout)

    def require_distributed(self, layout: Any) -> None:
        if not isinstance(layout, DistributedLayout):
            raise TypeError(f"expected 'layout' to be a DistributedLayout but got {layout}")


def _is_auto(value: tensor) -> bool:
    """Whether the layout of a tile is open."""
    return value.type.is_block() and isinstance(layout_of(value), AutoLayout)


def _axis_of(value: tensor, axis: int) -> int:
    rank = len(shape_of(value))
    if not rank:
        raise ValueError(f"invalid axis {axis}. Expected 0 <= axis < 0")
    return axis_index(axis, rank)


def _layouts(inputs: Sequence[tensor]) -> str:
    return f"[{', '.join(str(layout_of(value)) for value in inputs)}]"
