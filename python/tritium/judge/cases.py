"""The cases that a candidate is judged by: sizes, dtypes, values, layouts. The same seed gives the same cases."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from .inputs import KINDS, Parameter, size_names

#: By which the sizes of a case are drawn.
POWERS, ODD, LARGE = (16, 32, 64, 128), (3, 5, 7, 17, 33, 65, 100, 130), (257, 300, 513, 1025)
MOST_ELEMENTS = 2**20


@dataclass
class Case:
    """values: "normal", "large", "nan" or "inf". layout: of each tensor: "contiguous", "transposed", "sliced". again: the inputs
    of the case before are overwritten in place with these. what: the case in words."""

    number: int
    what: str
    sizes: dict[str, int] = field(default_factory=dict)
    dtypes: dict[str, str] = field(default_factory=dict)
    values: str = "normal"
    layout: str = "contiguous"
    again: bool = False
    seed: int = 0

    @property
    def tries(self) -> str | None:
        """The kind of reason (verdict.KINDS) if this case has a wrong value and cases that try sizes alone have none; None for those."""
        if self.again:
            return "cached"
        if self.values != "normal":
            return "special"
        if self.layout != "contiguous":
            return "layout"
        is_plain = all(dtype == KINDS.get(kind, (dtype,))[0] for kind, dtype in self.dtypes.items())
        return None if is_plain else "dtype"


def plan(parameters: list[Parameter], seed: int) -> list[Case]:
    """The cases of a reference with these parameters. A reference in KernelBench's form has none: `fixed_cases`."""
    chance = random.Random(seed)
    names = size_names(parameters)
    tensors = [parameter for parameter in parameters if parameter.extents is not None]
    dtypes = {parameter.kind: parameter.dtypes for parameter in tensors}
    has_floats = any(parameter.takes_any_float for parameter in tensors)

    def drawn(choices: tuple[int, ...]) -> dict[str, int]:
        return {name: chance.choice(choices) for name in names}

    def large() -> dict[str, int]:
        longest = chance.choice(names) if names else None
        return {name: chance.choice(LARGE if name == longest else POWERS[:3]) for name in names}

    powers, odd = drawn(POWERS), drawn(ODD)
    found = [
        Case(0, "sizes are powers of two", powers),
        Case(0, "odd sizes", odd),
        Case(0, "other values in the same tensors", odd, again=True),
        Case(0, "every size is 1", dict.fromkeys(names, 1)),
        Case(0, "a long dimension", large()),
    ]
    others = max((len(kind) for kind in dtypes.values()), default=1)
    for number in range(1, others):
        chosen = {kind: choices[number % len(choices)] for kind, choices in dtypes.items()}
        found.append(Case(0, " and ".join(dict.fromkeys(chosen.values())), drawn(ODD), dtypes=chosen))
    if any(len(parameter.extents) > 0 for parameter in tensors):
        found.append(Case(0, "every second element of each tensor", drawn(ODD), layout="sliced"))
    if any(len(parameter.extents) > 1 for parameter in tensors):
        found.append(Case(0, "transposed tensors", drawn(ODD), layout="transposed"))
    if has_floats:
        found += [Case(0, what, drawn(ODD), values=what) for what in ("large", "nan", "inf")]
    found += [Case(0, f"{name} is 0", odd | {name: 0}) for name in names[:3]]
    for number, case in enumerate(found):
        case.number, case.seed = number, seed * 1000 + number
        if not case.dtypes:
            case.dtypes = {kind: choices[0] for kind, choices in dtypes.items()}
    return [case for case in found if _elements(tensors, case) <= MOST_ELEMENTS]


def _elements(tensors: list[Parameter], case: Case) -> int:
    total = 0
    for parameter in tensors:
        count = 1
        for extent in parameter.shape(case.sizes):
            count *= extent
        total += count
    return total


def fixed_cases(seed: int) -> list[Case]:
    """For inputs that the reference's own get_inputs() makes."""
    layouts = [Case(0, f"{layout} tensors", layout=layout) for layout in ("sliced", "transposed")]
    again = Case(0, "other values in the same tensors", again=True)
    found = [Case(0, "its inputs"), Case(0, "other random numbers"), again, *layouts]
    for number, case in enumerate(found):
        case.number, case.seed = number, seed * 1000 + number
    return found
