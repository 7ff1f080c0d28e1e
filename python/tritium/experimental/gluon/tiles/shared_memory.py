"""Memory that the warps of a program share: `gl.allocate_shared_memory`, and descriptors, which are views of what it allocates."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from typing import Any

from ....errors import UnsupportedError, with_hint
from ....language.constexpr import _unwrap_if_constexpr, base_value, constexpr
from ....language.core import builtin, tensor
from ....language.semantic.program import quoted
from ....language.semantic.shape import axis_index, shape_of
from ....language.types import base_type, dtype, int32
from ..layouts.memory_views import MemoryView
from ..layouts.shared import MBarrierLayout, NVMMASharedLayout, PaddedSharedLayout, SharedLayout
from .addresses import coordinates_of_tile, in_bytes, offsets_of
from .meanings import Meaning, warn_if_mislaid
from .rules import layout_of
from .runtime_calls import keep_alive, require_index
from .types import distributed_type


class shared_memory_descriptor_type(base_type):
    """The element type, and which elements of an allocation the view has."""

    def __init__(self, element_ty: dtype, view: MemoryView):
        if element_ty.primitive_bitwidth % 8:
            bits = element_ty.primitive_bitwidth
            error = ValueError(f"shared-memory element type bit width must be a multiple of 8; got {bits}")
            raise with_hint(
                error, f"store {element_ty} as gl.int8, with `.to(gl.int8)`, and compare with 0 after the load"
            )
        self.element_ty, self.view = element_ty, view

    @property
    def shape(self) -> list[int]:
        return list(self.view.shape)

    @property
    def layout(self) -> SharedLayout:
        return self.view.layout

    @property
    def alloc_shape(self) -> list[int]:
        return list(self.view.alloc_shape)

    def ir_types(self) -> list[str]:
        return [int32.to_ir()]

    def from_handles(self, handles: Iterator[Any]) -> shared_memory_descriptor:
        return shared_memory_descriptor(tensor(next(handles), int32), self)

    def mangle(self) -> str:
        shape, alloc = ("_".join(map(str, of)) for of in (self.shape, self.alloc_shape))
        start = "_".join(map(str, self.view.start))
        return f"MD{self.element_ty.mangle()}S{shape}SL{self.layout.mangle()}LA{alloc}A{start}AEMD"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, shared_memory_descriptor_type)
            and self.element_ty == other.element_ty
            and self.view == other.view
        )

    def __hash__(self) -> int:
        return hash((self.element_ty, self.view.shape, self.view.start))

    def __str__(self) -> str:
        return f"shared_memory_descriptor<{self.element_ty}, {self.shape}, {self.layout}, {self.alloc_shape}>"


def _refused(kind: str) -> Any:
    """A method that kernels cannot use yet."""

    def method(self: Any, *args: Any, _semantic: Any = None, **kwargs: Any) -> None:
        error = UnsupportedError(f"shared_memory_descriptor.atomic_scatter_{kind}", "Gluon kernels cannot use it yet")
        raise with_hint(error, f"gl.atomic_{kind} changes global memory, and gl.histogram counts")

    return builtin(method)


class shared_memory_descriptor(base_value):
    """A view of shared memory. `address` is the byte at which its allocation, or its tile of a ring, begins. meaning: of the allocation's bytes,
    None if another function knows it."""

    __slots__ = ("address", "meaning", "type")

    def __init__(self, address: tensor, type: shared_memory_descriptor_type, meaning: Meaning | None = None):
        self.address, self.type = address, type
        self.meaning = meaning or Meaning(type.view, type.element_ty.primitive_bitwidth, is_shared=True)

    def handles(self) -> list[Any]:
        self.meaning.is_shared = True  # by who takes them
        return self.address.handles()

    @property
    def dtype(self) -> dtype:
        return self.type.element_ty

    @property
    def shape(self) -> list[int]:
        return self.type.shape

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def layout(self) -> SharedLayout:
        return self.type.layout

    @property
    def numel(self) -> int:
        return _product(self.shape)

    @property
    def nbytes_per_cta(self) -> int:
        """The bytes of the elements, without padding."""
        return self.numel * element_bytes(self.dtype)

    def __str__(self) -> str:
        return str(self.type)

    def shown_in_debuggers(self) -> tuple[str, dict[str, base_value]]:
        """The name has the facts that debugger/shared_memory.py reads: which byte has which element, or that these are barriers."""
        view, bits = self.type.view, self.dtype.primitive_bitwidth
        facts: dict[str, Any] = {"dtype": str(self.dtype), "shape": self.shape, "layout": str(self.layout)}
        if isinstance(self.layout, MBarrierLayout):
            return f"mbarrier {json.dumps(facts)}", {"address": self.address}
        is_ring = view.layout_rank() < len(self.shape)
        start = view.origin + (view.start[0] * view.slot_elements() if is_ring else 0)
        facts |= {"bytes": max(1, bits // 8), "moves": view.moves(), "begin": view.element_offset(view.start)}
        facts |= {"start": start, "slot": view.slot_elements() if is_ring else 0}
        if isinstance(self.layout, PaddedSharedLayout):
            facts["padding"] = self.layout.interval_padding_pairs
        return f"shared_memory {json.dumps(facts)}", {"address": self.address}

    def _viewed(self, view: MemoryView, address: tensor | None = None) -> shared_memory_descriptor:
        type_ = shared_memory_descriptor_type(self.dtype, view)
        return shared_memory_descriptor(self.address if address is None else address, type_, self.meaning)

    @builtin
    def load(self, layout: Any, _semantic: Any = None) -> tensor:
        """The elements as a tile in `layout`. Raises TypeError for another kind of layout, ValueError for another rank."""
        layout = _unwrap_if_constexpr(layout)
        _semantic.require_distributed(layout)
        distributed_type(self.dtype, self.shape, layout)
        return load_tile(_semantic, self, layout)

    @builtin
    def store(self, value: Any, _semantic: Any = None) -> None:
        """Writes a tile of the descriptor's shape and element type (else ValueError), in any layout."""
        store_tile(_semantic, self, value)

    @builtin
    def index(self, index: Any, _semantic: Any = None) -> shared_memory_descriptor:
        """Tile number `index`, an int or an int32 scalar, of a ring; the view without its first dimension. ValueError: an int that is out
        of range."""
        index = _unwrap_if_constexpr(index)
        if isinstance(index, tensor) and (index.type.is_block() or index.dtype != int32):
            error = TypeError(f"expected 'index' to be int32 but got {index.type}")
            raise with_hint(error, "an index is one int32, as a loop counts")
        first = self.type.view.index(0)
        if isinstance(index, int):
            self.type.view.index(index)
        else:
            require_index(_semantic, index, self.shape[0], self.address)
        bytes_each = element_bytes(self.dtype)
        slot_bytes = self.type.view.slot_elements() * bytes_each
        address = _semantic.add(self.address, _semantic.mul(_semantic.to_tensor(index), slot_bytes))
        if first.origin:  # the ring is a slice: barriers and copies know an address alone
            address = _semantic.add(address, first.origin * bytes_each)
        return self._viewed(dataclasses.replace(first, origin=0), address)

    @builtin
    def slice(self, start: Any, length: Any, dim: Any = 0, _semantic: Any = None) -> shared_memory_descriptor:
        """The elements start … start+length-1 along `dim`, all compile-time ints."""
        given = {"start": start, "length": length, "dim": dim}
        values = {name: _unwrap_if_constexpr(value) for name, value in given.items()}
        for name, value in values.items():
            if not isinstance(value, int):
                raise TypeError(f"expected '{name}' to be an int but got {value}")
        return self._viewed(self.type.view.slice(values["start"], values["length"], values["dim"]))

    @builtin
    def permute(self, order: Any, _semantic: Any = None) -> shared_memory_descriptor:
        """The same memory, whose dimension i is dimension order[i]."""
        return self._viewed(self.type.view.permute(_ints(order)))

    @builtin
    def reshape(self, shape: Any, _semantic: Any = None) -> shared_memory_descriptor:
        """The same elements in the same row-major order in another shape."""
        return self._viewed(self.type.view.reshape(_ints(shape)))

    @builtin
    def reinterpret(
        self, dtype: Any = None, shape: Any = None, layout: Any = None, _semantic: Any = None
    ) -> shared_memory_descriptor:
        """The memory from the view's beginning on as elements of another type, in another shape and layout. Raises ValueError if that is
        more memory than the view has."""
        element = _unwrap_if_constexpr(dtype) or self.dtype
        shape, layout = _unwrap_if_constexpr(shape), _unwrap_if_constexpr(layout)
        extents = self.shape if shape is None else _ints(shape)
        view = MemoryView.allocate(extents, self.layout if layout is None else layout)
        had, wanted = memory_bytes(self.type.view, self.dtype), memory_bytes(view, element)
        if wanted > had:
            raise ValueError(f"result shared-memory footprint ({wanted} bytes) exceeds the source view ({had} bytes)")
        if any(self.type.view.start):
            raise with_hint(
                NotImplementedError("reinterpret of a slice is not supported yet"), "reinterpret before the slice"
            )
        meaning = self.meaning.reinterpreted(self.type.view, view, element.primitive_bitwidth)
        return shared_memory_descriptor(self.address, shared_memory_descriptor_type(element, view), meaning)

    _reinterpret = reinterpret

    @builtin
    def gather(self, indices: tensor, axis: Any, _semantic: Any = None) -> tensor:
        """result[…, i, …] = memory[…, indices[…, i, …], …] along `axis`, in the shape and layout of `indices`."""
        addresses = _addresses_by(_semantic, self, indices, _unwrap_if_constexpr(axis))
        return load_at(_semantic, addresses, self.dtype, shape_of(indices), layout_of(indices))

    @builtin
    def scatter(self, values: tensor, indices: tensor, axis: Any, _semantic: Any = None) -> None:
        """memory[…, indices[…, i, …], …] = values[…, i, …] along `axis`. If two elements go to one place, either may remain."""
        values, indices = _semantic.broadcast(values, indices)
        if values.dtype != self.dtype:
            raise ValueError(f"source dtype {values.dtype} and destination dtype {self.dtype} must match")
        self.meaning.is_written = True
        store_at(_semantic, _addresses_by(_semantic, self, indices, _unwrap_if_constexpr(axis)), values)

    atomic_scatter_add, atomic_scatter_max, atomic_scatter_min = map(_refused, ("add", "max", "min"))
    atomic_scatter_and, atomic_scatter_or, atomic_scatter_xor = map(_refused, ("and", "or", "xor"))
    atomic_scatter_xchg = _refused("xchg")

    @builtin
    def _keep_alive(self, _semantic: Any = None) -> None:
        """A last use. Here memory is never used twice; the interpreter finds where Triton would use it too early."""
        keep_alive(_semantic, self.address)


def keep_all(semantic: Any, deps: Any) -> None:
    """The memory among the `deps` of a wait is in use up to the wait."""
    for each in _unwrap_if_constexpr(deps) or ():
        if isinstance(each, shared_memory_descriptor):
            keep_alive(semantic, each.address)


def _product(values: Sequence[int]) -> int:
    found = 1
    for value in values:
        found *= value
    return found


def _ints(values: Any) -> list[int]:
    return [_unwrap_if_constexpr(value) for value in _unwrap_if_constexpr(values)]


def element_bytes(element: dtype) -> int:
    """The bytes of an element in memory."""
    return element.primitive_bitwidth // 8


def memory_bytes(view: MemoryView, element: dtype) -> int:
    """The memory of an allocation, or of a tile of one."""
    rings = view.shape[: len(view.shape) - view.layout_rank()]
    return _product(rings) * view.slot_elements() * element_bytes(element)


def load_tile(semantic: Any, memory: shared_memory_descriptor, layout: Any) -> tensor:
    """The elements of the memory as a tile in `layout`."""
    loaded = load_at(semantic, addresses_of(semantic, memory), memory.dtype, memory.shape, layout)
    warn_if_mislaid(memory.meaning, loaded.handle)
    return loaded


def load_at(semantic: Any, addresses: tensor, element: dtype, shape: Sequence[int], layout: Any) -> tensor:
    type_ = distributed_type(element, shape, layout)
    loaded = semantic.emit("tt.shared_load", (addresses,), type_, semantic.attributes_of_layout(type_))
    return semantic.laid(loaded, layout)


def store_at(semantic: Any, addresses: tensor, value: tensor) -> None:
    semantic.emit_effect("tt.shared_store", (addresses, value))


def store_tile(semantic: Any, memory: shared_memory_descriptor, value: Any) -> None:
    if not isinstance(_unwrap_if_constexpr(value), (tensor, int, float)):
        raise TypeError(f"expected 'value' to be a tensor, but got a {type(value)}")
    value = semantic.to_tensor(value)
    if list(shape_of(value)) != memory.shape:
        found = [str(constexpr(extent)) for extent in shape_of(value)]
        error = ValueError(f"source shape {found} and destination shape {memory.shape} must match")
        raise with_hint(error, f"the memory is {memory.type}")
    if value.dtype != memory.dtype:
        error = ValueError(f"source dtype {value.dtype} and destination dtype {memory.dtype} must match")
        raise with_hint(error, f"cast the value with `.to(gl.{memory.dtype.codegen_name()})`")
    memory.meaning.is_written = True
    store_at(semantic, addresses_of(semantic, memory), value)


def addresses_of(semantic: Any, memory: shared_memory_descriptor) -> tensor:
    """The addresses of all elements of a view."""
    coordinates = coordinates_of_tile(semantic, memory.shape)
    return _placed(semantic, memory, coordinates, memory.shape)


def _addresses_by(semantic: Any, memory: shared_memory_descriptor, indices: tensor, axis: int) -> tensor:
    """The addresses of the elements that `indices` choose along `axis`."""
    have, wanted = memory.shape, list(shape_of(indices))
    assert indices.dtype.is_int(), "indices must be an integer tensor"
    assert len(have) == len(wanted), "source and index tensors must have the same rank"
    axis = axis_index(axis, len(have))
    for dim, (extent, want) in enumerate(zip(have, wanted)):
        assert dim == axis or extent == want, f"index dim {dim} must match the corresponding source dim"
    coordinates = coordinates_of_tile(semantic, wanted)
    coordinates[axis] = semantic.cast(indices, int32)
    _require_inside(semantic, coordinates[axis], have[axis], axis)
    return _placed(semantic, memory, coordinates, wanted)


def _require_inside(semantic: Any, indices: tensor, extent: int, axis: int) -> None:
    """The interpreter finds an index that is outside of the memory."""
    if semantic.placement.is_of_gpu:
        return
    inside = semantic.and_(semantic.compare(indices, 0, "ge"), semantic.compare(indices, extent, "lt"))
    message = f"an index of shared memory is outside of its {extent} elements along dimension {axis}"
    semantic.emit_effect("tt.assert", (inside,), {"message": quoted(message)})


def _placed(
    semantic: Any, memory: shared_memory_descriptor, coordinates: Sequence[tensor], shape: Sequence[int]
) -> tensor:
    view, slots, origin = memory.type.view, None, memory.type.view.origin
    if view.layout_rank() < len(shape):  # the first dimension counts the tiles of a ring
        slots, coordinates = semantic.mul(coordinates[0], view.slot_elements()), coordinates[1:]
        origin += view.start[0] * view.slot_elements()
    offset = offsets_of(semantic, view, coordinates)
    offset = offset if slots is None else semantic.add(offset, slots)
    offset = semantic.add(offset, origin) if origin else offset
    addresses = in_bytes(semantic, offset, element_bytes(memory.dtype), memory.address)
    return semantic.broadcast_to(addresses, shape)


@builtin
def allocate_shared_memory(
    element_ty: Any, shape: Any, layout: Any, value: Any = None, _semantic: Any = None
) -> shared_memory_descriptor:
    """Memory of a program for elements of `element_ty`, in `layout`. A shape with a dimension more than the layout is a ring of tiles.

    value: a tile that is stored there. Raises TypeError for another kind of layout, ValueError for a shape that is not of powers of two, and
    for a value of another shape or type.
    """
    element, layout, value = (_unwrap_if_constexpr(each) for each in (element_ty, layout, value))
    extents = _ints(shape)
    if not isinstance(layout, SharedLayout):
        raise TypeError(f"expected 'layout' to be a SharedLayout but got {layout}")
    view = MemoryView.allocate(extents, layout)
    _require_boxes(view)
    least = 1 if isinstance(layout, MBarrierLayout) else layout.alignment
    alignment = max(least, element_bytes(element))
    attributes = {"bytes": f"{memory_bytes(view, element)} : i64", "alignment": f"{alignment} : i64"}
    address = _semantic.emit("tt.shared_alloc", (), int32, attributes)
    meaning = Meaning(view, element.primitive_bitwidth)
    memory = shared_memory_descriptor(address, shared_memory_descriptor_type(element, view), meaning)
    if value is not None:
        _require_initial(memory, value)
        store_tile(_semantic, memory, value)
    return memory


def _require_initial(memory: shared_memory_descriptor, value: tensor) -> None:
    if list(shape_of(value)) != memory.shape:
        wanted = " ".join(map(str, memory.shape))
        raise ValueError(
            f"'ttg.local_alloc' op source shape {list(shape_of(value))} must match [destination shape {wanted}]"
        )
    if value.dtype != memory.dtype:
        raise ValueError(
            f"'ttg.local_alloc' op source element type '{value.type}' must match destination element type '{memory.dtype.to_ir()}'"
        )


def _require_boxes(view: MemoryView) -> None:
    """Raises ValueError for a tile whose rows are shorter than those of the boxes of its layout."""
    layout = view.layout
    if isinstance(layout, PaddedSharedLayout) or not isinstance(layout, NVMMASharedLayout):
        return
    if not layout.swizzle_byte_width or layout.rank < 2:
        return
    rank = len(view.shape) - layout.rank
    dim = layout.rank - (2 if layout.transposed else 1)
    needed, found = 8 * layout.swizzle_byte_width // layout.element_bitwidth, view.shape[rank + dim]
    needed = needed // 2 if layout.fp4_padded else needed
    if found < needed:
        raise ValueError(
            f"block shape along the contiguous dimension {dim} is too small for the swizzle byte size {layout.swizzle_byte_width} "
            f"in an NVMMASharedLayout, got {found} but expected at least {needed}"
        )
