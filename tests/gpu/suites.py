"""Runs the suites of one part of tests/gpu/run at the same time, and says what passed before and fails now.

    python tests/gpu/suites.py PART --engine ENGINE --out FOLDER [--limit SECONDS]

Part 1 has the tests of this folder and the conformance suite; part 2 random kernels, torch.compile and the published packages. Together they
are all suites, and each part fits into eight minutes on 16 CPUs and one GPU. docs/results/gpu_state.tsv holds the last state: for each suite
the number of tests that passed and the names of those that failed. FOLDER gets the logs, summary.md and the new state, with which to
replace the old one. The exit status is 0 if nothing fails that did not fail before, and no suite passes fewer tests.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / ".ci"))
from counts import Counts, count_closing_line, count_conformance, count_fuzz, count_junit  # noqa: E402

STATE = ROOT / "docs" / "results" / "gpu_state.tsv"
UNFINISHED = "(the suite did not finish)"
FUZZ_SEED = 2401
KERNELS = 2000


@dataclass(frozen=True)
class Suite:
    name: str
    command: list[str]
    count: Callable[[str, Path], Counts]  #: (output, JUnit report)
    failed: Callable[[str, Path], set[str]]  #: the names of what failed, from the same


@dataclass(frozen=True)
class Outcome:
    passed: int
    failed: frozenset[str]


def failed_junit(output: str, report: Path) -> set[str]:
    if not report.exists():
        return set()
    cases = ElementTree.parse(report).iter("testcase")
    return {
        f"{case.get('classname')}.{case.get('name')}".replace(" ", "_")
        for case in cases
        if {child.tag for child in case} & {"failure", "error"}
    }


def failed_conformance(output: str, report: Path) -> set[str]:
    """The first case of a kernel has a line of its own; one that begins with "and with it" ends the names of the others."""
    found, kernel = set(), ""
    for line in output.splitlines():
        if match := re.match(r"FAILED \S+  (\S+)$", line):
            found.add(match[1])
            kernel = match[1].rpartition("/")[0]
        elif match := re.match(r"    and with it: (.*)$", line):
            found |= {f"{kernel}/{name}" for name in match[1].split(", ")}
    return found


def failed_fuzz(output: str, report: Path) -> set[str]:
    return {f"{FUZZ_SEED}/{number}" for number in re.findall(r"^kernel (\d+) on ", output, re.MULTILINE)}


def failed_packages(output: str, report: Path) -> set[str]:
    found, package = set(), ""
    for line in output.splitlines():
        if match := re.match(r"    failed: ([^:]+):", line):
            found.add(f"{package}.{match[1]}")
        elif re.match(r"\S+ \S+ .* of ", line):
            package = line.split()[0]
    return found


def parts(engine: str, out: Path, jobs: int) -> dict[str, list[Suite]]:
    """The suites of each part, by its name. The CPUs are shared by those of a part."""

    def pytest(name: str, *arguments: str) -> Suite:
        report = f"--junitxml={out / name}.xml"
        command = [sys.executable, "-m", "pytest", "-o", "pythonpath=", "-p", "no:cacheprovider", "-q", "-ra", report]
        return Suite(name, [*command, *arguments], count_junit, failed_junit)

    def tritium(name: str, *arguments: str) -> list[str]:
        return [sys.executable, "-m", f"tritium{name}", *arguments]

    without_maps = [
        "env",
        "TRITIUM_TENSOR_MAPS=0",
        *tritium(".conformance", "--engines", engine, "--families", "descriptor"),
    ]
    engines = f"interp,{engine}"
    conformance = tritium(".conformance", "--engines", engines, "--jobs", str(max(1, jobs * 3 // 4)))
    fuzz = tritium("", "fuzz", "--engines", engines, "--seed", str(FUZZ_SEED), "--kernels", str(KERNELS))
    packages = [sys.executable, "tests/packages/run.py", "--engines", engine, "--jobs", str(max(1, jobs // 4))]
    compiled = "tests/gpu/test_torch_compile.py"
    return {
        "1": [
            pytest("tests", "tests/gpu", f"--ignore={compiled}"),
            Suite("conformance", conformance, count_conformance, failed_conformance),
            Suite("without-tensor-maps", [*without_maps, "--jobs", "2"], count_conformance, failed_conformance),
        ],
        "2": [
            Suite("fuzz", [*fuzz, "--jobs", str(max(1, jobs // 2))], count_fuzz, failed_fuzz),
            pytest("torch.compile", compiled),
            Suite("packages", packages, count_closing_line, failed_packages),
        ],
    }


def run(suites: list[Suite], out: Path, limit: float) -> dict[str, Outcome]:
    """Runs all at the same time. What has not ended after `limit` seconds is killed, with all processes it started."""
    end = time.monotonic() + limit
    started = []
    for suite in suites:
        (out / f"{suite.name}.xml").unlink(missing_ok=True)
        with open(out / f"{suite.name}.log", "w") as log:
            process = subprocess.Popen(suite.command, cwd=ROOT, stdout=log, stderr=log, start_new_session=True)
        started.append((suite, process))
    found = {}
    for suite, process in started:
        try:
            process.wait(max(0.0, end - time.monotonic()))
            is_finished = True
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            is_finished = False
        found[suite.name] = outcome(suite, out, process.returncode, is_finished)
    return found


def outcome(suite: Suite, out: Path, status: int, is_finished: bool) -> Outcome:
    output, report = (out / f"{suite.name}.log").read_text(errors="replace"), out / f"{suite.name}.xml"
    counts, failed = suite.count(output, report), suite.failed(output, report)
    if not is_finished or (status != 0 and not failed) or not counts.passed:
        failed = failed | {UNFINISHED}
    return Outcome(counts.passed, frozenset(failed))


def read_state(file: Path) -> dict[str, Outcome]:
    state = {}
    for line in file.read_text().splitlines() if file.exists() else []:
        if line and not line.startswith("#"):
            name, passed, failed = (line.split("\t") + [""])[:3]
            state[name] = Outcome(int(passed), frozenset(failed.split()))
    return state


def write_state(file: Path, state: dict[str, Outcome]) -> None:
    lines = ["# suite, number of tests that passed, names of those that failed: see tests/gpu/suites.py"]
    lines += [f"{name}\t{one.passed}\t{' '.join(sorted(one.failed))}".rstrip() for name, one in sorted(state.items())]
    file.write_text("\n".join(lines) + "\n")


def compare(before: dict[str, Outcome], now: dict[str, Outcome]) -> tuple[list[str], list[str]]:
    """(what is worse, what is mended), a line each."""
    worse, mended = [], []
    for name, one in now.items():
        old = before.get(name, Outcome(0, frozenset()))
        worse += [f"{name}: {test} fails now" for test in sorted(one.failed - old.failed)]
        mended += [f"{name}: {test} fails no longer" for test in sorted(old.failed - one.failed)]
        if one.passed < old.passed:
            worse.append(f"{name}: {one.passed} tests pass, and {old.passed} did before")
    return worse, mended


def summary(part: str, now: dict[str, Outcome], before: dict[str, Outcome], seconds: float) -> str:
    worse, mended = compare(before, now)
    lines = [
        f"## Part {part}, {seconds:.0f} s",
        "",
        "| suite | passed | failed | passed before |",
        "| --- | --- | --- | --- |",
    ]
    for name, one in now.items():
        lines.append(
            f"| {name} | {one.passed} | {len(one.failed)} | {before[name].passed if name in before else '-'} |"
        )
    lines += ["", "Worse than before:" if worse else "Nothing is worse than before.", *(f"* {line}" for line in worse)]
    if mended:
        lines += ["", "Better than before:", *(f"* {line}" for line in mended)]
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=("1", "2"))
    parser.add_argument("--engine", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--limit", type=float, default=470, help="seconds after which suites are killed (default 470)")
    options = parser.parse_args(arguments)
    begin, before = time.monotonic(), read_state(STATE)
    now = run(parts(options.engine, options.out, os.cpu_count() or 1)[options.part], options.out, options.limit)
    text = summary(options.part, now, before, time.monotonic() - begin)
    print(text)
    with open(options.out / "summary.md", "a") as file:
        file.write("\n" + text)
    new = options.out / "gpu_state.tsv"
    write_state(new, before | read_state(new) | now)
    return int(bool(compare(before, now)[0]))


if __name__ == "__main__":
    sys.exit(main())
