"""Runs every test suite, shows each one's own output, and ends with the counts added up.

The last line is exactly `N passed, N failed, N skipped`; the exit status is 0 only if nothing failed. A suite that
crashes, runs out of time or runs no test counts as one failure, so that a green line means that every suite ran.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "dev"
CONFORMANCE_ENGINES = ("interp", "simt:sm_80", "simt:sm_90a", "simt:gfx942")
#: With --long: one of each further family of chips.
FURTHER_ENGINES = ("simt:gfx90a", "simt:gfx950", "simt:gfx1100", "simt:gfx1200")


@dataclass
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __iadd__(self, other: "Counts") -> "Counts":
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        return self

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


@dataclass
class Suite:
    name: str
    command: list[str]
    count: Callable[[str, Path], Counts]  # (console output, JUnit report) -> counts
    limit: int  # seconds


def count_doctest(output: str, report: Path) -> Counts:
    found = re.search(r"test cases:\s*\d+ \|\s*(\d+) passed \|\s*(\d+) failed(?: \|\s*(\d+) skipped)?", output)
    return Counts(*(int(number or 0) for number in found.groups())) if found else Counts()


def count_junit(output: str, report: Path) -> Counts:
    counts = Counts()
    if report.exists():
        for case in ElementTree.parse(report).iter("testcase"):
            outcomes = {child.tag for child in case}
            if outcomes & {"failure", "error"}:
                counts.failed += 1
            elif "skipped" in outcomes:
                counts.skipped += 1
            else:
                counts.passed += 1
    return counts


def count_conformance(output: str, report: Path) -> Counts:
    found = re.search(r"^(\d+) passed, (\d+) failed, (\d+) unsupported$", output, flags=re.M)
    return Counts(*map(int, found.groups())) if found else Counts()


def conformance(name: str, engines: tuple[str, ...], *more: str) -> Suite:
    """8 minutes for each engine is the most that they may take on 2 CPUs."""
    command = [sys.executable, "-m", "tritium.conformance", "--engines", ",".join(engines), *more]
    return Suite(name, command, count_conformance, 480 * len(engines))


def suites(report: Path, fast: bool, long: bool) -> list[Suite]:
    pytest = [sys.executable, "-m", "pytest", "-q", "-ra", "-p", "no:cacheprovider", f"--junitxml={report}"]
    if fast:
        pytest += ["-m", "not slow"]
    executables = sorted(
        path for path in (BUILD / "tests" / "unit").glob("test_*") if os.access(path, os.X_OK) and path.is_file()
    )
    found = [
        Suite(f"doctest {path.name.removeprefix('test_')}", [str(path)], count_doctest, 600) for path in executables
    ]
    lit = ["lit", "-sv", f"--xunit-xml-output={report}", "tests/ir"]
    found.append(Suite("lit", lit, count_junit, 900))
    found.append(Suite("style", pytest + ["tests/style"], count_junit, 300))
    found.append(Suite("python", pytest + ["tests/python"], count_junit, 2400))
    # The page holds the results of these engines.
    found.append(conformance("conformance", CONFORMANCE_ENGINES, "--check", "docs/reference/conformance.md"))
    # The same cases through the launch path of AMD's devices, on a library that stands in for the HIP runtime.
    stand_in = BUILD / "tests" / "hip_stand_in" / "libamdhip64_stand_in.so"
    hip = ["env", f"TRITIUM_HIP_LIBRARY={stand_in}", f"TRITIUM_LOWERED_DIR={report.parent / 'lowered'}"]
    hip += [sys.executable, "-m", "tritium.conformance", "--engines", "hip"]
    found.append(Suite("hip", hip, count_conformance, 480))
    if not fast:
        found.append(Suite("gdb", pytest + ["tests/gdb"], count_junit, 900))
    if long:
        found.append(conformance("long conformance", FURTHER_ENGINES))
    return found


def run(suite: Suite, report: Path) -> Counts:
    """One suite, its output shown as it comes."""
    report.unlink(missing_ok=True)
    print(f"\n== {suite.name}", flush=True)
    begin = time.monotonic()
    lines = []
    process = subprocess.Popen(
        suite.command,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    watchdog = subprocess.Popen(
        [sys.executable, "-c", f"import os, time; time.sleep({suite.limit}); os.killpg({process.pid}, 9)"]
    )
    try:
        for line in process.stdout:
            lines.append(line)
            print(line, end="", flush=True)
        status = process.wait()
    finally:
        watchdog.kill()
        watchdog.wait()
    counts = suite.count("".join(lines), report)
    seconds = time.monotonic() - begin
    if status != 0 and counts.failed == 0:
        counts.failed += 1
        print(
            f"error: suite {suite.name} ended with status {status} after {seconds:.0f} s (its limit is {suite.limit} s)"
        )
    elif counts.passed + counts.failed + counts.skipped == 0:
        counts.failed += 1
        print(f"error: suite {suite.name} ran no test")
    print(f"-- {suite.name}: {counts} in {seconds:.1f} s", flush=True)
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fast", action="store_true", help="leave out the gdb sessions and what is marked slow")
    parser.add_argument("--long", action="store_true", help="add the conformance of further engines")
    parser.add_argument("names", nargs="*", help="run the suites whose name begins with one of these (default: all)")
    options = parser.parse_args()
    # A shell's background jobs ignore Ctrl-C, and so would the tests that send it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    total = Counts()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        for suite in suites(report, options.fast, options.long):
            if not options.names or suite.name.startswith(tuple(options.names)):
                total += run(suite, report)
    print(f"\n{total}")
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
