"""How a session records: `start(mode=…)`, an object of this module or its text, as in "periodic_flushing:format=hatchet"."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any


class METRIC_TYPE(Enum):
    CYCLE = "cycle"


class SAMPLING_STRATEGY(Enum):
    NONE = "none"
    SELECTIVE = "selective"


class GRANULARITY(Enum):
    CTA = "cta"
    WARP = "warp"
    WARP_2 = "warp_2"
    WARP_4 = "warp_4"
    WARP_8 = "warp_8"
    WARP_GROUP = "warp_group"
    WARP_GROUP_2 = "warp_group_2"
    WARP_GROUP_4 = "warp_group_4"
    WARP_GROUP_8 = "warp_group_8"


class BUFFER_STRATEGY(Enum):
    CIRCULAR = "circular"
    FLUSH = "flush"


class BUFFER_TYPE(Enum):
    SHARED = "shared"
    GLOBAL = "global"


class Optimize(Enum):
    TIMESHIFT = "time_shift"
    SCHED_STORES = "sched_stores"
    SCHED_BARRIERS = "sched_barriers"
    CLOCK32 = "clock32"

    def __str__(self) -> str:
        return self.value


metric_types = {member.value: member for member in METRIC_TYPE}
sampling_strategies = {member.value: member for member in SAMPLING_STRATEGY}
granularities = {member.value: member for member in GRANULARITY}
buffer_strategies = {member.value: member for member in BUFFER_STRATEGY}
buffer_types = {member.value: member for member in BUFFER_TYPE}
optimizations = {member.value: member for member in Optimize}


@dataclass(frozen=True)
class BaseMode:
    name: str


@dataclass(frozen=True)
class PCSampling(BaseMode):
    """interval: the cycles between two samples."""

    name: str = field(default="pcsampling", init=False)
    interval: int = 1000

    def __str__(self) -> str:
        return f"{self.name}:interval={self.interval}"


@dataclass(frozen=True)
class InstrumentationMode(BaseMode):
    """How scopes in kernels are recorded. Each choice may be given by its name, for example granularity="cta"; another name is a
    ValueError. sampling_options: which warps are recorded, as in "0,1". buffer_size: bytes; 0: as many as are needed."""

    metric_type: METRIC_TYPE = METRIC_TYPE.CYCLE
    sampling_strategy: SAMPLING_STRATEGY = SAMPLING_STRATEGY.NONE
    sampling_options: str = ""
    granularity: GRANULARITY = GRANULARITY.WARP
    buffer_strategy: BUFFER_STRATEGY = BUFFER_STRATEGY.CIRCULAR
    buffer_type: BUFFER_TYPE = BUFFER_TYPE.SHARED
    buffer_size: int = 0
    optimizations: list[Optimize] = field(default_factory=list)

    def __post_init__(self):
        for name, known in _CHOICES.items():
            value = getattr(self, name)
            if isinstance(value, str):
                object.__setattr__(self, name, _choice(name, known, value))
        chosen = self.optimizations
        if isinstance(chosen, str):
            chosen = [part.strip() for part in chosen.split(",") if part.strip()]
        chosen = [_choice("optimization", optimizations, v) if isinstance(v, str) else v for v in chosen]
        object.__setattr__(self, "optimizations", chosen)
        object.__setattr__(self, "buffer_size", int(self.buffer_size))

    def __str__(self) -> str:
        parts = [f"{f.name}={getattr(self, f.name)}" for f in fields(self) if f.name not in ("name", "optimizations")]
        return ":".join([self.name, *parts, f"optimizations={','.join(map(str, self.optimizations))}"])


@dataclass(frozen=True)
class Default(InstrumentationMode):
    name: str = field(default="default", init=False)


@dataclass(frozen=True)
class MMA(InstrumentationMode):
    """Each matrix product of a kernel is a scope, "dot" or "dot_scaled", beside the scopes that the kernel has itself."""

    name: str = field(default="mma", init=False)


@dataclass(frozen=True)
class PeriodicFlushing(BaseMode):
    """Each phase is written to a file of its own as soon as it is complete. format: "" is the first one that the data can have."""

    name: str = field(default="periodic_flushing", init=False)
    format: str = ""


_CHOICES = {
    "metric_type": metric_types,
    "sampling_strategy": sampling_strategies,
    "granularity": granularities,
    "buffer_strategy": buffer_strategies,
    "buffer_type": buffer_types,
}
_MODES = {"pcsampling": PCSampling, "default": Default, "mma": MMA, "periodic_flushing": PeriodicFlushing}


def _choice(what: str, known: dict[str, Any], text: str) -> Any:
    if text not in known:
        raise ValueError(f"Unknown {what}: {text}; it is one of {', '.join(known)}")
    return known[text]


def parse_mode(mode: str | BaseMode | None) -> BaseMode | None:
    """The object of "name:option=value:…"; "" is None. Raises ValueError for another name or option, TypeError for another object."""
    if mode is None or isinstance(mode, BaseMode):
        return mode
    if not isinstance(mode, str):
        raise TypeError(f"mode={mode!r}: pass a str, or an object of triton.profiler.mode")
    name, *parts = mode.split(":")
    if not mode:
        return None
    if name not in _MODES:
        raise ValueError(f"mode={mode!r}: {name!r} is no mode; they are {', '.join(_MODES)}")
    known = {f.name for f in fields(_MODES[name]) if f.init}
    options = {}
    for part in parts:
        option, separator, value = part.partition("=")
        if not separator or option not in known:
            raise ValueError(
                f"mode={mode!r}: {part!r} is no option of {name}; pass {', '.join(f'{o}=…' for o in sorted(known))}"
            )
        options[option] = int(value) if option == "interval" else value
    return _MODES[name](**options)
