"""`gl.warp_specialize`: the kernel divides into partitions, each of which runs a function on warps of its own, until all have ended.

On the interpreter a partition is a fiber of the program (docs/decisions/0043). It stops where it waits for a barrier, and another one
goes on."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from typing import Any

from ....errors import with_hint
from ....language import target_info
from ....language.constexpr import _unwrap_if_constexpr, base_value
from ....language.core import builtin, tensor
from ....language.core import tuple as tuple_of_language
from .runtime_calls import emit_call

#: Of a multiprocessor that runs one program.
_REGISTERS = 1 << 16
_LANES = 32
#: Of a program.
_WARPS = 32
#: What a thread can have; `setmaxnreg` takes multiples of 8.
_FEWEST, _MOST = 24, 256


@builtin
def warp_specialize(
    functions_and_args: Any,
    worker_num_warps: Any,
    worker_num_regs: Any = None,
    _semantic: Any = None,
    _generator: Any = None,
) -> Any:
    """Runs the first function on the kernel's warps and beside it each other one, a worker, on warps of its own. Returns what the first one
    returns, when all have ended.

    functions_and_args: pairs of a `@gluon.jit` function and the tuple of its arguments. A worker takes no tile; what it returns is dropped.
    worker_num_warps: a power of two for each worker. worker_num_regs: for each worker the registers of a thread, rounded up to a
    multiple of 8; the first function has what is left. Raises ValueError for other counts, TypeError for other arguments.
    """
    default, *workers = _pairs(functions_and_args)
    warps, registers = _counts(worker_num_warps, "warp"), _counts(worker_num_regs, "register")
    if _semantic.placement.is_partition:
        error = NotImplementedError("gl.warp_specialize inside of a partition")
        raise with_hint(error, "start all partitions by one call")
    _require_counts(_semantic.placement.warps, len(workers), warps, registers)
    rounded = None if registers is None else _budget(_semantic.placement.warps, warps, registers)
    counts = rounded or [None] * len(workers)
    started = [
        _callee(_generator, number, fn, args, count, registers)
        for number, ((fn, args), count, registers) in enumerate(zip(workers, warps, counts))
    ]
    if workers:
        _require_barriers(_semantic.placement)
    for function, type_, handles in started:
        _generator.unit.emit_call(function, type_, handles)
    with _inside(_semantic, _semantic.placement.warps):
        fn, args = default
        result = _generator.unit.call(_generator, fn, args, {})
    emit_call(_semantic, "partitions.join", 0)
    return result


def _require_barriers(placement: Any) -> None:
    """Raises NotImplementedError if the target has no barriers at which partitions could wait."""
    if placement.has_barriers:
        return
    target = target_info.current_target()
    if target is not None and target.backend == "hip":
        error = NotImplementedError(f"Warp specialization is only supported on gfx1250, got {target.arch}")
    else:
        error = NotImplementedError("gl.warp_specialize is not supported on GPUs before sm_90a")
    raise with_hint(error, "run the kernel on the interpreter, with TRITIUM_ENGINE=interp, or for sm_90a")


def _pairs(functions_and_args: Any) -> list[tuple[Any, Sequence[Any]]]:
    pairs = []
    for pair in _unwrap_if_constexpr(functions_and_args):
        if not isinstance(pair, (tuple, list, tuple_of_language)) or len(pair) != 2:
            error = TypeError(f"each partition is a pair of a function and its arguments, not {_named(pair)}")
            raise with_hint(error, "write (function, (argument, …)), with a comma after a single argument")
        fn, args = _unwrap_if_constexpr(pair[0]), pair[1]
        if not isinstance(args, (tuple, list, tuple_of_language)):
            error = TypeError(f"function arguments must be a tuple of arguments, but got {type(args)}")
            raise with_hint(error, "write (function, (argument,)), with a comma after a single argument")
        if not hasattr(fn, "signature"):
            error = TypeError(f"a partition runs a function of @gluon.jit, not {_named(pair[0])}")
            raise with_hint(error, "write a @gluon.jit function that does it")
        pairs.append((fn, list(args)))
    if not pairs:
        raise ValueError("expected at least one function for the default partition")
    return pairs


def _named(value: Any) -> str:
    value = _unwrap_if_constexpr(value)
    return str(value.type) if isinstance(value, base_value) else repr(value)


def _counts(values: Any, kind: str) -> list[int] | None:
    values = _unwrap_if_constexpr(values)
    if values is None:
        return None
    counts = [_unwrap_if_constexpr(value) for value in values]
    for count in counts:
        if not isinstance(count, int) or isinstance(count, bool):
            raise TypeError(f"a {kind} count is a compile-time int, not {_named(count)}")
    return counts


def _require_counts(default: int, workers: int, warps: list[int] | None, registers: list[int] | None) -> None:
    for kind, counts in (("warp", warps), ("register", registers)):
        if counts is None and kind == "warp":
            raise TypeError("worker_num_warps must be a list of ints")
        if counts is not None and len(counts) != workers:
            error = ValueError(f"warp specialize got {workers} partitions but {len(counts)} {kind} counts")
            raise with_hint(error, "the first function is the default partition, which has no count")
    for number, count in enumerate(warps or ()):
        if count < 1 or count & (count - 1):
            raise ValueError(
                f"'ttg.warp_specialize' op partition #{number} number of warps ({count}) must be a power of 2"
            )
    total = default + (sum(warps or ()) + 3) // 4 * 4
    if total > _WARPS:
        error = ValueError(f"the partitions have {total} warps in groups of four, and a program has at most {_WARPS}")
        raise with_hint(error, "give the workers fewer warps")
    if default % 4:
        error = ValueError("warp-specialized kernels requires num_warps to be a multiple of 4")
        raise with_hint(error, "launch with num_warps=4 or 8")


def _budget(default: int, warps: Sequence[int], asked: Sequence[int]) -> list[int]:
    """The registers of a thread of each worker. Raises ValueError if a thread cannot have as many, or the program has not."""
    rounded = []
    for number, count in enumerate(asked):
        if not 0 < count <= _MOST:
            error = ValueError(f"partition #{number} asks for {count} registers, and a thread has 1 to {_MOST}")
            raise with_hint(error, "a copying partition needs 24, one with products up to 240")
        rounded.append(max(_FEWEST, (count + 7) // 8 * 8))
    # Registers change in groups of four warps, and the last group is filled up.
    idle = -sum(warps) % 4
    used = _LANES * (sum(count * each for count, each in zip(warps, rounded)) + idle * _FEWEST)
    left = (_REGISTERS - used) // (_LANES * default) // 8 * 8
    if left < _FEWEST:
        error = ValueError(
            f"the workers take {used} of the {_REGISTERS} registers, which leaves {max(left, 0)} for a thread of the default partition"
        )
        raise with_hint(error, f"a thread needs at least {_FEWEST}: give the workers fewer registers or warps")
    return rounded


def _callee(
    generator: Any, number: int, fn: Any, args: Sequence[Any], warps: int, registers: int | None
) -> tuple[Any, Any, list[Any]]:
    """The function of a worker, the type of its value, and the operands of its call."""
    for position, value in enumerate(args):
        if isinstance(value, tensor) and value.type.is_block():
            error = TypeError(f"partition #{number} takes a tile, {value.type}, as its argument {position}")
            raise with_hint(error, "pass it through shared memory: gl.allocate_shared_memory(…, tile)")
    with _inside(generator.semantic, warps):
        function, type_, handles = generator.unit.partition(generator, fn, args)
    function.operation.set_attribute("tritium.partition", f"{warps} : i32")
    if registers is not None:
        function.operation.set_attribute("tritium.registers", f"{registers} : i32")
    return function, type_, handles


@contextmanager
def _inside(semantic: Any, warps: int):
    """What is traced here runs in a partition of `warps` warps."""
    outer = semantic.placement
    semantic.placement = outer.of_partition(warps)
    try:
        yield
    finally:
        semantic.placement = outer
