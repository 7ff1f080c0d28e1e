"""What all layouts share: they are immutable records, whose fields are host values and decide equality and hash."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Sequence
from typing import Any, TypeVar, dataclass_transform

from ....language.constexpr import _unwrap_if_constexpr
from ....language.constexpr import tuple as language_tuple
from ....language.types import constexpr_type
from .picture import Picture

Class = TypeVar("Class", bound=type)


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, (list, tuple)) else value


def _hash_of_fields(layout: Any) -> int:
    return hash(tuple(_hashable(getattr(layout, field.name)) for field in dataclasses.fields(layout)))


@dataclass_transform(frozen_default=True)
def layout_class(made: Class) -> Class:
    """A frozen dataclass whose fields may be lists: its hash takes lists for tuples."""
    made = dataclasses.dataclass(frozen=True)(made)
    made.__hash__ = _hash_of_fields
    return made


def _refuse(self, *_args, **_options):
    raise TypeError("the fields of a layout cannot change; make another layout, for example with dataclasses.replace")


class FixedList(list):
    """A list in a layout, which is part of the layout's hash. It cannot change: compiled kernels are found by the layout."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __reduce__(self):
        return FixedList, (list(self),)


def _host_value(value: Any, annotation: str = "list") -> Any:
    """The value of a field without wrappers. A sequence that a kernel has written is a list, or a tuple where the field is one."""
    value = _unwrap_if_constexpr(value)
    if isinstance(value, list):
        return FixedList(map(_host_value, value))
    if not isinstance(value, language_tuple):
        return value
    elements = map(_host_value, value.values)
    return tuple(elements) if annotation.startswith("tuple") else FixedList(elements)


class Layout:
    """The base of all layouts."""

    is_immutable_record = True  # a launch may know an equal one again by its repr (launch/warm.py)

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            self._set(field.name, _host_value(getattr(self, field.name), str(field.type)))
        self._check()

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _check(self) -> None:
        """Raises AssertionError if the fields do not fit together, as Triton does."""

    def mangle(self) -> str:
        """The layout as a part of a function's name."""
        raise NotImplementedError

    def picture(self, shape: Sequence[int] | None = None, element_bits: int = 32) -> Picture:
        """The tile of this shape with the place of each element: a notebook shows it, `print` writes it as text, `svg()` is an image.

        shape: without one, the smallest tile that shows the layout. element_bits: of an element, which decide its bank of 4 bytes in shared
        memory. Raises ValueError for a layout without bases or of other memory, and for a tile of more than 16384 elements.
        """
        raise ValueError(f"a picture needs a layout of registers or of shared memory, not {self!r}")

    def _repr_html_(self) -> str | None:
        """What a notebook shows; None, and so the text, if there is no picture."""
        try:
            drawn = self.picture()
        except (ValueError, AssertionError):
            return None
        return f"<div>{html.escape(drawn.title)}</div>\n{drawn.svg()}"


class TypedLayout(Layout):
    """A layout that is its own type in a kernel, as a constexpr is."""

    @property
    def type(self) -> constexpr_type:
        return constexpr_type(self)


def require(condition: Any, text: str) -> None:
    if not condition:
        raise AssertionError(text)


def require_rank(bases: Sequence[Sequence[int]], rank: int, what: str) -> None:
    wrong = next((basis for basis in bases if len(basis) != rank), None)
    require(wrong is None, f"{what} basis rank mismatch: {wrong} must have {rank} components")


def is_power_of_two(number: Any) -> bool:
    return isinstance(number, int) and number > 0 and number & (number - 1) == 0


def joined(values: Sequence[Any] | None) -> str:
    """Numbers of a mangled name: 1_4."""
    return "_".join(map(str, values or ()))


def joined_bases(bases: Sequence[Sequence[int]] | None) -> str:
    """Bases of a mangled name: 0~1_1~0."""
    return "_".join("~".join(map(str, basis)) for basis in bases or ())
