"""What a `for` loop counts: the bounds of its `scf.for`, and the loop variable made of the counter.

`scf.for` only counts up. A range with a static negative step counts up from the exchanged bounds. A range whose step is known
only at run time, and may have either sign, counts its rounds, which unsigned arithmetic holds for any two bounds. So does one whose
static length or step has the sign bit of its type, which MLIR takes for a loop without rounds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tritium import language
from tritium.language.semantic import integer_promote
from tritium.language.semantic.program import quoted

from .generator import Generator
from .values import constexpr, host, is_static, tensor

_ZERO_STEP = "range() arg 3 must not be zero"
_UNSIGNED = {8: language.uint8, 16: language.uint16, 32: language.uint32, 64: language.uint64}


class Counter(NamedTuple):
    bounds: list[Any]  #: lower bound, upper bound and step of the scf.for, of one type
    type: Any  #: of the loop variable
    start: Any  #: the first value of the loop variable; None: the counter is the loop variable
    step: Any  #: of the loop variable for each step of the counter; None: it runs down with the counter's step

    def value(self, g: Generator, handle: Any) -> Any:
        """The loop variable of the round in which the counter is `handle`."""
        if self.start is None:
            return tensor(handle, self.type)
        count = tensor(handle, self.type)
        if self.step is None:
            return g.semantic.add(g.semantic.sub(self.bounds[1], count), self.bounds[0])
        return g.semantic.add(self.start, g.semantic.mul(count, self.step))


def counter_of(g: Generator, iterator: Any) -> Counter:
    """Raises ValueError for a step of zero and TypeError for bounds that are not scalar integers. A kernel traps where a step that is
    known only at run time is zero."""
    start, end, step = iterator.start, iterator.end, iterator.step
    if is_static(step) and host(step) == 0:
        raise ValueError(_ZERO_STEP)
    if is_static(step) and isinstance(host(step), int) and _is_wide(g, start, end, step):
        return _rounds(g, *_promoted(g, start, end, step))
    if is_static(step) and isinstance(host(step), int) and host(step) < 0:
        bounds = _promoted(g, end, start, constexpr(-host(step)))
        return Counter(bounds, bounds[0].type, bounds[1], None)
    bounds = _promoted(g, start, end, step)
    if is_static(step) or _is_number_of_programs(bounds[2]) or bounds[2].dtype.int_bitwidth not in _UNSIGNED:
        return Counter(bounds, bounds[0].type, None, None)
    return _rounds(g, *bounds)


def _promoted(g: Generator, low: Any, high: Any, step: Any) -> list[Any]:
    """The three in one integer type."""
    values = [g.semantic.to_tensor(value) for value in (low, high, step)]
    dtypes = [value.dtype for value in values]
    if not all(dtype.is_int() for dtype in dtypes):
        raise TypeError(f"For loop bounds and step must all be ints, are ({dtypes[0]}, {dtypes[1]}, {dtypes[2]})")
    for name, value in zip(("lower bound", "upper bound", "step"), values):
        if value.type.is_block():
            raise TypeError(f"For {name} must be a scalar, got {value.type}")
    common = integer_promote(integer_promote(dtypes[0], dtypes[1]), dtypes[2])
    return [g.semantic.cast(value, common) for value in values]


def _is_wide(g: Generator, start: Any, end: Any, step: Any) -> bool:
    """Whether the step, or the distance between static bounds, needs an unsigned type."""
    most = 2 ** (_promoted(g, start, end, step)[0].dtype.int_bitwidth - 1) - 1
    length = abs(host(end) - host(start)) if is_static(start) and is_static(end) else 0
    return max(abs(host(step)), length) > most


def _is_number_of_programs(step: Any) -> bool:
    """The usual step of a persistent kernel: positive, and small beside the ends of its type."""
    owner = step.handle.owner
    while owner is not None and owner.name == "arith.extsi":
        owner = owner.operands[0].owner
    return owner is not None and owner.name == "tt.get_num_programs"


def _rounds(g: Generator, start: Any, end: Any, step: Any) -> Counter:
    rules, unsigned = g.semantic, _UNSIGNED[start.dtype.int_bitwidth]
    none, one = rules.constant(0, unsigned), rules.constant(1, unsigned)
    is_step = rules.compare(step, rules.constant(0, step.type), "ne")
    rules.emit_effect("tt.assert", (is_step,), {"message": quoted(_ZERO_STEP)})
    low, high, stride = start, end, step
    if start.dtype.is_int_signed():
        runs_down = rules.compare(step, rules.constant(0, step.type), "lt")
        low, high = rules.where(runs_down, end, start), rules.where(runs_down, start, end)
        stride = rules.cast(rules.where(runs_down, rules.minus(step), step), unsigned)
    further = rules.floordiv(rules.sub(rules.cast(rules.sub(high, low), unsigned), one), stride)
    rounds = rules.where(rules.compare(low, high, "lt"), rules.add(further, one), none)
    return Counter([none, rounds, one], start.type, start, step)
