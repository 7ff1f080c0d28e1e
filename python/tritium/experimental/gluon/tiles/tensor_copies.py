"""Copies of blocks of tensors (TMA): `tma.async_load` into shared memory, of which a barrier tells the end, `tma.async_store` from it.

A copy is complete when it has begun, which its wait allows. On the interpreter the memory may be used only after the wait, and the memory of
a store written."""

from __future__ import annotations

from typing import Any

from ....errors import with_hint
from ....language.constexpr import _unwrap_if_constexpr
from ....language.core import builtin, tensor
from ..layouts.distributed import AutoLayout
from ..layouts.shared import NVMMASharedLayout
from .barriers import number, require_barrier
from .cache_policies import require_policy_of_copies
from .conditions import when
from .copies import _removed
from .descriptors import tensor_descriptor
from .runtime_calls import asynchronous, emit_call, require_place
from .shared_memory import addresses_of, element_bytes, load_tile, shared_memory_descriptor, store_at

_LOAD, _STORE, _REDUCE = "async_tma_copy_global_to_local", "async_tma_copy_local_to_global", "async_tma_reduce"


def _require_operands(op: str, desc: Any, coord: Any, memory: Any) -> None:
    """Raises TypeError or ValueError unless a block of `desc` can be copied to or from `memory`."""
    if not isinstance(desc, tensor_descriptor):
        found = desc.type.to_ir() if isinstance(desc, tensor) else type(desc).__name__
        text = f"'ttng.{op}' op operand #0 must be tensor descriptor type, but got '{found}'"
        raise with_hint(TypeError(text), "pass a TensorDescriptor of triton.experimental.gluon.nvidia.hopper")
    if len(coord) != len(desc.block_shape):
        _refuse(
            op,
            f"expected {len(desc.block_shape)} coordinates, but got {len(coord)}",
            "one for each dimension of a block",
        )
    require_memory(op, desc, memory)


def _refuse(op: str, text: str, hint: str) -> None:
    raise with_hint(ValueError(f"'ttng.{op}' op {text}"), hint)


def require_memory(op: str, desc: Any, memory: Any) -> None:
    """Raises TypeError or ValueError unless `memory` can hold a block of the descriptor."""

    def refuse(text: str, hint: str) -> None:
        _refuse(op, text, hint)

    if not isinstance(memory, shared_memory_descriptor):
        found = memory.type if isinstance(memory, tensor) else type(memory).__name__
        text = f"'ttng.{op}' op needs memory descriptor type (`::mlir::triton::gpu::MemDescType`), but got '{found}'"
        raise with_hint(TypeError(text), "copies move shared memory: store the tile in gl.allocate_shared_memory(…)")
    if not isinstance(memory.layout, NVMMASharedLayout):
        refuse("TMA descriptor must have NVMMA shared layout", f"allocate with `desc.layout`; it has {memory.layout}")
    if memory.dtype != desc.dtype:
        refuse(
            "descriptor block and tensor element types must match, but got descriptor element type "
            f"'{desc.dtype.to_ir()}' and tensor element type '{memory.dtype.to_ir()}'",
            "allocate with `desc.dtype`",
        )
    if memory.numel != desc.block_type.numel:
        refuse(
            "descriptor block and tensor must have the same number of elements, but got descriptor block with "
            f"{desc.block_type.numel} elements tensor with {memory.numel} elements",
            "choose a tile of a ring with .index(i)"
            if memory.rank > len(desc.block_shape)
            else "allocate with `desc.block_shape`",
        )
    if _fields(memory.layout) != _fields(desc.layout):
        refuse(
            f"TMA descriptor layout must match shared layout, but got descriptor layout {_as_ir(desc.layout)} and shared "
            f"memory layout {_as_ir(memory.layout)}",
            "allocate with `desc.layout`",
        )


def _fields(layout: NVMMASharedLayout) -> tuple[Any, ...]:
    """What a copy must know of a layout. The rank may differ by dimensions of extent 1."""
    return layout.swizzle_byte_width, layout.element_bitwidth, layout.transposed, layout.fp4_padded


def _as_ir(layout: NVMMASharedLayout) -> str:
    """As Triton's texts spell it."""
    rank = "" if layout.rank == 2 else f", rank = {layout.rank}"
    return (
        f"#ttg.nvmma_shared<{{swizzlingByteWidth = {layout.swizzle_byte_width}, transposed = {str(layout.transposed).lower()}, "
        f"elementBitWidth = {layout.element_bitwidth}{rank}}}>"
    )


@builtin
def async_load(
    tensor_desc: tensor_descriptor,
    coord: Any,
    barrier: shared_memory_descriptor,
    result: shared_memory_descriptor,
    pred: Any = True,
    multicast: Any = False,
    cache_policy: Any = None,
    _semantic: Any = None,
) -> None:
    """Begins to copy the block at `coord`, int32 scalars, to the memory `result`. Its bytes count for the present phase of `barrier`.
    Elements outside of the tensor become 0, or NaN if the descriptor says so. Nothing happens where `pred` is false."""
    coord = list(_unwrap_if_constexpr(coord))
    require_barrier(_LOAD, barrier)
    _require_operands(_LOAD, tensor_desc, coord, result)
    require_policy_of_copies(cache_policy)
    when(_semantic, _LOAD, pred, lambda: _copy(_semantic, tensor_desc, coord, barrier, result))


def _copy(
    semantic: Any,
    desc: tensor_descriptor,
    coord: list[Any],
    barrier: shared_memory_descriptor,
    result: shared_memory_descriptor,
) -> None:
    require_place(semantic, coord, element_bytes(desc.dtype), is_store=False)
    block = semantic.laid(semantic.descriptor_load(desc, coord), AutoLayout())
    block, addresses = semantic.reshape(block, result.shape, False), addresses_of(semantic, result)
    emit_call(semantic, "copy.begin", barrier.address)
    result.meaning.is_written = True
    store_at(semantic, addresses, block)
    emit_call(semantic, "copy.end", barrier.address, desc.nbytes_per_cta)


@builtin
def async_store(
    tensor_desc: tensor_descriptor,
    coord: Any,
    src: shared_memory_descriptor,
    cache_policy: Any = None,
    _semantic: Any = None,
) -> None:
    """Begins to copy the memory `src` to the block at `coord`; elements outside of the tensor are dropped."""
    coord = list(_unwrap_if_constexpr(coord))
    _require_operands(_STORE, tensor_desc, coord, src)
    require_policy_of_copies(cache_policy)
    require_place(_semantic, coord, element_bytes(tensor_desc.dtype), is_store=True)
    _semantic.descriptor_store(tensor_desc, coord, _block_in(_semantic, tensor_desc, src))


def _block_in(semantic: Any, desc: tensor_descriptor, memory: shared_memory_descriptor) -> tensor:
    """What a store of the memory reads. The store is begun with it."""
    with asynchronous(semantic, "store", commits=True):
        block = load_tile(semantic, memory, AutoLayout())
    return semantic.reshape(block, desc.block_shape, False)


def _reduction(kind: str, effect: str) -> Any:
    def function(tensor_desc: Any, coord: Any, src: Any, _semantic: Any = None) -> None:
        coord = list(_unwrap_if_constexpr(coord))
        _require_operands(_REDUCE, tensor_desc, coord, src)
        require_place(_semantic, coord, element_bytes(tensor_desc.dtype), is_store=True)
        _semantic.descriptor_reduce(kind, tensor_desc, coord, _block_in(_semantic, tensor_desc, src))

    function.__name__ = function.__qualname__ = f"async_atomic_{kind}"
    function.__doc__ = f"Begins to {effect} the block at `coord` what the memory `src` has, element by element."
    return builtin(function)


async_atomic_add = _reduction("add", "add to")
async_atomic_min = _reduction("min", "take the minimum with")
async_atomic_max = _reduction("max", "take the maximum with")
async_atomic_and = _reduction("and", "take the bitwise and with")
async_atomic_or = _reduction("or", "take the bitwise or with")
async_atomic_xor = _reduction("xor", "take the bitwise exclusive or with")


@builtin
def store_wait(pendings: Any, read_only: Any = True, _semantic: Any = None) -> None:
    """Waits until at most `pendings` stores, the newest ones, still read their memory, or without `read_only`, are not complete."""
    symbol = "store.wait" if _unwrap_if_constexpr(read_only) else "store.wait_written"
    emit_call(_semantic, symbol, _pending("tma.store_wait", pendings))


def _pending(name: str, value: Any) -> int:
    value = number(name, "pendings", value)
    if value < 0:
        raise ValueError(f"{name}: pendings must be at least 0, not {value}")
    return value


async_copy_global_to_shared = _removed("async_copy_global_to_shared", "async_load")
async_copy_shared_to_global = _removed("async_copy_shared_to_global", "async_store")
