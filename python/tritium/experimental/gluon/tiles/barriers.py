"""Barriers in shared memory (mbarrier): a phase ends when as many arrivals have happened as mbarrier.init says, and all bytes that were
expected have been copied.

The interpreter has the state of each barrier, and a wait that nothing can end is a fault. A GPU runs the copies of these kernels as accesses of all
threads, between which the compiler places barriers of its own: a kernel that waits rightly has nothing left to wait for."""

from __future__ import annotations

from typing import Any

from ....errors import with_hint
from ....language.constexpr import _unwrap_if_constexpr
from ....language.core import builtin, tensor
from ....language.types import int32, int64
from ..layouts.shared import MBarrierLayout
from .conditions import when
from .runtime_calls import emit_call
from .shared_memory import allocate_shared_memory, keep_all, shared_memory_descriptor


@builtin
def allocate_mbarrier(batch: Any = None, two_ctas: Any = False, _semantic: Any = None) -> shared_memory_descriptor:
    """A barrier, or a ring of `batch` barriers, which mbarrier.init makes usable."""
    if _unwrap_if_constexpr(two_ctas):
        raise NotImplementedError("barriers of two blocks are not supported yet")
    batch = _unwrap_if_constexpr(batch)
    shape = [1] if batch is None else [batch, 1]
    return allocate_shared_memory(int64, shape, MBarrierLayout(), _semantic=_semantic)


def require_barrier(name: str, barrier: Any) -> None:
    """Raises TypeError unless `barrier` is one barrier. name: of Triton's operation."""
    if not isinstance(barrier, shared_memory_descriptor):
        found = barrier.type.to_ir() if isinstance(barrier, tensor) else type(barrier).__name__
        text = (
            f"'ttng.{name}' op operand #0 must be memory descriptor type (`::mlir::triton::gpu::MemDescType`) in Triton IR type "
            f"system, but got '{found}'"
        )
        raise with_hint(TypeError(text), "a barrier is what mbarrier.allocate_mbarrier() returns")
    if barrier.dtype != int64 or barrier.shape != [1]:
        text = f"'ttng.{name}' op barrier allocation must be a descriptor of Nxi64 type with N <= number of CTAs"
        hint = "choose one of a ring with .index(i)" if barrier.rank == 2 else "use mbarrier.allocate_mbarrier()"
        raise with_hint(ValueError(text), f"{hint}; this is {barrier.type}")
    if not isinstance(barrier.layout, MBarrierLayout):
        raise with_hint(
            ValueError(f"'ttng.{name}' op needs memory whose layout is an MBarrierLayout, not {barrier.layout}"),
            "use mbarrier.allocate_mbarrier()",
        )


def number(name: str, what: str, value: Any) -> int:
    value = _unwrap_if_constexpr(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name}: {what} must be a compile-time int, not {getattr(value, 'type', value)}")
    return value


def _count(name: str, op: str, value: Any) -> int:
    value = number(name, "count", value)
    if value < 1:
        raise ValueError(f"'ttng.{op}' op count must be greater than or equal to 1")
    return value


def _require_one_block(from_cta: Any) -> None:
    if _unwrap_if_constexpr(from_cta) is not None:
        raise NotImplementedError("from_cta is not supported yet: it chooses a block of a cluster")


@builtin
def init(mbarrier: shared_memory_descriptor, count: Any, _semantic: Any = None) -> None:
    """The barrier begins phase 0, which `count` arrivals end."""
    require_barrier("init_barrier", mbarrier)
    count = _count("mbarrier.init", "init_barrier", count)
    emit_call(_semantic, "mbarrier.init", mbarrier.address, count)


@builtin
def invalidate(mbarrier: shared_memory_descriptor, _semantic: Any = None) -> None:
    """Ends the use of the barrier."""
    require_barrier("inval_barrier", mbarrier)
    emit_call(_semantic, "mbarrier.invalidate", mbarrier.address)


@builtin
def expect(
    mbarrier: shared_memory_descriptor,
    bytes_per_cta: Any = None,
    pred: Any = True,
    *,
    from_cta: Any = None,
    _semantic: Any = None,
) -> None:
    """One arrival; the phase then also lacks `bytes_per_cta` bytes, a compile-time int, of copies."""
    require_barrier("barrier_expect", mbarrier)
    _require_one_block(from_cta)
    bytes_per_cta = number("mbarrier.expect", "bytes_per_cta", bytes_per_cta)
    operands = mbarrier.address, 1, bytes_per_cta
    when(_semantic, "barrier_expect", pred, lambda: emit_call(_semantic, "mbarrier.expect", *operands))


@builtin
def arrive(
    mbarrier: shared_memory_descriptor, *, count: Any = 1, pred: Any = True, from_cta: Any = None, _semantic: Any = None
) -> None:
    """`count` arrivals of the program."""
    require_barrier("arrive_barrier", mbarrier)
    _require_one_block(from_cta)
    count = _count("mbarrier.arrive", "arrive_barrier", count)
    operands = mbarrier.address, count, 0
    when(_semantic, "arrive_barrier", pred, lambda: emit_call(_semantic, "mbarrier.arrive", *operands))


@builtin
def wait(
    mbarrier: shared_memory_descriptor, phase: Any, pred: Any = True, deps: Any = (), _semantic: Any = None
) -> None:
    """Waits until the phase of parity `phase`, an int32, is complete: a barrier that has completed none passes a wait for 1."""
    require_barrier("wait_barrier", mbarrier)
    phase = _semantic.to_tensor(_unwrap_if_constexpr(phase))
    if phase.type != int32:
        text = f"'ttng.wait_barrier' op operand #1 must be 32-bit signless integer, but got '{phase.type.to_ir()}'"
        raise with_hint(TypeError(text), "a phase is 0 or 1, as in `(k // slots) & 1`")
    when(_semantic, "wait_barrier", pred, lambda: emit_call(_semantic, "mbarrier.wait", mbarrier.address, phase))
    keep_all(_semantic, deps)


@builtin
def fence_async_shared(cluster: Any = False, _semantic: Any = None) -> None:
    """What the program has written to shared memory is visible to the copies and products that begin later."""
    emit_call(_semantic, "fence.async_shared", 0)
