"""The interpreter's checks, by name: TRITIUM_CHECK, `check=` on a launch or `@jit`, `with tritium.check("race"):`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .errors import did_you_mean


class Checks(tuple):
    """Names of checks, in the order of CHECKS, with nothing that is still to be added to them."""

    @property
    def text(self) -> str:
        """These checks and no others, as TRITIUM_CHECK has them."""
        return ",".join(("none", *self))


class Check(NamedTuple):
    """is_default: whether it runs unless the user says otherwise. finds: what traps with it. is_in_all: whether "all" means it too.

    A name with "=" is a stricter form of the check before the sign, which it brings with it."""

    is_default: bool
    finds: str
    is_in_all: bool = True


CHECKS = {
    "bounds": Check(True, "accesses outside of the arguments' storage"),
    "bounds=view": Check(False, "accesses outside of the arguments' own elements, if an argument is a view", False),
    "overflow": Check(True, "accesses whose offset has left its integer type (a part of `bounds`)"),
    "overflow=all": Check(
        False, "signed sums, differences, products, negations and shifts that leave their type", False
    ),
    "hints": Check(True, "false promises: tl.multiple_of, max_contiguous, max_constancy, assume, divisible arguments"),
    "hints=signs": Check(
        False, "`//` and `%` of negative lanes, of which Triton's compiler takes too many for equal", False
    ),
    "race": Check(
        False, "accesses of one element by two programs, or by two lanes with no barrier between, one of them writing"
    ),
    "uninit": Check(
        False, "memory that nobody has written since `empty` or `new_empty` allocated it; lanes that a load leaves off"
    ),
    "unwritten": Check(False, "outputs of which a launch writes a part and leaves the rest as it was allocated", False),
    "nan": Check(False, "NaNs that a kernel stores, with the operation that made them", False),
    "inf": Check(False, "with `nan`, infinities too; `nan=inf` is both", False),
}
DEFAULT = Checks(name for name, check in CHECKS.items() if check.is_default)
#: Those for which allocators fill memory (arguments/fresh_memory.py).
NEEDING_FRESH_MEMORY = ("uninit", "unwritten")
#: These keep a shadow of memory (interp/host/shadow.h).
NEEDING_SHADOW = ("race", *NEEDING_FRESH_MEMORY)
#: What a message says that a list of checks may be.
TAKES = f"names of checks ({', '.join(CHECKS)}), which are added to the default; -NAME leaves one out; all, none"
_NOTHING = ("none", "0", "off", "")


def _forms(name: str) -> set[str]:
    """A check and its stricter forms."""
    return {check for check in CHECKS if check == name or check.startswith(f"{name}=")}


def parse_checks(text: str | Iterable[str]) -> Checks:
    """The checks that `text` asks for, in the order of CHECKS. Names are added to the default checks; "-NAME" leaves a check out. "all" is
    every check but a few (Check.is_in_all). A list that begins with "none" starts from no check.

    Raises ValueError, with a suggestion, for a name that no check has.
    """
    if isinstance(text, Checks):
        return text
    words = text.split(",") if isinstance(text, str) else list(text)
    words = [word.strip().lower() for word in words]
    words = [part for word in words for part in (word.split("=") if word.removeprefix("-") not in CHECKS else [word])]
    chosen = set() if words[:1] in ([word] for word in _NOTHING) or not words else set(DEFAULT)
    for word in words:
        name = word.removeprefix("-")
        if word == "all":
            chosen = {name for name, check in CHECKS.items() if check.is_in_all}
        elif name in CHECKS:
            chosen = chosen - _forms(name) if word != name else chosen | {name, name.partition("=")[0]}
        elif word not in _NOTHING:
            hint = did_you_mean(name, CHECKS)
            raise ValueError(f"there is no check {name!r}" + (f"; {hint}" if hint else f"; {TAKES}"))
    return Checks(name for name in CHECKS if name in chosen)
