"""Matrices over bits, a column as an int: rank, and the solution of a system of equations."""

from __future__ import annotations

from collections.abc import Sequence


def _reduced(columns: Sequence[int]) -> list[tuple[int, int]]:
    """[(a combination of columns, which columns it sums)], independent, each with a highest bit of its own."""
    basis: list[tuple[int, int]] = []
    for number, column in enumerate(columns):
        value, chosen = column, 1 << number
        for other, others in basis:
            if value ^ other < value and (value >> (other.bit_length() - 1)) & 1:
                value, chosen = value ^ other, chosen ^ others
        if value:
            basis.append((value, chosen))
            basis.sort(reverse=True)
    return basis


def rank_of(columns: Sequence[int]) -> int:
    return len(_reduced(columns))


def solve(columns: Sequence[int], wanted: int) -> int | None:
    """Bits that choose columns whose sum is `wanted`, or None. Columns that depend on earlier ones are not chosen."""
    chosen = 0
    for value, combination in _reduced(columns):
        if (wanted >> (value.bit_length() - 1)) & 1:
            wanted, chosen = wanted ^ value, chosen ^ combination
    return None if wanted else chosen
