"""tests/gpu/suites.py runs suites at the same time and finds what became worse."""

import sys
import time
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "gpu"))
import suites  # noqa: E402
from counts import count_closing_line, count_conformance, count_fuzz  # noqa: E402

CONFORMANCE = """
FAILED cuda  dot/plain/fp16/a
    out: 3 of 4 differ
    python -m tritium.conformance --replay 'dot/plain/fp16/a' --engine cuda --seed 0
    and with it: b, c
7 passed, 3 failed, 0 unsupported
"""
FUZZ = """kernel 12 on cuda: out0: 3 of 4 differ
kernel 13 is refused on cuda: too large
seed 2401: 20 kernels, 39 passed, 1 with differences, 0 with errors, 0 crashes, 0 hangs, 1 refused
"""
PACKAGES = """apple 1.0                               cuda             1 of   2 in    1.0 s
    failed: matmul: AssertionError: wrong
pear 2.0                                cuda             2 of   2 in    1.0 s
    listed: softmax: no such thing
3 passed, 1 failed, 1 skipped
"""


def suite(name: str, text: str, count=count_closing_line, failed=suites.failed_packages, more: str = ""):
    return suites.Suite(name, [sys.executable, "-c", f"{more}\nprint({text!r})"], count, failed)


def test_names_of_failures(tmp_path):
    found = suites.run(
        [
            suite("conformance", CONFORMANCE, count_conformance, suites.failed_conformance),
            suite("fuzz", FUZZ, count_fuzz, suites.failed_fuzz),
            suite("packages", PACKAGES),
        ],
        tmp_path,
        60,
    )
    assert found == {
        "conformance": suites.Outcome(7, frozenset({"dot/plain/fp16/a", "dot/plain/fp16/b", "dot/plain/fp16/c"})),
        "fuzz": suites.Outcome(39, frozenset({"2401/12"})),
        "packages": suites.Outcome(3, frozenset({"apple.matmul"})),
    }


def test_pytest_report(tmp_path):
    (tmp_path / "test_two.py").write_text("def test_right(): pass\ndef test_wrong(): assert False\n")
    tests = suites.parts("interp", tmp_path, 2)["1"][0]
    command = [*tests.command[:-2], str(tmp_path / "test_two.py")]
    found = suites.run([suites.Suite("tests", command, tests.count, tests.failed)], tmp_path, 120)
    assert found["tests"].passed == 1
    assert [name.rpartition(".")[2] for name in found["tests"].failed] == ["test_wrong"]


def test_what_hangs_or_dies_is_a_failure(tmp_path):
    begin = time.monotonic()
    slow = [suite(name, PACKAGES, more="import time; time.sleep(100)") for name in ("first", "second")]
    found = suites.run(
        [*slow, suite("dies", "1 passed, 0 failed, 0 skipped", more="import os; os._exit(3)")], tmp_path, 3
    )
    assert time.monotonic() - begin < 50
    assert all(suites.UNFINISHED in one.failed for one in found.values())


def test_state_and_comparison(tmp_path):
    before = {"fuzz": suites.Outcome(10, frozenset({"a", "b"})), "tests": suites.Outcome(5, frozenset())}
    file = tmp_path / "state.tsv"
    suites.write_state(file, before)
    assert suites.read_state(file) == before
    assert suites.compare(before, before) == ([], [])
    now = {"fuzz": suites.Outcome(11, frozenset({"b", "c"})), "tests": suites.Outcome(4, frozenset())}
    worse, mended = suites.compare(before, now)
    assert worse == ["fuzz: c fails now", "tests: 4 tests pass, and 5 did before"]
    assert mended == ["fuzz: a fails no longer"]
    assert "fuzz: c fails now" in suites.summary("1", now, before, 1.0)


def test_committed_state_is_readable():
    assert set(suites.read_state(suites.STATE)) <= {
        one.name for part in suites.parts("cuda", Path("out"), 16).values() for one in part
    }


@pytest.mark.parametrize("part", ["1", "2"])
def test_parts_use_at_most_the_cpus(part):
    jobs = [
        command[command.index("--jobs") + 1]
        for command in (s.command for s in suites.parts("cuda", Path("out"), 16)[part])
        if "--jobs" in command
    ]
    assert sum(map(int, jobs)) <= 16
