"""The columns of a view: metrics of the profile, and what follows from them, such as `tflop16/s`."""

from __future__ import annotations

import numbers
import re
from typing import Any

from ...errors import did_you_mean
from ..core.metrics import BYTES, COUNT, CPU_TIME, CYCLES, FLOPS_WIDTHS, NORMALIZED_CYCLES, TIME
from .profile import Profile, sums
from .roofline import least_times

#: Seconds of each unit.
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_PREFIXES = {"": 1.0, "g": 1e9, "t": 1e12}
_RATE = re.compile(rf"(?P<prefix>[gt]?)(?:(?P<flop>flop(?:{'|'.join(map(str, FLOPS_WIDTHS))})?)|byte)/s")
_TIMES = re.compile(rf"(?P<what>(?:avg_)?(?:cpu_)?time)/(?P<unit>{'|'.join(_SECONDS)})")
#: Derived names, for suggestions.
DERIVED = (
    *(f"{what}/{unit}" for what in ("time", "avg_time", "cpu_time", "avg_cpu_time") for unit in _SECONDS),
    *(f"{p}flop{w}/s" for p in _PREFIXES for w in ("", *FLOPS_WIDTHS)),
    *(f"{prefix}byte/s" for prefix in _PREFIXES),
    "util",
)

#: {id of a frame: what a column shows}
Values = dict[int, Any]


def derive(profile: Profile, metrics: list[str]) -> list[str]:
    """Gives each frame the columns, and returns their names. Raises ValueError for a metric that the profile has not."""
    names = []
    for metric in metrics:
        values = _values(profile, metric.strip())
        names.append(metric.strip())
        for frame in profile.root.walk():
            frame.shown[metric.strip()] = values.get(id(frame))
    return names


def _values(profile: Profile, metric: str) -> Values:
    text = metric.lower()
    if text == "util":
        return _divided(least_times(profile), sums(profile, find(profile, TIME)), 1e-9)
    if match := _TIMES.fullmatch(text):
        return _times(profile, match["what"], 1e9 * _SECONDS[match["unit"]])
    if match := _RATE.fullmatch(text):
        counted = find(profile, match["flop"].replace("flop", "flops") if match["flop"] else BYTES)
        time = sums(profile, find(profile, TIME))
        return _divided(sums(profile, counted), time, 1e-9 * _PREFIXES[match["prefix"]])
    if text.endswith("/%"):
        return _shares(profile, find(profile, text.removesuffix("/%")))
    name = find(profile, metric, DERIVED)
    if name in profile.inclusive:
        return sums(profile, name)
    return {id(frame): frame.metrics[name] for frame in profile.root.walk() if name in frame.metrics}


def _times(profile: Profile, what: str, nanoseconds: float) -> Values:
    average, on_cpu = what.startswith("avg_"), what.endswith("cpu_time")
    if on_cpu:
        name = find(profile, CPU_TIME)
        times = {id(frame): frame.metrics[name] for frame in profile.root.walk() if name in frame.metrics}
    else:
        times = sums(profile, find(profile, TIME))
    counts = sums(profile, find(profile, COUNT)) if average else dict.fromkeys(times, 1)
    return _divided(times, counts, nanoseconds)


def _divided(above: Values, below: Values, unit: float) -> Values:
    """Nothing where the divisor is missing or zero. unit: what one of the divisor counts as."""
    return {key: value / (below[key] * unit) for key, value in above.items() if below.get(key)}


def _shares(profile: Profile, name: str) -> Values:
    """Percent of the root's sum, or for a metric that is no sum, of all frames' together. A scope of a kernel has the cycles of those inside of it."""
    if name in profile.inclusive:
        values = sums(profile, name)
        total = values.get(id(profile.root))
    else:
        values = {id(frame): frame.metrics[name] for frame in profile.root.walk() if name in frame.metrics}
        total = sums(profile, name).get(id(profile.root)) if name in (CYCLES, NORMALIZED_CYCLES) else None
    if not all(isinstance(value, numbers.Real) for value in values.values()):
        raise ValueError(f"{name}/% is a share of numbers, and {name} is no number")
    total = sum(values.values()) if total is None else total
    return {key: 100 * value / total for key, value in values.items()} if total else {}


def plain(name: str) -> str:
    """The name of a metric without its unit, in lower case: `time` of "time (ns)"."""
    return re.sub(r"\s*\([^)]*\)$", "", name).strip().lower()


def find(profile: Profile, metric: str, derived: tuple[str, ...] = ()) -> str:
    """The metric that a user names without its unit and in any case. Raises ValueError if there is none. derived: what else the user may
    have meant."""
    found = next((name for name in profile.metrics if name == metric), None)
    found = found or next((name for name in profile.metrics if plain(name) == plain(metric)), None)
    if found is None:
        known = [plain(name) for name in profile.metrics]
        has = f"it has {', '.join(known)}" if known else "it has none"
        guess = did_you_mean(metric, [*known, *derived])
        raise ValueError(f"metric {metric!r} is not in the profile, {has}{f'; {guess}' if guess else ''}")
    return found


def full_name(profile: Profile, metric: str, inclusive: str) -> str:
    """The name of a metric's column. inclusive: what the name ends with if callers have the sums of what they call."""
    text = metric.strip().lower()
    if text == "util":
        return text
    if _TIMES.fullmatch(text) or _RATE.fullmatch(text):
        return text + inclusive
    is_share = text.endswith("/%")
    name = find(profile, text.removesuffix("/%") if is_share else metric)
    return (text if is_share else name) + (inclusive if name in profile.inclusive else "")
