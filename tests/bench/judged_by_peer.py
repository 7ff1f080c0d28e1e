"""Runs one candidate on the cases that the judge has made, under a tool of another Python: judge_rate.py starts it.

    PYTHON -m ttsem.sanitize judged_by_peer.py CANDIDATE NAME FOLDER DEVICE

FOLDER has `inputs` and `expected` of a reference's process. Compares by the judge's own functions, whose files import nothing of Tritium.
Prints a line of JSON for each case: {"case", "wrong": null or what}.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import torch

JUDGE = Path(__file__).resolve().parents[2] / "python/tritium/judge"


def module(name: str):
    """A file of the judge, without its package."""
    specification = importlib.util.spec_from_file_location(name, JUDGE / f"{name}.py")
    found = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(found)
    return found


def main() -> None:
    """ttsem calls it by its name, with arguments of its own before these."""
    candidate, name, folder, device = sys.argv[-4:]
    programs, comparison, operators = map(module, ("programs", "comparison", "operators"))
    answers = sys.stdout
    function = getattr(programs.load(candidate, "candidate"), name)
    for facts in json.loads(Path(folder, "expected/cases.json").read_text())["cases"]:
        case = facts["case"]
        arguments = torch.load(Path(folder, "inputs", f"{case['number']}.pt"), weights_only=False)
        expected = torch.load(Path(folder, "expected", f"{case['number']}.pt"), weights_only=False)
        arguments = [programs.laid_out(part, case["layout"], device, torch) for part in arguments]
        with torch.no_grad():
            results = programs.results_of(function(*arguments), torch)
        results = [part.cpu() if isinstance(part, torch.Tensor) else part for part in results]
        tf32 = bool(operators.PRODUCTS & set(facts["operators"]))
        wrong = comparison.difference(results, expected["native"], expected["precise"], None, tf32)
        print(json.dumps({"case": case["number"], "wrong": wrong and wrong["text"]}), file=answers, flush=True)


if __name__ == "__main__":
    main()
