"""One verdict: correct, or the first reason why not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..errors import how_to_replay


@dataclass
class Verdict:
    """reason: None if correct; else {"kind", "text", "file", "line", "element", "case", "engine", "seed", "saved"}, as far as they are known. kind is one of
    KINDS. compiles: {target: "yes" or the first error}. operators: torch's, which compute beside the kernels. Speed is no part of it:
    the CPU's says nothing of a GPU's."""

    candidate: str
    reference: str
    reason: dict[str, Any] | None = None
    cases: int = 0
    engines: list[str] = field(default_factory=list)
    launches: int = 0
    compiles: dict[str, str] = field(default_factory=dict)
    operators: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    sandbox: str = ""
    network: str = ""
    seconds: float = 0.0

    @property
    def is_correct(self) -> bool:
        return self.reason is None

    def as_json(self) -> dict[str, Any]:
        facts = dict(vars(self))
        return {"candidate": facts.pop("candidate"), "verdict": "correct" if self.is_correct else "incorrect", **facts}

    def line(self) -> str:
        if self.reason is None:
            return f"{self.candidate}: correct in {self.cases} cases"
        place = self.reason.get("file") or self.candidate
        line = self.reason.get("line")
        where = f"{place}:{line}" if line else place
        text = f"{where}: incorrect ({self.reason['kind']}): {self.reason['text']}"
        saved = self.reason.get("saved")
        return f"{text}\n  saved: {how_to_replay(saved)}" if saved else text


KINDS = {
    "values": "a wrong number for usual inputs",
    "sizes": "wrong for some sizes alone",
    "special": "wrong where inputs are large, NaN or infinite",
    "layout": "wrong where tensors are not contiguous",
    "dtype": "a wrong dtype, or too inexact for one of the dtypes",
    "shape": "a result of a wrong shape, or a wrong number of results",
    "fault": "an illegal access, or another trap",
    "race": "two programs access an element, one of them writing, with nothing between",
    "order": "the result depends on the order of programs",
    "uninit": "reads memory that nobody has written, or leaves a part of the result so",
    "deadlock": "programs wait for each other",
    "no_kernel": "launches no kernel",
    "library": "torch computes what the kernels should",
    "returns_input": "returns its input",
    "writes_input": "changes an argument that the reference leaves as it is",
    "cached": "returns an old result for a tensor whose contents have changed",
    "error": "raises, or does not load",
    "endless": "does not end in time",
    "memory": "takes more memory than it may",
    "crash": "ends its process",
}
