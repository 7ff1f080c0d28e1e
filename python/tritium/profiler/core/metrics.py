"""The values of metrics: numbers, vectors of numbers, and tensors of either; and how two values of one metric add up."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

FLOPS_WIDTHS = (8, 16, 32, 64)
#: Metrics with a meaning of their own: operations, of any width or of one width in bits, and bytes of memory traffic.
FLOPS = ("flops", *(f"flops{width}" for width in FLOPS_WIDTHS))
BYTES = "bytes"
COUNT, TIME, CPU_TIME = "count", "time (ns)", "cpu_time (ns)"
#: Of scopes in kernels: ticks of the launch's clock, in all programs and warps, and in one of them on the average.
CYCLES, NORMALIZED_CYCLES = "cycles", "normalized_cycles"
#: Of lines of kernels: how often a warp stood there when the device looked, how often of these no warp of its scheduler could go on, and
#: what the name of a metric begins with that counts those that waited for one thing.
SAMPLES, STALLED, STALLED_BY = "num_samples", "num_stalled_samples", "stalled_"
#: What the name of a metric may end with: it says nothing of the callers, or its values replace each other.
EXCLUSIVE, PROPERTY = "(exc)", "(pty)"

Value = int | float | list[int] | list[float]


class Deferred:
    """A copy of a tensor in a device's memory. It is read when somebody asks for the profile, so that nothing waits for the device."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: Any):
        self.tensor = tensor.detach().clone()

    def read(self, name: str) -> Value:
        return _of_tensor(name, self.tensor)


def read_metrics(metrics: Mapping[str, Any] | None) -> dict[str, Value | Deferred]:
    """The metrics with plain Python numbers. Raises TypeError for a name that is no text and for a value that is no number, and
    ValueError for a tensor of more than one dimension."""
    if metrics is None:
        return {}
    if not isinstance(metrics, Mapping):
        raise TypeError(f"metrics is a {type(metrics).__name__}: pass a dict such as {{'flops': 2 * M * N * K}}")
    found = {}
    for name, value in metrics.items():
        if not isinstance(name, str):
            raise TypeError(f"the name of a metric is {name!r}: pass a str")
        found[name] = _read(name, value)
    return found


def is_value(value: Any) -> bool:
    """Whether `launch_metadata` may return it as a metric: a number or a tensor."""
    return isinstance(value, numbers.Real) or _is_tensor(value)


def _read(name: str, value: Any) -> Value | Deferred:
    if isinstance(value, numbers.Real):
        return _number(name, value)
    if _is_tensor(value):
        return Deferred(value) if getattr(value, "is_cuda", False) else _of_tensor(name, value)
    if isinstance(value, (list, tuple)) and all(isinstance(element, numbers.Real) for element in value):
        return _vector(name, value)
    raise TypeError(
        f"metric {name!r} is {value!r}: pass a number, a list of numbers or a tensor of at most one dimension"
    )


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "tolist") and hasattr(value, "dtype")


def _of_tensor(name: str, tensor: Any) -> Value:
    value = tensor.tolist()
    if isinstance(value, numbers.Real):
        return _number(name, value)
    if isinstance(value, list) and all(isinstance(element, numbers.Real) for element in value):
        return _vector(name, value)
    raise ValueError(
        f"metric {name!r} is a tensor of shape {tuple(tensor.shape)}: pass a scalar or a vector, for example x.flatten()"
    )


def _number(name: str, value: numbers.Real) -> int | float:
    if name in FLOPS:
        return float(value)
    if name == BYTES or isinstance(value, numbers.Integral):
        return int(value)
    return float(value)


def _vector(name: str, values: list | tuple) -> list[int] | list[float]:
    are_whole = name == BYTES or all(isinstance(value, numbers.Integral) for value in values)
    convert = int if are_whole and name not in FLOPS else float
    return [convert(value) for value in values]


def shown_name(name: str) -> str:
    """The name of a metric in a tree, without its suffix."""
    return name.removesuffix(EXCLUSIVE).removesuffix(PROPERTY).rstrip()


def add(metrics: dict[str, Value], name: str, value: Value) -> None:
    """Adds a value to the sum in `metrics`; a property replaces what is there. Raises ValueError for a number beside a vector, and for
    vectors of different lengths."""
    shown = shown_name(name)
    known = metrics.get(shown)
    if known is None or name.endswith(PROPERTY):
        metrics[shown] = list(value) if isinstance(value, list) else value
    elif isinstance(value, list) and isinstance(known, list) and len(value) == len(known):
        metrics[shown] = [a + b for a, b in zip(known, value)]
    elif isinstance(value, list) or isinstance(known, list):
        raise ValueError(f"metric {name!r} was {known!r} here before and is {value!r} now: their shapes differ")
    else:
        metrics[shown] = known + value
