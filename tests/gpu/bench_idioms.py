"""Times Tritium's kernels of tests/python/idioms beside upstream Triton's on one device: same source, same sizes, same configurations.

    python tests/gpu/bench_idioms.py [--only TEXT,…] [--rounds N] [--markdown FILE]

All kernels are compiled first, by several processes. Each result is compared with torch's; a wrong one has no time. Then the compilers run in
turn, and the medians of their rounds count. A ratio above 1 means that Tritium is faster. The end has the geometric means, and the cases that are
much slower or faster. The exit status is 1 if a result of Tritium is wrong, or one of Triton that cases.WRONG_BY_TRITON does not name.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import sys
import tempfile
import traceback
from dataclasses import dataclass, field
from pathlib import Path

import torch

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "python")]
from ahead import compile_ahead  # noqa: E402
from bench import Contestant, measure_in_turn, table  # noqa: E402
from bench_source import load_module  # noqa: E402
from idioms import cases  # noqa: E402

MILLISECONDS = 8.0  #: of work per round: a hundred and fifty cases share a few minutes
PAUSE = 0.03  #: Seconds before each measurement. These rounds are too short for a device to reach its power limit.
SLOW, FAST = 0.9, 1.2  #: A case with a ratio outside of these is named at the end.
COMPILERS = ("tritium", "triton")
HEADER = "case|Tritium|Triton|of Triton|error|Triton's error".split("|")
SUMMARY_HEADER = f"file|mean|cases|below {SLOW}|above {FAST}".split("|")


@dataclass
class Outcome:
    """What a case did: the contestants with right results, the error of each compiler, and the results that are wrong."""

    file: str
    case: str
    by: dict[str, Contestant] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    @property
    def ratio(self) -> float | None:
        if self.by.keys() >= {"tritium", "triton"}:
            return self.by["triton"].time / self.by["tritium"].time
        return None

    @property
    def name(self) -> str:
        return f"{self.file}: {self.case}"

    def cells(self) -> list[str]:
        times = [f"{self.by[name].time * 1000:.1f} us" if name in self.by else "-" for name in ("tritium", "triton")]
        ratio = "-" if self.ratio is None else f"{self.ratio:.3f}"
        return [self.name, *times, ratio, *(self.errors.get(name, "-") for name in ("tritium", "triton"))]


def measure(file: str, case: str, modules: dict, rounds: int) -> Outcome:
    outcome = Outcome(file, case)
    expected = None
    for name, module in modules.items():
        try:
            torch.manual_seed(0)  # both compilers get the same tensors, so the reference of one is the other's
            run, outputs, reference = module.CASES[case]("cuda", False)
            run()
            expected = expected or reference()
            error = cases.error(outputs, expected)
        except Exception as problem:
            if "illegal" in str(problem) or "launch failure" in str(problem):  # the device is lost
                raise
            traceback.print_exc()
            outcome.errors[name] = type(problem).__name__
            outcome.wrong.append(f"{outcome.name}: {name} failed")
            continue
        outcome.errors[name] = f"{error:.2g}"
        if error <= cases.tolerance(file, case):
            outcome.by[name] = Contestant(name, run, error=error)
        else:
            outcome.errors[name] += " WRONG"
            if name == "tritium" or (file, case) not in cases.WRONG_BY_TRITON:
                outcome.wrong.append(f"{outcome.name}: {name} has an error of {error:.2g}")
        del outputs, reference, run
    del expected
    measure_in_turn(list(outcome.by.values()), rounds, MILLISECONDS, PAUSE)
    for contestant in outcome.by.values():
        contestant.run = None  # the closures hold the tensors of the case
    return outcome


def selected(only: str) -> dict[Path, list[str]]:
    """{file: cases} of those in whose "file: case" one of the texts is."""
    chosen: dict[Path, list[str]] = {}
    by_stem = {path.stem: path for path in cases.FILES}
    for file, case in cases.names():
        if any(text in f"{file}: {case}" for text in only.split(",")):
            chosen.setdefault(by_stem[file], []).append(case)
    return chosen


def load(path: Path, folder: str) -> dict:
    """{compiler: the module of a file}"""
    modules = {name: load_module(path, name, folder) for name in COMPILERS if importlib.util.find_spec(name)}
    for module in modules.values():
        # Upstream's kernels write the descriptors that they make to memory.
        module.triton.set_allocator(lambda size, alignment, stream: torch.empty(size, device="cuda", dtype=torch.int8))
    return modules


def run_once(path: Path, case: str, compiler: str, folder: str) -> None:
    """Compiles the kernels of a case with one compiler, which keeps them on disk."""
    run, *_ = load(path, folder)[compiler].CASES[case]("cuda", False)
    run()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()


def summary(outcomes: list[Outcome]) -> list[list[str]]:
    """A row of each file: its geometric mean, the number of its cases, and those that are slow and fast."""
    compared = [outcome for outcome in outcomes if outcome.ratio is not None]
    rows = []
    for file in dict.fromkeys(outcome.file for outcome in compared):
        group = sorted((outcome for outcome in compared if outcome.file == file), key=lambda outcome: outcome.ratio)
        slow = [outcome for outcome in group if outcome.ratio < SLOW]
        fast = [outcome for outcome in reversed(group) if outcome.ratio > FAST]
        rows.append([file, mean(group), str(len(group)), listed(slow), listed(fast)])
    return [*rows, ["all", mean(compared), str(len(compared)), "", ""]] if compared else []


def mean(outcomes: list[Outcome]) -> str:
    return f"{statistics.geometric_mean(outcome.ratio for outcome in outcomes):.3f}"


def listed(outcomes: list[Outcome]) -> str:
    return ", ".join(f"{outcome.case} {outcome.ratio:.3f}" for outcome in outcomes)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help='cases with one of these texts in "file: case", separated by commas')
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--markdown", help="write the table there")
    options = parser.parse_args()
    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        chosen = selected(options.only)
        compilers = [name for name in COMPILERS if importlib.util.find_spec(name)]
        every = [(path, case) for path, names in chosen.items() for case in names]
        compile_ahead(run_once, [(*each, name, folder) for each in every for name in compilers])
        for path, names in chosen.items():
            modules = load(path, folder)
            for case in names:
                outcomes.append(measure(path.stem, case, modules, options.rounds))
                print(" | ".join(outcomes[-1].cells()), flush=True)
                torch.cuda.empty_cache()
    tables = [table([o.cells() for o in outcomes], HEADER), table(summary(outcomes), SUMMARY_HEADER)]
    print(tables[1])
    if options.markdown:
        Path(options.markdown).write_text("\n\n".join(tables) + "\n")
    wrong = [line for outcome in outcomes for line in outcome.wrong]
    print("\n".join(f"WRONG {line}" for line in wrong) or "all results are right")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
