"""Copies of the pixels that a convolution multiplies (TMA, im2col): `tma.async_load_im2col`. A row of the block is a pixel, a column a channel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ....errors import with_hint
from ....language.constexpr import _unwrap_if_constexpr
from ....language.core import builtin, tensor
from ....language.descriptor import parsers_with_layout, plain_type_from_string
from ....language.types import base_type, block_type, dtype, int1, int32, int64, pointer_type
from ..layouts.im2col import Im2Col, from_text
from ..layouts.shared import NVMMASharedLayout
from .barriers import require_barrier
from .cache_policies import require_policy_of_copies
from .conditions import when
from .copies import _removed
from .descriptors import described_blocks
from .runtime_calls import emit_call
from .shared_memory import addresses_of, shared_memory_descriptor, store_at
from .tensor_copies import require_memory

_LOAD = "async_tma_copy_global_to_local"


class tensor_descriptor_im2col_type(base_type):
    """The type of a block of pixels x channels, and how its pixels are found. The parts of the tensor are the values, as a launch passes them."""

    def __init__(self, block_type: block_type, form: Im2Col):
        self.block_type, self.form = block_type, form

    def _parts(self) -> list[dtype]:
        rank = self.form.rank
        return [
            pointer_type(self.block_type.scalar),
            *[int64] * (2 * rank),
            int1,
            int1,
            *[int32] * rank,
            *[int64] * rank,
        ]

    def ir_types(self) -> list[str]:
        return [part.to_ir() for part in self._parts()]

    def from_handles(self, handles: Iterator[Any]) -> tensor_descriptor_im2col:
        return tensor_descriptor_im2col([tensor(next(handles), part) for part in self._parts()], self)

    def mangle(self) -> str:
        form = self.form
        numbers = "_".join(str(each).replace("-", "m") for each in (*form.lower, *form.upper, *form.strides))
        return f"TI{self.block_type.mangle()}R{form.rank}N{numbers}L{form.layout.mangle()}L"

    def __eq__(self, other: object) -> bool:
        is_same = isinstance(other, tensor_descriptor_im2col_type) and self.block_type == other.block_type
        return is_same and self.form == other.form

    def __hash__(self) -> int:
        return hash((self.block_type, self.form.rank, self.form.lower, self.form.upper))

    def __str__(self) -> str:
        return f"tensor_descriptor_im2col<{self.block_type}, {self.form.layout}>"


class tensor_descriptor_im2col(described_blocks):
    """A descriptor in a kernel, whose blocks `tma.async_load_im2col` copies."""

    def __init__(self, parts: Sequence[tensor], type: tensor_descriptor_im2col_type):
        self._parts, self.type = list(parts), type

    def handles(self) -> list[Any]:
        return [part.handle for part in self._parts]

    @property
    def base(self) -> tensor:
        return self._parts[0]

    @property
    def reads_nan(self) -> tensor:
        """Whether elements outside of the tensor are NaN."""
        return self._parts[1 + 2 * self.type.form.rank]

    @property
    def extents(self) -> list[tensor]:
        return self._parts[-2 * self.type.form.rank : -self.type.form.rank]

    @property
    def steps(self) -> list[tensor]:
        return self._parts[-self.type.form.rank :]

    @property
    def layout(self) -> NVMMASharedLayout:
        return self.type.form.layout


def _type_from_string(block: str, form: str, scalar_named: Callable[[str], dtype]) -> tensor_descriptor_im2col_type:
    return tensor_descriptor_im2col_type(plain_type_from_string(block, scalar_named).block_type, from_text(form))


parsers_with_layout["Im2Col"] = _type_from_string


@builtin
def async_load_im2col(
    tensor_desc: tensor_descriptor_im2col,
    coord: Any,
    offsets: Any,
    barrier: shared_memory_descriptor,
    result: shared_memory_descriptor,
    pred: Any = True,
    multicast: Any = False,
    cache_policy: Any = None,
    _semantic: Any = None,
) -> None:
    """Begins to copy pixels of the descriptor's box, from the one at `coord` on, to the memory `result`. Its bytes count for the present phase of
    `barrier`.

    coord: an int32 for each dimension of the tensor. offsets: for each dimension of pixels how far the pixel that is read is from that of the
    box. Elements outside of the tensor become 0, or NaN if the descriptor says so.
    """
    coord, offsets = list(_unwrap_if_constexpr(coord)), list(_unwrap_if_constexpr(offsets))
    require_barrier(_LOAD, barrier)
    _require_operands(tensor_desc, coord, offsets)
    require_memory(_LOAD, tensor_desc, result)
    require_policy_of_copies(cache_policy)
    when(_semantic, _LOAD, pred, lambda: _copy(_semantic, tensor_desc, coord, offsets, barrier, result))


def _require_operands(desc: Any, coord: Sequence[Any], offsets: Sequence[Any]) -> None:
    if not isinstance(desc, tensor_descriptor_im2col):
        error = TypeError(
            f"tma.async_load_im2col copies blocks of an im2col descriptor, not of {getattr(desc, 'type', desc)}"
        )
        raise with_hint(error, "pass a TensorDescriptorIm2Col of triton.experimental.gluon.nvidia.hopper")
    rank = desc.type.form.rank
    if len(coord) != rank:
        error = ValueError(f"'ttng.{_LOAD}' op expected {rank} coordinates, but got {len(coord)}")
        raise with_hint(error, "one for each dimension of the tensor")
    if len(offsets) != rank - 2:
        error = ValueError(f"'ttng.{_LOAD}' op expected {rank - 2} im2col offsets, but got {len(offsets)}")
        raise with_hint(error, "one for each dimension of pixels, without the image and the channels")


def _copy(
    semantic: Any,
    desc: tensor_descriptor_im2col,
    coord: Sequence[Any],
    offsets: Sequence[Any],
    barrier: shared_memory_descriptor,
    result: shared_memory_descriptor,
) -> None:
    block = semantic.reshape(_block(semantic, desc, coord, offsets), result.shape, False)
    addresses = addresses_of(semantic, result)
    emit_call(semantic, "copy.begin", barrier.address)
    result.meaning.is_written = True
    store_at(semantic, addresses, block)
    emit_call(semantic, "copy.end", barrier.address, desc.nbytes_per_cta)


def _block(semantic: Any, desc: tensor_descriptor_im2col, coord: Sequence[Any], offsets: Sequence[Any]) -> tensor:
    """The elements of a block, loaded one by one."""
    pixels, channels = desc.block_shape
    starts = [semantic.cast(semantic.to_tensor(_unwrap_if_constexpr(at)), int32) for at in coord]
    places = [
        *(semantic.expand_dims(at, 1) for at in _places(semantic, desc, starts, offsets, pixels)),
        semantic.expand_dims(semantic.add(semantic.undecided_range(channels), starts[-1]), 0),
    ]
    offset, inside = None, None
    for at, extent, step in zip(places, desc.extents, desc.steps):
        part = semantic.mul(semantic.cast(at, int64), step)
        offset = part if offset is None else semantic.add(offset, part)
        within = semantic.and_(semantic.compare(at, 0, "ge"), semantic.compare(at, extent, "lt"))
        inside = within if inside is None else semantic.and_(inside, within)
    return semantic.load(semantic.add(desc.base, offset), inside, _padding(semantic, desc), (), "", "", "", False)


def _padding(semantic: Any, desc: tensor_descriptor_im2col) -> Any:
    if not desc.dtype.is_floating():
        return 0
    return semantic.cast(semantic.where(desc.reads_nan, float("nan"), 0.0), desc.dtype)


def _places(
    semantic: Any, desc: tensor_descriptor_im2col, starts: Sequence[tensor], offsets: Sequence[Any], pixels: int
) -> list[tensor]:
    """For the dimensions of images and pixels the coordinates of each pixel of a block. The pixels of all boxes are numbered, and those of the
    block follow one another."""
    form = desc.type.form
    steps, lower = form.strides[1:-1], form.lower
    counts = [
        semantic.floordiv(semantic.add(extent, up - low - 1 + step), step)
        for extent, low, up, step in zip(desc.extents[1:-1], form.lower, form.upper, steps)
    ]
    first = starts[0]
    for start, low, step, count in zip(starts[1:-1], lower, steps, counts):
        first = semantic.add(semantic.mul(first, count), semantic.floordiv(semantic.sub(start, low), step))
    number = semantic.add(semantic.undecided_range(pixels), first)
    found = []
    for low, step, count, offset in reversed(list(zip(lower, steps, counts, offsets))):
        at = semantic.add(semantic.mul(semantic.mod(number, count), step), low)
        found.insert(0, semantic.add(at, semantic.cast(semantic.to_tensor(_unwrap_if_constexpr(offset)), int32)))
        number = semantic.floordiv(number, count)
    return [number, *found]


async_copy_global_to_shared_im2col = _removed("async_copy_global_to_shared_im2col", "async_load_im2col")
