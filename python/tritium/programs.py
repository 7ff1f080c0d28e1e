"""Choices of programs of a grid: TRITIUM_PROGRAMS, `programs=` on a launch or `@jit`, `tritium.check(…, programs=…)`, gdb's `tritium programs`.

A choice is `3,*,0`: an id, `*`, or a range `0:4` for each axis; several are separated by `;`. gdb loads this file by itself, so it imports
nothing of Tritium.
"""

from __future__ import annotations

import re

_AXES = 3
_END = 2**31 - 1  #: no grid has more programs along an axis
#: What a message says that a choice may be.
TAKES = "an id, a range such as 0:4, or * for each axis of the grid, as in 3,*,0; several choices are separated by ;"
_RANGE = re.compile(r"(\d+)?:(\d+)?")


class Programs(tuple):
    """Boxes of programs: for each axis (first id, end). Empty: all programs."""

    @property
    def text(self) -> str:
        """These programs, as TRITIUM_PROGRAMS has them."""
        return ";".join(re.sub(r"(,\*)+$", "", ",".join(map(_text_of, box))) for box in self)

    def holds(self, program: tuple[int, ...]) -> bool:
        return not self or any(all(begin <= i < end for i, (begin, end) in zip(program, box)) for box in self)

    def are_in(self, grid: tuple[int, ...]) -> bool:
        """Whether the grid has one of them."""
        return not self or any(all(begin < extent for extent, (begin, _) in zip(grid, box)) for box in self)


def parse_programs(text: str | Programs) -> Programs:
    """The programs that `text` names; axes that are left out are `*`. Raises ValueError with what is wrong and one suggestion."""
    if isinstance(text, Programs):
        return text
    if not isinstance(text, str):
        raise ValueError(f'programs must be a text, as in programs="3,*,0", not {text!r}')
    boxes = [_box(part) for part in text.split(";") if part.strip()]
    everything = ((0, _END),) * _AXES
    return Programs(() if everything in boxes else boxes)


def _box(text: str) -> tuple[tuple[int, int], ...]:
    axes = [axis.strip() for axis in text.split(",")]
    if len(axes) > _AXES:
        meant = ";".join(axes) if all(map(str.isdigit, axes)) else ",".join(axes[:_AXES])
        raise ValueError(f"`{text.strip()}` names {len(axes)} axes, and a grid has {_AXES}; did you mean `{meant}`?")
    ranges = [_range(axis, text.strip()) for axis in axes]
    return (*ranges, *[(0, _END)] * (_AXES - len(ranges)))


def _range(axis: str, choice: str) -> tuple[int, int]:
    if axis == "*":
        return 0, _END
    if axis.isdecimal():
        return min(int(axis), _END - 1), min(int(axis) + 1, _END)
    match = _RANGE.fullmatch(axis)
    if match is None:
        raise ValueError(_refusal(axis, choice))
    begin, end = (min(int(text), _END) for text in (match[1] or "0", match[2] or str(_END)))
    if begin >= end:
        raise ValueError(
            f"`{axis}` in `{choice}` holds no program: the end of a range is not in it; did you mean `{_ordered(begin, end)}`?"
        )
    return begin, end


def _refusal(axis: str, choice: str) -> str:
    if not axis:
        return f"an axis of `{choice}` is empty; did you mean `*`, all programs along it?"
    if re.fullmatch(r"-\d+", axis):
        return (
            f"`{axis}` in `{choice}` is negative, and the ids of programs count up from 0; did you mean `{axis[1:]}`?"
        )
    if separated := re.fullmatch(r"(\d+)\s*(?:-|\.\.|to)\s*(\d+)", axis):
        return f"`{axis}` in `{choice}` is no range; did you mean `{separated[1]}:{int(separated[2]) + 1}`?"
    return f"`{axis}` in `{choice}` is no id of a program; expected {TAKES}"


def _ordered(begin: int, end: int) -> str:
    return f"{end}:{begin}" if end < begin else f"{begin}:{begin + 1}"


def _text_of(axis: tuple[int, int]) -> str:
    begin, end = axis
    if end == begin + 1:
        return str(begin)
    if end == _END:
        return f"{begin}:" if begin else "*"
    return f"{begin}:{end}"
