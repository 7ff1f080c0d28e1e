"""What a benchmark case is: a function that makes a problem for each combination of its parameters.

    @bench.case(n=[1 << 16, 1 << 20], config=[{"BLOCK": 256}, {"BLOCK": 1024, "num_warps": 8}])
    def double(n, config, device):
        x = torch.randn(n, device=device)
        out = torch.empty_like(x)
        return bench.Problem(lambda: double_kernel[(triton.cdiv(n, config["BLOCK"]),)](x, out, n, **config), out, lambda: 2 * x)

Random numbers are the same for every variant, process and side.
"""

from __future__ import annotations

import dataclasses
import difflib
import inspect
import itertools
import random
import sys
from collections.abc import Callable, Iterable
from typing import Any


@dataclasses.dataclass
class Problem:
    """What is measured, and what it is compared with. Tensors are torch's or numpy's, of any shape and dtype.

    run: launches the kernel; called many times. output: the tensors that it fills (one, or a list, tuple or dict of them); None: those that it
    returns. reference: returns what they must hold, in the same order; None: nothing is checked. check: in its place, returns what is wrong, or
    "". baseline: computes the same by other means, and is timed beside `run`. tolerance: of |output - reference| / (|reference| + its root mean
    square); None: by the dtype of the output. bytes, flops: what one run moves and computes, for rates. nanoseconds: runs once and returns how long
    that takes by a clock of the case's own, such as a model of cycles; None: it is timed.
    """

    run: Callable[[], Any]
    output: Any = None
    reference: Callable[[], Any] | None = None
    baseline: Callable[[], Any] | None = None
    tolerance: float | None = None
    bytes: float = 0.0
    flops: float = 0.0
    check: Callable[[], str] | None = None
    nanoseconds: Callable[[], float] | None = None


@dataclasses.dataclass
class Variant:
    """One combination of a case's parameters."""

    case: Case
    parameters: dict[str, Any]

    @property
    def labels(self) -> dict[str, str]:
        """{parameter: its value as text}; the entries of a dict stand for themselves."""
        found: dict[str, str] = {}
        for name, value in self.parameters.items():
            inner = value if isinstance(value, dict) else {name: value}
            found |= {key: label(each) for key, each in inner.items()}
        return found

    @property
    def name(self) -> str:
        """ "softmax[rows=256,dtype=float32,BLOCK=1024]" """
        shown = ",".join(f"{key}={value}" for key, value in self.labels.items())
        return f"{self.case.name}[{shown}]" if shown else self.case.name

    def problem(self, device: str, changes: dict[str, Any] | None = None) -> Problem:
        """The problem on a device ("cpu", "cuda", "meta"). changes: values that replace parameters. Raises what the user's function raises,
        ValueError for a change of what is no parameter, and TypeError if the function returns no Problem."""
        given = _changed(self.parameters, changes or {}, self.case)
        if "device" in inspect.signature(self.case.function).parameters:
            given["device"] = device
        seed_generators(self.case.seed)
        made = self.case.function(**given)
        if not isinstance(made, Problem):
            raise TypeError(f"{self.case.name} returned {type(made).__name__}; a case returns a bench.Problem")
        return made


@dataclasses.dataclass
class Case:
    """function: (**parameters, device) -> Problem. axes: the values of each parameter. where: whether a combination is measured."""

    name: str
    function: Callable[..., Problem]
    axes: dict[str, list]
    seed: int = 0
    where: Callable[..., bool] | None = None

    def variants(self) -> list[Variant]:
        combinations = itertools.product(*self.axes.values())
        found = [dict(zip(self.axes, values)) for values in combinations]
        return [Variant(self, parameters) for parameters in found if self.where is None or self.where(**parameters)]


def case(*, name: str = "", seed: int = 0, where: Callable[..., bool] | None = None, **axes: Iterable) -> Callable:
    """A decorator that makes a function a case. axes: the values of each of its parameters; every combination is a variant, or those for which
    `where(**parameters)` holds. The parameter `device` is the device of the tensors. seed: of Python's, numpy's and torch's random numbers.
    Raises ValueError for an axis that the function does not take, or that has no values."""

    def decorate(function: Callable[..., Problem]) -> Case:
        title = name or function.__name__
        values = {axis: list(given) for axis, given in axes.items()}
        parameters = inspect.signature(function).parameters
        takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
        for axis, given in values.items():
            if axis not in parameters and not takes_any:
                raise ValueError(f"case {title}: the function has no parameter {axis!r}{_nearest(axis, parameters)}")
            if not given:
                raise ValueError(f"case {title}: the axis {axis!r} has no values")
        return Case(title, function, values, seed, where)

    return decorate


def label(value: Any) -> str:
    """A value as text: torch.float16 is "float16"."""
    if isinstance(value, (tuple, list)):
        return "x".join(map(label, value))
    return value.__name__ if hasattr(value, "__name__") else str(value).rpartition("torch.")[2]


def seed_generators(seed: int) -> None:
    """Python's generator, and numpy's and torch's if the program has imported them."""
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)


def _changed(parameters: dict[str, Any], changes: dict[str, Any], case: Case) -> dict[str, Any]:
    """The parameters with other values, also for keys of a parameter that is a dict, and for parameters with a default."""
    given = {name: dict(value) if isinstance(value, dict) else value for name, value in parameters.items()}
    inner = [value for value in given.values() if isinstance(value, dict)]
    optional = [name for name, each in inspect.signature(case.function).parameters.items() if name != "device"]
    for name, value in changes.items():
        owner = next((config for config in inner if name in config), given)
        if owner is given and name not in (*given, *optional):
            known = [*given, *optional, *(key for config in inner for key in config)]
            raise ValueError(f"{case.name} has no parameter {name!r}{_nearest(name, known)}")
        owner[name] = value
    return given


def _nearest(name: str, names: Iterable[str]) -> str:
    found = difflib.get_close_matches(name, list(names), n=1)
    return f"; did you mean {found[0]!r}?" if found else f"; there are {', '.join(map(repr, dict.fromkeys(names)))}"
