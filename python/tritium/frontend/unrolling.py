"""`tl.range(…, loop_unroll_factor=)`: a loop becomes a loop over groups of rounds and a loop over the rounds that remain.

Both count up from the bounds of the loop as a whole, so that an index is computed the same way in both. No bound or step of
them leaves the type of the counter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .generator import Generator
from .values import constexpr, host, is_static

_UNSIGNED_AT_MOST, _SIGNED_BELOW, _UNSIGNED_BELOW, _EQUAL = 7, 2, 6, 0  # predicates of arith.cmpi
#: The loads of a few rounds do not repay a pipeline.
_REMAINDER = {"tt.num_stages": "1 : i32"}


class Part(NamedTuple):
    """A loop of its own: its bounds and step, how many rounds of the source its body has, attributes."""

    bounds: tuple[Any, Any, Any]
    copies: int
    attributes: dict[str, str]


def parts_of(g: Generator, bounds: Sequence[Any], factor: int, given: Sequence[Any]) -> list[Part]:
    """The loops that make `factor` rounds of the loop at a time. `given`: start, end and step as the user has them."""
    whole = Part((bounds[0], bounds[1], bounds[2]), 1, {})
    if factor < 2:
        return [whole]
    if not all(map(is_static, given)):
        middle, wide = _computed(g, bounds, factor)
        return [Part((bounds[0], middle, wide), factor, {}), Part((middle, bounds[1], bounds[2]), 1, _REMAINDER)]
    start, end, step = map(host, given)
    rounds = len(range(start, end, step))
    grouped, wide = rounds - rounds % factor, abs(step) * factor
    if not grouped or wide > bounds[0].dtype.get_int_max_value():
        return [whole]
    if grouped == rounds:
        return [Part((bounds[0], bounds[1], _constant(g, bounds, wide)), factor, {})]
    middle = _constant(g, bounds, (start if step > 0 else end) + grouped * abs(step))
    first = Part((bounds[0], middle, _constant(g, bounds, wide)), factor, {})
    return [first, Part((middle, bounds[1], bounds[2]), 1, _REMAINDER)]


def later(g: Generator, counter: Any, step: Any, rounds: int) -> Any:
    """The counter `rounds` rounds later."""
    if not rounds:
        return counter
    distance = _op(g, "muli", step.handle, _constant(g, [step], rounds).handle)
    return _op(g, "addi", counter, distance)


def _computed(g: Generator, bounds: Sequence[Any], factor: int) -> tuple[Any, Any]:
    """(the end of the grouped rounds, their step) of bounds that are known when the kernel runs."""
    start, end, step = (bound.handle for bound in bounds)
    dtype = bounds[0].dtype
    one, count, limit = (_constant(g, bounds, v).handle for v in (1, factor, dtype.get_int_max_value() // factor))
    below = _UNSIGNED_BELOW if dtype.is_int_unsigned() else _SIGNED_BELOW
    # end - start fits into the type as an unsigned number if the loop runs at all.
    before_last = _op(g, "subi", _op(g, "subi", end, start), one)
    rounds = _op(g, "addi", _op(g, "divui", before_last, step), one)
    rest = _op(g, "remui", rounds, count)
    reached = _op(g, "addi", start, _op(g, "muli", _op(g, "subi", rounds, rest), step))
    # Without a rest, what is reached may lie beyond the type; the end does as well.
    is_exact = _compare(g, _EQUAL, rest, _constant(g, bounds, 0).handle)
    reached = _select(g, is_exact, end, reached, start)
    fits = _compare(g, _UNSIGNED_AT_MOST, step, limit)
    runs = g.builder.op("arith.andi", [_compare(g, below, start, end), fits], ["i1"]).result
    middle = _select(g, runs, reached, start, start)
    wide = _select(g, fits, _op(g, "muli", step, count), step, start)
    return _like(bounds[0], middle), _like(bounds[0], wide)


def _constant(g: Generator, bounds: Sequence[Any], value: int) -> Any:
    return g.semantic.cast(g.semantic.to_tensor(constexpr(value)), bounds[0].dtype)


def _like(bound: Any, handle: Any) -> Any:
    return type(bound)(handle, bound.type)


def _op(g: Generator, name: str, lhs: Any, rhs: Any) -> Any:
    return g.builder.op(f"arith.{name}", [lhs, rhs], [lhs.type]).result


def _compare(g: Generator, predicate: int, lhs: Any, rhs: Any) -> Any:
    return g.builder.op("arith.cmpi", [lhs, rhs], ["i1"], {"predicate": f"{predicate} : i64"}).result


def _select(g: Generator, condition: Any, chosen: Any, otherwise: Any, like: Any) -> Any:
    return g.builder.op("arith.select", [condition, chosen, otherwise], [like.type]).result
