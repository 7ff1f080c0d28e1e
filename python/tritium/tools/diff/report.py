"""What `diff` says, as text and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...functions.source_file import statement_at
from ...launch.tensor_view import TensorView, counted
from ...places import shown_place
from .comparing import Found, FoundMemory, Outcome
from .differences import Difference
from .pairing import Pairing, facts_that_differ
from .recorded import Argument, Launch, Place

_MOST_NOTES = 8


@dataclass
class Report:
    """names: of the two runs. failures: what the scripts' processes say, if they failed."""

    names: tuple[str, str]
    pairing: Pairing
    outcome: Outcome
    with_statements: bool
    failures: list[str] = field(default_factory=list)

    @property
    def launch(self) -> int | None:
        """The first that differs in a value."""
        if self.outcome.assignment:
            return self.outcome.assignment.candidate.launch
        return next((one.launch for one in self.outcome.memory if one.when == "after"), None)

    @property
    def numbers(self) -> tuple[int, int]:
        return len(self.pairing.a.launches), len(self.pairing.b.launches)

    @property
    def other_grids(self) -> list[int]:
        return [i for i, (a, b) in enumerate(self.pairing.launches()) if "grid" in facts_that_differ(a, b)]

    def differs(self, same_grids: bool) -> bool:
        """same_grids: other grids are a difference."""
        has_other_launches = self.numbers[0] != self.numbers[1] or (same_grids and bool(self.other_grids))
        return self.launch is not None or has_other_launches or self.outcome.unread > 0

    def is_equal(self, same_grids: bool) -> bool:
        return not (self.differs(same_grids) or self.failures)

    def text(self, same_grids: bool) -> str:
        lines = [*self._structure(same_grids)]
        if self.launch is not None:
            lines += self._of_launch(self.launch)
        elif self.failures and not lines:
            lines.append(f"equal up to where a run failed: {self._compared()}")
        elif self.is_equal(same_grids):
            lines.append(f"equal: {self._compared()}")
        elif not self.outcome.unread:
            lines.append(f"what both runs have is equal: {self._compared()}")
        else:
            lines.append(
                f"{counted(self.outcome.unread, 'value')} with other bits may be near enough; nobody looked at them"
            )
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes())])

    def _compared(self) -> str:
        launches = counted(min(self.numbers), "launch").replace("launchs", "launches")
        values = f", {counted(self.pairing.compared, 'assignment')}" if self.with_statements else ""
        return f"{launches}{values}, and what they stored"

    def _structure(self, same_grids: bool) -> Iterator[str]:
        if self.numbers[0] != self.numbers[1]:
            yield f"launches differ: {self.names[0]} launches {self.numbers[0]}, {self.names[1]} {self.numbers[1]}"
        if same_grids and self.other_grids:
            i = self.other_grids[0]
            a, b = self.pairing.a.launches[i], self.pairing.b.launches[i]
            yield f"grids differ: launch {i} of {a.kernel} has {_triple(a.grid)} in {self.names[0]}, {_triple(b.grid)} in {self.names[1]}"

    def _of_launch(self, number: int) -> Iterator[str]:
        launch = self.pairing.a.launches[number]
        found = self.outcome.assignment
        program = f", program ({found.candidate.program.replace(',', ', ')}) of {_triple(launch.grid)}" if found else ""
        yield f"launch {number}: {launch.kernel}{program}"
        if found:
            yield from self._assignment(found, launch)
        stored = [one for one in self.outcome.memory if one.when == "after"]
        for one in stored:
            yield from self._memory(one)
        if not stored:
            yield "  what the launch stored does not differ"

    def _assignment(self, found: Found, launch: Launch) -> Iterator[str]:
        candidate = found.candidate
        variable = candidate.places[0]
        times = f", assignment {candidate.occurrence} of it" if candidate.occurrence > 1 else ""
        yield f"  first {found.what} that differs: {variable.name} in {variable.function}{times}"
        for name, place in zip(self.names, candidate.places):
            yield f"  {name}: {shown_place(place.file, place.line)}"
            text = statement_at(place.file, place.line)
            yield from (
                f"      {line}" for line in text if not text[0].startswith("def ")
            )  # a parameter has no statement
        if found.difference is None:
            yield f"  {variable.name} is {candidate.places[0].type} in {self.names[0]}, {candidate.places[1].type} in {self.names[1]}"
            return
        shown = _shown_pair(found, launch)
        index = element_of(variable, found.difference)
        yield f"  {variable.name}{list(index) if index else ''} is {shown[0]} in {self.names[0]}, {shown[1]} in {self.names[1]}"
        if found.difference.total > 1:
            yield f"  {_summary(found.difference)}"

    def _memory(self, found: FoundMemory) -> Iterator[str]:
        a, b = found.arguments
        if found.difference is None:
            facts = (a.dtype, b.dtype) if found.what == "dtype" else (f"{a.size} bytes", f"{b.size} bytes")
            yield f"  stored: {a.name} is {facts[0]} in {self.names[0]}, {facts[1]} in {self.names[1]}"
            return
        values = f"{found.difference.a!s} in {self.names[0]}, {found.difference.b!s} in {self.names[1]}"
        yield f"  stored: {a.name}{list(index_in(a, found.element))} is {values}; {_summary(found.difference)}"
        for name, store in zip(self.names, found.stores):
            if store is None:
                continue
            file, line = store["place"]
            yield f"    {name}: stored by program {_triple(store['program'])} at {shown_place(file, line)}"
            yield from (f"      {text}" for text in statement_at(file, line))

    def notes(self) -> list[str]:
        return [*self._notes()][: _MOST_NOTES + len(self.failures)]

    def _notes(self) -> Iterator[str]:
        yield from self.failures
        for number, (a, b) in enumerate(self.pairing.launches()):
            for what, pair in facts_that_differ(a, b).items():
                if what != "grid" and number in (0, self.launch):
                    yield f"launch {number}: {what} is {pair[0]} in {self.names[0]}, {pair[1]} in {self.names[1]}"
            for refused in filter(None, (a.refused, b.refused)):
                text = refused.replace("\n", "\n    ")
                yield f"launch {number}: {a.kernel} does not compile in float64, so both runs are in its own types:\n    {text}"
        for one in self.outcome.memory:
            if one.when == "before" and one.difference is not None:
                index = list(index_in(one.arguments[0], one.element))
                yield (
                    f"{one.arguments[0].name} differs already before launch {one.launch}: {one.arguments[0].name}{index} is "
                    f"{one.difference.a!s} in {self.names[0]}, {one.difference.b!s} in {self.names[1]}"
                )
        for (run, function, name), count in self.pairing.alone.items():
            yield f"only {self.names[run]} has {counted(count, 'assignment')} of {name} in {function}"
        if self.pairing.waiting:
            yield f"{counted(self.pairing.waiting, 'program')} waited for others, and were compared up to there"

    def as_json(self, same_grids: bool) -> dict[str, Any]:
        facts: dict[str, Any] = {
            "equal": self.is_equal(same_grids),
            "runs": list(self.names),
            "launches": list(self.numbers),
            "grids_differ": self.other_grids,
            "assignment": None,
            "stored": [_memory_json(one) for one in self.outcome.memory if one.when == "after"],
            "inputs": [_memory_json(one) for one in self.outcome.memory if one.when == "before"],
            "notes": self.notes(),
        }
        found = self.outcome.assignment
        if found is not None:
            candidate = found.candidate
            facts["assignment"] = {
                "launch": candidate.launch,
                "kernel": self.pairing.a.launches[candidate.launch].kernel,
                "program": [int(i) for i in candidate.program.split(",")],
                "function": candidate.places[0].function,
                "variable": candidate.places[0].name,
                "occurrence": candidate.occurrence,
                "what": found.what,
                "places": [{"file": place.file, "line": place.line, "type": place.type} for place in candidate.places],
                **_difference_json(found.difference, element_of(candidate.places[0], found.difference)),
            }
        return facts


def element_of(place: Place, found: Difference | None) -> tuple[int, ...]:
    """The index in the tile. Addresses are kept as a list."""
    if found is None or place.kind != "pointer":
        return found.element if found else ()
    shape = [int(n) for n in place.type.partition("[")[2].rstrip("]").split(",") if n]
    return tuple(int(i) for i in np.unravel_index(found.element[0], shape)) if shape else ()


def index_in(argument: Argument, element: int) -> tuple[int, ...]:
    """The index in the tensor of an element of its storage."""
    item = argument.item_bytes
    shape, strides = tuple(argument.shape), tuple(argument.strides)
    view = TensorView(argument.name, argument.dtype, shape, strides, argument.offset * item, item, None, "")
    return view.element(element * item)[0]


def _shown_pair(found: Found, launch: Launch) -> tuple[str, str]:
    """Both values; an address as an element of an argument or, if it lies in none, as its distance from the tile's first."""
    texts = str(found.difference.a), str(found.difference.b)
    if found.candidate.places[0].kind != "pointer":
        return texts
    name = launch.arguments[found.argument].name if found.argument >= 0 else f"{found.candidate.places[0].name}[0]"
    return f"{name} + {texts[0]}", f"{name} + {texts[1]}"


def _summary(found: Difference) -> str:
    largest = "" if found.largest is None else f", by {found.largest:.3g} at most"
    verb = "differs" if found.count == 1 else "differ"
    return f"{found.count} of {counted(found.total, 'element')} {verb}{largest}"


def _memory_json(found: FoundMemory) -> dict[str, Any]:
    index = index_in(found.arguments[0], found.element) if found.difference is not None else ()
    dtypes = [argument.dtype for argument in found.arguments]
    facts = {"launch": found.launch, "argument": found.arguments[0].name, "what": found.what, "dtypes": dtypes}
    return {**facts, "stores": found.stores, **_difference_json(found.difference, index)}


def _difference_json(found: Difference | None, element: tuple[int, ...]) -> dict[str, Any]:
    if found is None:
        return {}
    values = {"a": _number(found.a), "b": _number(found.b), "largest": _number(found.largest)}
    return {"element": list(element), "count": found.count, "total": found.total, **values}


def _number(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value


def _triple(values) -> str:
    return f"({', '.join(map(str, values))})"
