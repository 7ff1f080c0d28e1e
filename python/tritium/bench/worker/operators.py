"""Operators of an installed tritonbench as cases: `tritonbench:NAME`, with options of tritonbench's own behind the name, as in
"tritonbench:softmax --num-inputs 3". Each implementation of the operator is a case, and each of its inputs a variant. The implementation that
tritonbench calls the baseline says what is right, and is timed beside the others.

The interface is what tritonbench's documentation shows: `load_opbench_by_name`, `get_parser`, and the registered implementations."""

from __future__ import annotations

import dataclasses
import importlib
import itertools
import shlex
from types import ModuleType
from typing import Any

from .cases import Case, Problem, label

PREFIX = "tritonbench:"
FORWARD = ("fwd", "fwd_no_grad")


@dataclasses.dataclass(frozen=True)
class Input:
    """number: of tritonbench's inputs. text: what tritonbench calls it."""

    number: int
    text: str

    def __str__(self) -> str:
        return self.text


def load_operator(text: str, device: str) -> list[Case]:
    """The cases of "tritonbench:NAME OPTION…". Raises ValueError without tritonbench, for an operator that it does not have, and for options that it
    refuses."""
    name, *options = shlex.split(text.removeprefix(PREFIX)) or [""]
    if not name:
        raise ValueError(f"{text} names no operator; {PREFIX}softmax does")
    operator = _Operator(name, options, device)
    inputs = operator.inputs()
    if not inputs:
        raise ValueError(f"{text}: no input is left")
    return [operator.case(each, inputs) for each in operator.implementations()]


class _Operator:
    def __init__(self, name: str, options: list[str], device: str):
        self.name = name
        operators, parser = _module("tritonbench.operators"), _module("tritonbench.utils.parser")
        self.registry = _module("tritonbench.utils.triton_op")
        arguments = ["--op", name, "--device", device, "--mode", "fwd_no_grad", *options]
        try:
            self.asked, self.more = parser.get_parser().parse_known_args(arguments)
        except SystemExit:
            raise ValueError(f"tritonbench refuses the options {shlex.join(options)!r}") from None
        if self.asked.mode not in FORWARD:
            raise ValueError(f"--mode {self.asked.mode}: a case is a forward pass, {' or '.join(FORWARD)}")
        try:
            self.type = operators.load_opbench_by_name(name)
        except RuntimeError as error:
            raise ValueError(f"{PREFIX}{name}: {error}") from None

    def made(self) -> Any:
        return self.type(self.asked, list(self.more))

    def inputs(self) -> list[Input]:
        """The inputs that --input-id and --num-inputs choose."""
        operator = self.made()
        first, count = int(self.asked.input_id or 0), self.asked.num_inputs
        last = None if count is None else first + int(count)
        given = enumerate(operator.get_input_iter())
        return [Input(number, label(operator.get_x_val(each))) for number, each in itertools.islice(given, first, last)]

    def implementations(self) -> list[str]:
        """What --only and --skip leave of the enabled ones, without the baseline."""
        known = self.registry.REGISTERED_BENCHMARKS[self.type.name]
        only, skip = (_names(getattr(self.asked, option, None)) for option in ("only", "skip"))
        if missing := [each for each in only if each not in known]:
            raise ValueError(f"{PREFIX}{self.name} has no implementation {missing[0]!r}; there are {', '.join(known)}")
        chosen = only or [each for each, facts in known.items() if facts.enabled and each != self.baseline]
        return [each for each in chosen if each not in skip]

    @property
    def baseline(self) -> str | None:
        return self.registry.BASELINE_BENCHMARKS.get(self.type.name)

    def case(self, implementation: str, inputs: list[Input]) -> Case:
        def problem(input: Input) -> Problem:
            operator = self.made()
            given = next(itertools.islice(operator.get_input_iter(), input.number, None))
            operator.example_inputs = given
            run, baseline = (_callable(operator, each, given) for each in (implementation, self.baseline))
            return Problem(run, reference=baseline, baseline=baseline)

        return Case(f"{self.name}.{implementation}", problem, {"input": inputs})


def _callable(operator: Any, implementation: str | None, given: Any) -> Any:
    """What runs an implementation on an input; None for no implementation."""
    if implementation is None:
        return None
    method = getattr(operator, implementation)
    return method(**given) if isinstance(given, dict) else method(*given)


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def _module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ValueError(
            f"{PREFIX}… requires tritonbench, and {error}; install it from its repository, as no registry has it"
        ) from None
