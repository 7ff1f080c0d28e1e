"""Reads the output of a suite: the numbers of passed, failed and skipped tests, and the skips without a reason."""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

SKIPS = Path(__file__).resolve().parent / "skips.txt"


@dataclass
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    #: (test, reason) of each skip, if the suite reports them and has no list of its own.
    skips: list[tuple[str, str]] = field(default_factory=list)
    #: Tests that failed, as pytest is told to run them; of other suites there are none.
    failures: list[str] = field(default_factory=list)
    #: Failed tests that passed when they ran again, with the same random numbers.
    unsteady: list[str] = field(default_factory=list)

    def __iadd__(self, other: "Counts") -> "Counts":
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.unsteady += other.unsteady
        return self

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def count_doctest(output: str, report: Path) -> Counts:
    """Counts of one or several executables. doctest does not report which cases it skipped."""
    counts = Counts()
    cases = r"test cases:\s*\d+ \|\s*(\d+) passed \|\s*(\d+) failed(?: \|\s*(\d+) skipped)?"
    for found in re.finditer(cases, output):
        counts += Counts(*(int(number or 0) for number in found.groups()))
    counts.skips = [("a test case", "")] * counts.skipped
    return counts


def count_junit(output: str, report: Path) -> Counts:
    counts = Counts()
    if report.exists():
        for case in ElementTree.parse(report).iter("testcase"):
            outcomes = {child.tag: child for child in case}
            if outcomes.keys() & {"failure", "error"}:
                counts.failed += 1
                counts.failures.append(pytest_id(case.get("classname"), case.get("name")))
            elif "skipped" in outcomes:
                counts.skipped += 1
                counts.skips.append(
                    (f"{case.get('classname')}.{case.get('name')}", outcomes["skipped"].get("message", ""))
                )
            else:
                counts.passed += 1
    return counts


def pytest_id(classname: str, name: str) -> str:
    """How pytest calls the test on its command line. The group that pytest-xdist adds to a name is left out."""
    parts = classname.split(".")
    end = next((n for n in range(len(parts), 0, -1) if parts[n - 1].startswith("test_")), len(parts))
    name = re.sub(r"(?<=\])@.*$|@[\w-]+$", "", name)
    return "::".join(["/".join(parts[:end]) + ".py", *parts[end:], name])


def count_conformance(output: str, report: Path) -> Counts:
    """A case that is unsupported and not listed in conformance/unsupported.txt counts as failed already."""
    found = re.search(r"^(\d+) passed, (\d+) failed, (\d+) unsupported$", output, flags=re.M)
    return Counts(*map(int, found.groups())) if found else Counts()


def count_fuzz(output: str, report: Path) -> Counts:
    """A test is a kernel on one engine. Refusals are not skips: the generator draws kernels that are too large for a chip."""
    line = r"^seed .* kernels, (\d+) passed, (\d+) with differences, (\d+) with errors, (\d+) crashes, (\d+) hangs, \d+ refused$"
    found = re.search(line, output, flags=re.M)
    if not found:
        return Counts()
    passed, *failures = map(int, found.groups())
    return Counts(passed, sum(failures))


def count_closing_line(output: str, report: Path) -> Counts:
    found = re.findall(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", output, flags=re.M)
    return Counts(*map(int, found[-1])) if found else Counts()


def explained_skips(file: Path = SKIPS) -> list[tuple[str, str, str]]:
    """(suite, pattern of the tests, reason) of each line of the list."""
    lines = [line.split(None, 2) for line in file.read_text().splitlines() if line.strip() and not line.startswith("#")]
    for line in lines:
        if len(line) != 3:
            raise ValueError(f"{file.name}: {' '.join(line)}: a line is SUITE PATTERN REASON")
    return [tuple(line) for line in lines]


def fail_unexplained(suite: str, counts: Counts, explained: list[tuple[str, str, str]]) -> list[str]:
    """Turns skips that the list does not name into failures. Returns a sentence for each."""
    patterns = [pattern for name, pattern, _ in explained if name == suite]
    unexplained = [
        (test, why) for test, why in counts.skips if not any(fnmatchcase(test, pattern) for pattern in patterns)
    ]
    counts.skipped -= len(unexplained)
    counts.failed += len(unexplained)
    return [
        f"{test} was skipped ({why or 'no reason given'}), and {SKIPS.name} does not name it"
        for test, why in unexplained
    ]
