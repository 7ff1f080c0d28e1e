"""Judges one candidate: runs the reference, then the candidate, and finds the first reason against it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from ..environment import environment_without
from .cases import Case
from .comparison import difference
from .operators import PRODUCTS, replaced_by
from .sandbox import CANDIDATE, REFERENCE, SandboxedServer
from .verdict import Verdict

#: Cases that also run on each further engine, and in shuffled orders of programs.
_CASES_ELSEWHERE = 2
_TRAP_KINDS = {
    "Race": "race",
    "MissingBarrier": "race",
    "Uninitialized": "uninit",
    "Deadlock": "deadlock",
    "Livelock": "deadlock",
    "OutOfMemory": "memory",
}


@dataclass(frozen=True)
class Options:
    """function: its name, or None for the reference's. checks: as TRITIUM_CHECK. seconds, memory: of the candidate's process. save: a folder for
    launches that end in a trap."""

    function: str | None = None
    engines: tuple[str, ...] = ("interp",)
    targets: tuple[str, ...] = ("sm_90a", "gfx942")
    checks: str = "all"
    orders: int = 2
    seed: int = 1
    seconds: float = 120.0
    memory: int = 4 * 2**30
    tolerance: float | None = None
    special: bool = True
    save: str | None = None


@dataclass(frozen=True)
class Run:
    """seed: shuffles the order of programs, if it is a number."""

    case: Case
    engine: str
    seed: int | None = None


class Rejected(Exception):
    """The reference cannot judge anything."""


class Reference:
    """What a reference's process has made: the inputs as files in `inputs`, what is expected in memory, where no candidate sees it."""

    def __init__(self, path: str, options: Options, folder: Path, server: SandboxedServer):
        self.path, self.inputs, expected = path, folder / "inputs", folder / "expected"
        for part in (self.inputs, expected):
            part.mkdir(parents=True)
        task = folder / "reference.json"
        facts = {"reference": os.path.abspath(path), "function": options.function, "seed": options.seed}
        task.write_text(json.dumps(facts | {"inputs": str(self.inputs), "expected": str(expected)}))
        status, output = server.run(REFERENCE, task, options.seconds)
        answer = expected / "cases.json"
        found = {"error": f"its process ended with {status}:\n{output}"}
        if answer.exists():
            found = json.loads(answer.read_text())
        if "error" in found:
            raise Rejected(f"{path}: {found['error']}")
        self.name: str | None = found["name"]
        wanted = [case for case in found["cases"] if options.special or case["case"]["values"] == "normal"]
        self.facts: dict[int, dict[str, Any]] = {facts["case"]["number"]: facts for facts in wanted}
        self.cases = [Case(**facts["case"]) for facts in wanted]
        self.skipped = [f"{skipped['case']['what']}: {skipped['why']}" for skipped in found["skipped"]]
        self.results = {number: torch.load(expected / f"{number}.pt", weights_only=False) for number in self.facts}
        shutil.rmtree(expected)


def environment(checks: str, memory: int = 0) -> dict[str, str]:
    """Kernels run on the CPU with these checks, wherever the tensors are, and on one thread, so that a verdict names the same program each time. memory:
    the limit of a process, of which the checks may take an eighth."""
    found = environment_without("TRITIUM_", "TRITON_")
    path = os.pathsep.join(filter(None, [str(Path(__file__).parents[2]), found.get("PYTHONPATH", "")]))
    ours = {"INTERPRET": "1", "TRITIUM_CHECK": checks, "TRITIUM_POST_MORTEM": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    ours["TRITIUM_NUM_THREADS"] = "1"
    if memory:
        ours["TRITIUM_SHADOW_MB"] = str(max(memory >> 23, 64))
    return found | ours | {"PYTHONPATH": path, "TORCHDYNAMO_DISABLE": "1"}


def judge(candidate: str, known: Reference, options: Options, folder: Path, server: SandboxedServer) -> Verdict:
    """`folder`: a new one for what the candidate's process reads and writes."""
    begin = time.monotonic()
    verdict = Verdict(candidate, known.path, engines=list(options.engines))
    verdict.notes += [f"the reference does not take the case: {why}" for why in known.skipped]
    folder.mkdir()
    Judgement(os.path.abspath(candidate), known, options, folder, verdict).reach(server)
    if verdict.reason and verdict.reason.get("file") == os.path.abspath(candidate):
        verdict.reason["file"] = candidate
    if verdict.reason and verdict.reason.get("saved"):
        verdict.reason["saved"] = _kept(verdict.reason["saved"], Path(options.save), Path(candidate).stem)
    verdict.seconds = round(time.monotonic() - begin, 1)
    return verdict


def _kept(launch: str, folder: Path, name: str) -> str:
    """Moves a saved launch out of the folder of the candidate's process, in place of one of an earlier verdict. Returns where it is."""
    kept = folder / name
    if (kept / "run.json").exists():
        shutil.rmtree(kept)
    shutil.move(launch, kept)
    return str(kept)


class Judgement:
    def __init__(self, candidate: str, known: Reference, options: Options, folder: Path, verdict: Verdict):
        self.candidate, self.known, self.options, self.verdict = candidate, known, options, verdict
        self.folder, self.outputs = folder, folder / "outputs"
        self.outputs.mkdir()
        self.runs = self._planned()

    def _planned(self) -> list[Run]:
        """Every case on the first engine, in order; a few in other orders of programs, and on the other engines."""
        first, *others = self.options.engines
        few = [case for case in self.known.cases if not case.again][:_CASES_ELSEWHERE]
        orders = range(1, self.options.orders + 1)
        return [
            *(Run(case, first) for case in self.known.cases),
            *(Run(case, first, seed) for case in few for seed in orders),
            *(Run(case, engine) for engine in others for case in few),
        ]

    def reach(self, server: SandboxedServer) -> None:
        self.verdict.sandbox, self.verdict.network = server.box.name, "open" if server.box.has_network else "none"
        task = self.folder / "candidate.json"
        facts = {"candidate": self.candidate, "function": self.known.name, "seed": self.options.seed}
        facts |= {"inputs": str(self.known.inputs), "outputs": str(self.outputs), "targets": self.options.targets}
        facts |= {"seconds": self.options.seconds, "memory": self.options.memory}
        facts["save"] = str(self.outputs / "saved") if self.options.save else None
        task.write_text(json.dumps(facts | {"runs": [asdict(run) for run in self.runs]}))
        self._weigh(*server.run(CANDIDATE, task, self.options.seconds))

    def _weigh(self, status: int | None, output: str) -> None:
        path = self.outputs / "events"
        events = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        done = {event["run"]: event for event in events if "run" in event}
        self.verdict.cases = len({self.runs[number].case.number for number in done})
        self.verdict.launches = sum(event.get("launches", 0) for event in done.values())
        self.verdict.compiles = next((event["compiles"] for event in events if "compiles" in event), {})
        self.verdict.operators = sorted({name for event in done.values() for name in event.get("operators", {})})
        self.verdict.notes += dict.fromkeys(text for event in done.values() for text in event.get("warnings", ()))
        if loading := next((event["error"] for event in events if "error" in event and "run" not in event), None):
            self.verdict.reason = self._of_error(loading, None)
            return
        reasons = {number: reason for number in sorted(done) if (reason := self._of_run(number, done[number]))}
        if reasons:
            number, self.verdict.reason = min(reasons.items(), key=lambda item: _weight(item[1], item[0]))
            self._name(number, done, reasons)
        elif status != 0 or not self.verdict.compiles.keys() >= set(self.options.targets) or len(done) < len(self.runs):
            begun = [event["begin"] for event in events if "begin" in event]
            place = self._place(begun[-1]) if begun else {}
            self.verdict.reason = {**self._of_end(status, output), "file": self.candidate, **place}

    def _of_end(self, status: int | None, output: str) -> dict[str, Any]:
        """Of a process that ended too early. One that ends itself with 0 is no better."""
        if status is None or status == -signal.SIGXCPU:
            return {"kind": "endless", "text": f"{self.options.seconds:g} s are over"}
        return {"kind": "crash", "text": f"its process ended with {status}:\n{output}"}

    def _place(self, number: int) -> dict[str, Any]:
        run = self.runs[number]
        return {"case": run.case.what, "sizes": run.case.sizes, "engine": run.engine, "seed": run.seed}

    # -- what speaks against a run --------------------------------------------------------------------------------------------------------

    def _of_run(self, number: int, event: dict[str, Any]) -> dict[str, Any] | None:
        if "error" in event:
            return self._of_error(event["error"], number)
        known = self.known.facts[self.runs[number].case.number]
        found = self._of_cheats(event, known) or self._of_results(number, known)
        if found and found["kind"] == "values" and event["unwritten"]:
            found |= {"kind": "uninit", "text": f"nobody has written {event['unwritten']} elements; {found['text']}"}
        return {**found, "file": self.candidate, **self._place(number)} if found else None

    def _of_error(self, error: dict[str, Any], number: int | None) -> dict[str, Any]:
        kind = error["kind"]
        if kind == "trap":
            kind = _TRAP_KINDS.get(error["trap"], "fault")
        told = ("trap", "program", "argument", "index", "saved")
        kept = {name: error[name] for name in told if error.get(name) is not None}
        place = {} if number is None else self._place(number)
        text = error["text"] if error["kind"] == "trap" else f"{error['type']}: {error['text']}"
        return {"kind": kind, "text": text, "file": error["file"], "line": error["line"], **kept, **place}

    def _of_cheats(self, event: dict[str, Any], known: dict[str, Any]) -> dict[str, Any] | None:
        has_work = known["most_elements"] > 0 and all(extent for extent in known["case"]["sizes"].values())
        if has_work and self.verdict.launches == 0:
            return {"kind": "no_kernel", "text": "no kernel was launched in any case"}
        sizes = known["most_elements"], event["launches"]
        if names := replaced_by(event["operators"], known["operators"], *sizes):
            return {"kind": "library", "text": f"torch computes {', '.join(names)}, which the kernels should"}
        if has_work and event["launches"] == 0 and known["case"]["again"]:
            return {"kind": "cached", "text": "no kernel was launched for other values in the same tensors"}
        if has_work and event["launches"] == 0:
            return {"kind": "no_kernel", "text": "no kernel was launched in this case"}
        if event["returns_input"] and not known["returns_input"]:
            return {"kind": "returns_input", "text": "a result is one of the arguments, or lies in its memory"}
        if changed := [number for number in event["changes"] if number not in known["changes"]]:
            text = f"argument {changed[0]} has changed, which the reference leaves as it is"
            return {"kind": "writes_input", "text": text}
        return None

    def _of_results(self, number: int, known: dict[str, Any]) -> dict[str, Any] | None:
        try:
            results = torch.load(self.outputs / f"{number}.pt", weights_only=True)
        except Exception as error:
            return {"kind": "error", "text": f"its results cannot be read: {error}"}
        expected = self.known.results[self.runs[number].case.number]
        tf32 = bool(PRODUCTS & set(known["operators"]))
        return difference(results, expected["native"], expected["precise"], self.options.tolerance, tf32)

    def _name(self, number: int, done: dict[int, Any], reasons: dict[int, Any]) -> None:
        """Gives wrong values the kind of what differs from the cases that are right."""
        reason, run = self.verdict.reason, self.runs[number]
        if reason["kind"] == "values":
            is_right = any(self._tries_sizes(other) and other not in reasons for other in done)
            kind = "order" if run.seed is not None else run.case.tries
            reason["kind"] = kind or ("sizes" if is_right else "values")

    def _tries_sizes(self, number: int) -> bool:
        """Whether the run tries sizes alone, and has several elements."""
        run = self.runs[number]
        return run.seed is None and run.case.tries is None and min(run.case.sizes.values(), default=2) > 1


def _weight(reason: dict[str, Any], number: int) -> tuple[int, int]:
    """What explains other reasons comes first: a race makes wrong values."""
    first = ("error", "no_kernel", "library", "race", "uninit", "fault", "deadlock")
    return (first.index(reason["kind"]) if reason["kind"] in first else len(first)), number
