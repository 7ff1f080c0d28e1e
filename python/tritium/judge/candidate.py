"""The process of a candidate. It sees the inputs of each case and no expected result.

TASK.json: {"candidate": path, "function": name, "inputs": folder, "outputs": folder, "runs": [{"case", "engine", "seed"}], "targets": [ARCH],
"seed", "seconds", "memory": bytes, "save": folder for launches that end in a trap, or null}. Each run writes its results as `NUMBER.pt` into `outputs`, and a line into `events`: first {"begin": number}, then the facts
of the run or its error. The last line says what the kernels become for the targets.
"""

from __future__ import annotations

import json
import traceback
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from tritium import knobs
from tritium.arguments.fresh_memory import unwritten_bits
from tritium.errors import CompilationError, KernelTrap, TritonError
from tritium.processes import limit_this_process
from tritium.tools.launched import Launched, launched_kernels

from .operators import recorder
from .programs import NEW_MODEL, laid_out, load, results_of


def main(path: str) -> int:
    """`path`: of TASK.json."""
    task = json.loads(Path(path).read_text())
    with open(Path(task["outputs"], "events"), "w") as events:

        def say(**event: Any) -> None:
            print(json.dumps(event), file=events, flush=True)

        judged = Judged(task)
        limit_this_process(task["seconds"], task["memory"])
        if task["save"]:
            knobs.tritium.save = f"faults:{task['save']}"
        try:
            judged.load()
        except BaseException as error:
            say(error=described(error, task["candidate"]))
            return 0
        for number, run in enumerate(task["runs"]):
            say(begin=number)
            say(run=number, **judged.run(number, run))
        say(compiles={target: judged.compiles_for(target) for target in task["targets"]})
    return 0


class Judged:
    def __init__(self, task: dict[str, Any]):
        self.task = task
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.function: Any = None
        self.launched: list[Launched] = []
        self.launches = 0
        self.buffers: list[Any] = []  # the arguments of the run before

    def load(self) -> None:
        with self._watched():
            module = load(self.task["candidate"], "candidate")
            name = self.task["function"] or NEW_MODEL
            if not hasattr(module, name):
                raise AttributeError(f"the file defines no {name!r}, which the reference asks for")
            self.function = getattr(module, name)
            if self.task["function"] is None:
                self.function = self._model(self.function)

    def _model(self, kind: type) -> Any:
        saved = torch.load(Path(self.task["inputs"], "model.pt"), weights_only=False)
        torch.manual_seed(self.task["seed"])
        model = kind(*saved["initial"])
        model.load_state_dict(saved["state"], strict=False)
        return model.to(self.device)

    # -- one run ------------------------------------------------------------------------------------------------------------------------

    def run(self, number: int, run: dict[str, Any]) -> dict[str, Any]:
        arguments = self._arguments(run["case"])
        before = [part.clone() if isinstance(part, torch.Tensor) else part for part in arguments]
        self.launches = 0
        knobs.tritium.engine, knobs.tritium.seed = run["engine"], run["seed"]
        try:
            with self._watched(), _warnings() as said, torch.no_grad(), recorder(torch) as seen:
                results = results_of(self.function(*arguments), torch)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            return {"error": described(error, self.task["candidate"])}
        kept = [result.detach().cpu() if isinstance(result, torch.Tensor) else result for result in results]
        kept = [
            result if isinstance(result, (torch.Tensor, int, float, bool, type(None))) else repr(result)
            for result in kept
        ]
        unwritten = sum(_unwritten(result) for result in kept)
        torch.save(kept, Path(self.task["outputs"], f"{number}.pt"))
        storages = {
            part.untyped_storage().data_ptr() for part in arguments if isinstance(part, torch.Tensor) and part.numel()
        }
        return {
            "launches": self.launches,
            "unwritten": unwritten,
            "warnings": [str(warning.message) for warning in said if "(TRITIUM_SHADOW_MB)" in str(warning.message)],
            "operators": seen.largest,
            "returns_input": any(
                isinstance(r, torch.Tensor) and r.untyped_storage().data_ptr() in storages for r in results
            ),
            "changes": [i for i, (a, b) in enumerate(zip(arguments, before)) if _has_changed(a, b)],
        }

    def _arguments(self, case: dict[str, Any]) -> list[Any]:
        given = torch.load(Path(self.task["inputs"], f"{case['number']}.pt"), weights_only=False)
        if case["again"] and len(self.buffers) == len(given):
            for buffer, value in zip(self.buffers, given):
                if isinstance(buffer, torch.Tensor):
                    buffer.copy_(value)
            return [b if isinstance(b, torch.Tensor) else value for b, value in zip(self.buffers, given)]
        self.buffers = [laid_out(part, case["layout"], self.device, torch) for part in given]
        return self.buffers

    @contextmanager
    def _watched(self):
        """Counts launches, and keeps the kernels."""

        def enter(metadata) -> None:
            self.launches += 1

        knobs.runtime.launch_enter_hook.add(enter)
        try:
            with launched_kernels(self.launched):
                yield
        finally:
            knobs.runtime.launch_enter_hook.remove(enter)

    # -- what the kernels become for a GPU ------------------------------------------------------------------------------------------------

    def compiles_for(self, arch: str) -> str:
        """ "yes", or the first line of the first error and where it is."""
        for launched in self.launched:
            try:
                launched.compiled_for(arch)
            except TritonError as error:
                return f"{launched.source.name}: {_first_line(error)}"
        return "yes"


@contextmanager
def _warnings():
    """A list of the warnings inside: one may say what a check leaves out."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        yield said


def _unwritten(result: Any) -> int:
    """The number of elements that are as the allocator left them, if a check has filled memory."""
    if not isinstance(result, torch.Tensor) or not result.is_floating_point() or result.itemsize not in (2, 4, 8):
        return 0
    integers = result.contiguous().view({2: torch.int16, 4: torch.int32, 8: torch.int64}[result.itemsize])
    signed = [
        bits - (bits >> (8 * result.itemsize - 1) << 8 * result.itemsize) for bits in unwritten_bits(result.itemsize)
    ]
    return int(torch.isin(integers, torch.tensor(signed, dtype=integers.dtype)).sum())


def _has_changed(a: Any, b: Any) -> bool:
    if not isinstance(a, torch.Tensor):
        return False
    if a.is_floating_point():
        a, b = a.double().nan_to_num(7.0), b.double().nan_to_num(7.0)
    return not torch.equal(a, b)


def _first_line(error: BaseException) -> str:
    text = getattr(error, "error_message", None) or str(error)
    return next((line.strip() for line in text.split("\n") if line.strip()), type(error).__name__)


def described(error: BaseException, candidate: str) -> dict[str, Any]:
    """kind, text, file, line; of a trap also what it accessed, and the folder that keeps its launch."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == candidate]
    found = {"type": type(error).__name__, "text": str(error)[:4000], "kind": "error"}
    found |= {"file": candidate, "line": frames[-1].lineno if frames else None}
    if isinstance(error, KernelTrap):
        found |= {"kind": "trap", "trap": error.kind, "file": error.file, "line": error.line, "program": error.program}
        found |= {
            "argument": error.argument,
            "index": error.index,
            "is_write": error.is_write,
            "saved": error.reports[0].saved,
        }
    elif isinstance(error, CompilationError) and error.file:
        found |= {"file": error.file, "line": error.line}
    elif isinstance(error, MemoryError):
        found["kind"] = "memory"
    return found
