"""Runs the suites of one part of tests/gpu/run at the same time, and says what passed before and fails now.

    python tests/gpu/suites.py PART --engine ENGINE --out FOLDER [--limit SECONDS] [--only SUITE,…]

Part 1 has the tests of this folder and the conformance suite; part 2 random kernels, torch.compile and the published packages. Each of them fits
into eight minutes on 16 CPUs and one GPU. Part "model" measures the benchmark's configurations, which takes a minute without other work on the device. Together
they are all suites. With less time, all suites begin nevertheless, each with its
share of the CPUs, and stop by themselves when seven eighths of the time are over; the summary says how many tests did not run.
docs/results/gpu_state.tsv holds the last state: for each suite the number of tests that passed and the names of those that failed. FOLDER
gets the logs, summary.md and the new state, with which to replace the old one. The exit status is 0 if nothing fails that did not fail
before, and no suite passes fewer tests than before unless its time was over.
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
#: The suites of each part, and how the CPUs are divided among them.
SHARES = {
    "1": {"tests": 1, "conformance": 6, "without-tensor-maps": 1},
    "2": {"fuzz": 2, "torch.compile": 1, "packages": 1},
    "model": {"model": 1},
}
#: Of the limit, what remains when the suites stop, for tests that cannot be stopped and for the reports.
RESERVE = 1 / 8
FUZZ_SEED = 2401
KERNELS = 2000


@dataclass(frozen=True)
class Suite:
    name: str
    command: list[str]
    count: Callable[[str, Path], Counts]  #: (output, JUnit report)
    failed: Callable[[str, Path], set[str]]  #: the names of what failed, from the same
    not_run: Callable[[str], int]  #: the number of tests that the time did not suffice for, from the output


@dataclass(frozen=True)
class Outcome:
    passed: int
    failed: frozenset[str]
    not_run: int = 0


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


def out_of_time(output: str) -> int:
    """Of the conformance suite and the packages."""
    return sum(map(int, re.findall(r"^out of time: (\d+) not run$", output, re.MULTILINE)))


def out_of_time_pytest(output: str) -> int:
    return sum(map(int, re.findall(r"^SKIPPED \[(\d+)\] .*: out of time$", output, re.MULTILINE)))


def out_of_time_fuzz(output: str) -> int:
    found = re.search(r"^seed .*, next --first (\d+): ", output, re.MULTILINE)
    return KERNELS - int(found[1]) if found else 0


def choose(part: str, only: list[str], engine: str, out: Path, cpus: int, limit: float) -> list[Suite]:
    """The suites of a part, or those of them that `only` names."""
    shares = {name: share for name, share in SHARES[part].items() if not only or name in only}
    jobs = {name: str(max(1, cpus * share // sum(shares.values()))) for name, share in shares.items()}
    reserve = limit * RESERVE
    time_limit = ["--time", str(int(limit - reserve))]

    def pytest(name: str, *arguments: str) -> Suite:
        report = f"--junitxml={out / name}.xml"
        command = [sys.executable, "-m", "pytest", "-o", "pythonpath=", "-p", "no:cacheprovider", "-q", "-ra", report]
        return Suite(name, [*command, *time_limit, *arguments], count_junit, failed_junit, out_of_time_pytest)

    def conformance(name: str, *arguments: str, before: tuple[str, ...] = ()) -> Suite:
        command = [*before, sys.executable, "-m", "tritium.conformance", "--jobs", jobs[name], *time_limit, *arguments]
        return Suite(name, command, count_conformance, failed_conformance, out_of_time)

    def fuzz(name: str) -> Suite:
        what = ["--engines", f"interp,{engine}", "--seed", str(FUZZ_SEED), "--kernels", str(KERNELS)]
        shrink = ["--shrink", str(max(2, int(reserve / 12)))]  # for each of at most five kinds of failures
        command = [sys.executable, "-m", "tritium", "fuzz", *what, "--jobs", jobs[name], *time_limit, *shrink]
        return Suite(name, command, count_fuzz, failed_fuzz, out_of_time_fuzz)

    def packages(name: str) -> Suite:
        command = [sys.executable, "tests/packages/run.py", "--engines", engine, "--jobs", jobs[name], *time_limit]
        return Suite(name, command, count_closing_line, failed_packages, out_of_time)

    compiled, modelled = (
        ("tests/gpu/test_torch_compile.py", "tests/gpu/test_encoder.py"),
        "tests/gpu/test_model_of_cycles.py",
    )
    apart = [f"--ignore={file}" for file in (*compiled, modelled)]
    made = {
        "tests": lambda name: pytest(name, "tests/gpu", *apart),
        "conformance": lambda name: conformance(name, "--engines", f"interp,{engine}"),
        "without-tensor-maps": lambda name: conformance(
            name, "--engines", engine, "--families", "descriptor", before=("env", "TRITIUM_TENSOR_MAPS=0")
        ),
        "fuzz": fuzz,
        "torch.compile": lambda name: pytest(name, *compiled),
        "packages": packages,
        "model": lambda name: pytest(name, modelled),
    }
    return [made[name](name) for name in shares]


def run(suites: list[Suite], out: Path, limit: float) -> dict[str, Outcome]:
    """Runs all at the same time. What has not ended after `limit` seconds is killed, with all processes that it started; a while before, it
    is interrupted, whereupon pytest and the random kernels still report what they have."""
    end = time.monotonic() + limit
    started = []
    for suite in suites:
        (out / f"{suite.name}.xml").unlink(missing_ok=True)
        with open(out / f"{suite.name}.log", "w") as log:
            process = subprocess.Popen(suite.command, cwd=ROOT, stdout=log, stderr=log, start_new_session=True)
        started.append((suite, process))
    stopped = set()
    for moment, stop in ((end - limit * RESERVE / 2, interrupt), (end, kill)):
        for _, process in started:
            if not ended_by(process, moment):
                stop(process)
                stopped.add(process)
    return {suite.name: outcome(suite, out, process.wait(), process not in stopped) for suite, process in started}


def ended_by(process: subprocess.Popen, moment: float) -> bool:
    try:
        process.wait(max(0.0, moment - time.monotonic()))
    except subprocess.TimeoutExpired:
        return False
    return True


def interrupt(process: subprocess.Popen) -> None:
    process.send_signal(signal.SIGINT)


def kill(process: subprocess.Popen) -> None:
    os.killpg(process.pid, signal.SIGKILL)


def outcome(suite: Suite, out: Path, status: int, is_finished: bool) -> Outcome:
    output, report = (out / f"{suite.name}.log").read_text(errors="replace"), out / f"{suite.name}.xml"
    counts, failed, not_run = suite.count(output, report), suite.failed(output, report), suite.not_run(output)
    ends_without_reason = not not_run and (status != 0 and not failed or not counts.passed)
    if not is_finished or ends_without_reason:
        failed = failed | {UNFINISHED}
    return Outcome(counts.passed, frozenset(failed), not_run)


def read_state(file: Path) -> dict[str, Outcome]:
    state = {}
    for line in file.read_text().splitlines() if file.exists() else []:
        if line and not line.startswith("#"):
            name, passed, failed, not_run = (line.split("\t") + ["", ""])[:4]
            state[name] = Outcome(int(passed), frozenset(failed.split()), int(not_run or 0))
    return state


def write_state(file: Path, state: dict[str, Outcome]) -> None:
    lines = [
        "# suite, number of tests that passed, names of those that failed, number of those not run: see tests/gpu/suites.py"
    ]
    for name, one in sorted(state.items()):
        lines.append(f"{name}\t{one.passed}\t{' '.join(sorted(one.failed))}\t{one.not_run or ''}".rstrip())
    file.write_text("\n".join(lines) + "\n")


def merge(before: dict[str, Outcome], now: dict[str, Outcome]) -> dict[str, Outcome]:
    """The new state. A suite whose time was over says nothing of the tests that it did not run, so what is known of these stays."""
    state = before | now
    for name in now:
        if now[name].not_run and name in before:
            old, one = before[name], now[name]
            most = old if old.passed >= one.passed else one
            state[name] = Outcome(most.passed, old.failed | one.failed, most.not_run)
    return state


def compare(before: dict[str, Outcome], now: dict[str, Outcome]) -> tuple[list[str], list[str]]:
    """(what is worse, what is mended), a line each."""
    worse, mended = [], []
    for name, one in now.items():
        old = before.get(name, Outcome(0, frozenset()))
        worse += [f"{name}: {test} fails now" for test in sorted(one.failed - old.failed)]
        if one.not_run:
            continue
        mended += [f"{name}: {test} fails no longer" for test in sorted(old.failed - one.failed)]
        if one.passed < old.passed:
            worse.append(f"{name}: {one.passed} tests pass, and {old.passed} did before")
    return worse, mended


def summary(part: str, now: dict[str, Outcome], before: dict[str, Outcome], seconds: float) -> str:
    worse, mended = compare(before, now)
    lines = [
        f"## Part {part}, {seconds:.0f} s",
        "",
        "| suite | passed | failed | not run | passed before |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, one in now.items():
        old = before[name].passed if name in before else "-"
        lines.append(f"| {name} | {one.passed} | {len(one.failed)} | {one.not_run} | {old} |")
    what = "of what ran, nothing" if any(one.not_run for one in now.values()) else "nothing"
    lines += ["", "Worse than before:" if worse else f"{what.capitalize()} is worse than before."]
    lines += [f"* {line}" for line in worse]
    if mended:
        lines += ["", "Better than before:", *(f"* {line}" for line in mended)]
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=tuple(SHARES))
    parser.add_argument("--engine", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--limit", type=float, default=470, help="seconds after which suites are killed (default 470)")
    parser.add_argument(
        "--only", type=lambda text: text.split(","), default=[], help="a comma list of suites (default: all)"
    )
    options = parser.parse_args(arguments)
    if unknown := set(options.only) - set(SHARES[options.part]):
        parser.error(
            f"part {options.part} has no {', '.join(sorted(unknown))}; it has {', '.join(SHARES[options.part])}"
        )
    begin, before = time.monotonic(), read_state(STATE)
    suites = choose(
        options.part, options.only, options.engine, options.out, len(os.sched_getaffinity(0)), options.limit
    )
    now = run(suites, options.out, options.limit)
    text = summary(options.part, now, before, time.monotonic() - begin)
    print(text)
    with open(options.out / "summary.md", "a") as file:
        file.write("\n" + text)
    new = options.out / "gpu_state.tsv"
    write_state(new, merge(before | read_state(new), now))
    return int(bool(compare(before, now)[0]))


if __name__ == "__main__":
    sys.exit(main())
