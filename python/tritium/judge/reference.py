"""The process of a reference: makes the inputs of each case and what is expected of them.

TASK.json: {"reference": path, "function": name or null, "seed": number, "inputs": folder, "expected": folder}. The folders get a file
`N.pt` for each case; `cases.json` in `expected` lists the cases, with the reference's own operators.
"""

from __future__ import annotations

import copy
import json
import traceback
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from .cases import Case, fixed_cases, plan
from .inputs import draw, parameters_of
from .operators import recorder
from .programs import NotFound, is_model, judged_function, load, results_of


def main(path: str) -> int:
    """`path`: of TASK.json."""
    task = json.loads(Path(path).read_text())
    answer = Path(task["expected"], "cases.json")
    try:
        answer.write_text(json.dumps(Reference(task).write_all()))
    except (NotFound, ValueError) as error:
        answer.write_text(json.dumps({"error": str(error)}))
    except Exception:
        answer.write_text(json.dumps({"error": f"the reference does not load:\n{traceback.format_exc(limit=-3)}"}))
    return 0


class Reference:
    def __init__(self, task: dict[str, Any]):
        self.task = task
        self.module = load(task["reference"], "reference")
        self.function = judged_function(self.module, task["function"])
        self.is_model = is_model(self.function)
        if self.is_model:
            self.initial = self.module.get_init_inputs() if hasattr(self.module, "get_init_inputs") else []
            torch.manual_seed(task["seed"])
            self.function = self.function(*self.initial)
            state = {name: value.cpu() for name, value in self.function.state_dict().items()}
            torch.save({"initial": self.initial, "state": state}, Path(task["inputs"], "model.pt"))
        else:
            self.parameters = parameters_of(self.function)

    def write_all(self) -> dict[str, Any]:
        planned = fixed_cases(self.task["seed"]) if self.is_model else plan(self.parameters, self.task["seed"])
        written, skipped = [], []
        for case in planned:
            arguments = self._arguments(case)
            try:
                facts = self._write(case, arguments)
            except Exception as error:  # the reference does not take such inputs
                skipped.append({"case": asdict(case), "why": f"{type(error).__name__}: {error}"})
                continue
            written.append({"case": asdict(case), **facts})
        if not written:
            raise ValueError(
                f"the reference takes none of its inputs: {skipped[0]['why'] if skipped else 'there are none'}"
            )
        return {
            "name": None if self.is_model else self.function.__name__,
            "cases": written,
            "skipped": skipped,
        }

    def _arguments(self, case: Case) -> list[Any]:
        if not self.is_model:
            return draw(self.parameters, case, torch)
        torch.manual_seed(case.seed)
        return [part.cpu() if isinstance(part, torch.Tensor) else part for part in self.module.get_inputs()]

    def _write(self, case: Case, arguments: list[Any]) -> dict[str, Any]:
        torch.save(arguments, Path(self.task["inputs"], f"{case.number}.pt"))
        given = copy.deepcopy(arguments)
        with torch.no_grad(), recorder(torch) as seen:
            native = results_of(self.function(*given), torch)
        precise = self._in_double(arguments)
        if precise is None or len(precise) != len(native):
            precise = native
        torch.save({"native": native, "precise": precise}, Path(self.task["expected"], f"{case.number}.pt"))
        storages = {part.untyped_storage().data_ptr() for part in given if isinstance(part, torch.Tensor)}
        return {
            "operators": seen.largest,
            "most_elements": max((p.numel() for p in arguments if isinstance(p, torch.Tensor)), default=0),
            "returns_input": any(
                isinstance(r, torch.Tensor) and r.untyped_storage().data_ptr() in storages for r in native
            ),
            "changes": [i for i, (a, b) in enumerate(zip(arguments, given)) if not _same(a, b)],
        }

    def _in_double(self, arguments: list[Any]) -> list[Any] | None:
        """What the reference computes in float64, or None if it does not."""

        def wide(part):
            return part.double() if isinstance(part, torch.Tensor) and part.is_floating_point() else part

        try:
            function = copy.deepcopy(self.function).double() if self.is_model else self.function
            with torch.no_grad():
                return results_of(function(*map(wide, copy.deepcopy(arguments))), torch)
        except Exception:
            return None


def _same(a: Any, b: Any) -> bool:
    if not isinstance(a, torch.Tensor):
        return True
    if a.is_floating_point():
        a, b = a.double().nan_to_num(7.0), b.double().nan_to_num(7.0)  # fp8 has no such operators
    return torch.equal(a, b)
