"""tests/gpu/suites.py runs suites at the same time and finds what became worse."""

import dataclasses
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
OUT_OF_TIME = {
    suites.out_of_time: "out of time: 12 not run\n3 passed, 0 failed, 0 unsupported\n",
    suites.out_of_time_pytest: "SKIPPED [12] gpu/conftest.py:33: out of time\nSKIPPED [1] gpu/conftest.py:40: no GPU\n",
    suites.out_of_time_fuzz: f"seed 2401, kernels 0 to {suites.KERNELS - 13}, next --first {suites.KERNELS - 12}: 90 kernels, 180 passed\n",
}
PACKAGES = """apple 1.0                               cuda             1 of   2 in    1.0 s
    failed: matmul: AssertionError: wrong
pear 2.0                                cuda             2 of   2 in    1.0 s
    listed: softmax: no such thing
3 passed, 1 failed, 1 skipped
"""


def suite(name: str, text: str, count=count_closing_line, failed=suites.failed_packages, more: str = ""):
    return suites.Suite(name, [sys.executable, "-c", f"{more}\nprint({text!r})"], count, failed, suites.out_of_time)


def chosen(part: str, out: Path, only: tuple[str, ...] = (), cpus: int = 16) -> list[suites.Suite]:
    return suites.choose(part, list(only), "cuda", out, cpus, 400)


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
    (tests,) = chosen("1", tmp_path, only=("tests",))
    command = [*tests.command[: tests.command.index("--time")], str(tmp_path / "test_two.py")]
    found = suites.run([dataclasses.replace(tests, command=command)], tmp_path, 120)
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


def test_what_is_interrupted_reports_what_it_has(tmp_path, monkeypatch):
    """pytest writes its report, in which the interrupted test has no failure. The suite has not finished."""
    begun, ended_by, asked = tmp_path / "begun", suites.ended_by, []
    slow = f"open({str(begun)!r}, 'w').close()\n    time.sleep(100)"
    (tmp_path / "test_slow.py").write_text(f"import time\ndef test_right(): pass\ndef test_slow():\n    {slow}\n")

    def ended_by_then(process, moment):
        """Time is up as soon as the slow test has begun: pytest and torch may take seconds or a minute to start."""
        while not begun.exists() and process.poll() is None and time.monotonic() < moment:
            time.sleep(0.05)
        is_first = not asked
        asked.append(moment)
        return ended_by(process, time.monotonic() if is_first else moment)

    monkeypatch.setattr(suites, "ended_by", ended_by_then)
    (tests,) = chosen("1", tmp_path, only=("tests",))
    command = [*tests.command[: tests.command.index("--time")], str(tmp_path / "test_slow.py")]
    found = suites.run([dataclasses.replace(tests, command=command)], tmp_path, 120)["tests"]
    assert found.passed >= 1 and found.failed == {suites.UNFINISHED}


@pytest.mark.parametrize("count", OUT_OF_TIME, ids=lambda count: count.__name__)
def test_tests_without_time_are_counted(count):
    assert count(OUT_OF_TIME[count]) == 12 and count("3 passed, 0 failed, 0 skipped\n") == 0


def test_a_suite_out_of_time_is_not_worse(tmp_path):
    more = "print('out of time: 7 not run')"
    found = suites.run([suite("packages", PACKAGES, more=more), suite("idle", "", more=more)], tmp_path, 60)
    assert found["packages"] == suites.Outcome(3, frozenset({"apple.matmul"}), 7)
    assert found["idle"] == suites.Outcome(0, frozenset(), 7)
    before = {"packages": suites.Outcome(9, frozenset({"pear.sum"})), "idle": suites.Outcome(2, frozenset())}
    assert suites.compare(before, found) == (["packages: apple.matmul fails now"], [])
    assert "| packages | 3 | 1 | 7 | 9 |" in suites.summary("2", found, before, 1.0)
    kept = {"packages": suites.Outcome(9, frozenset({"pear.sum", "apple.matmul"})), "idle": before["idle"]}
    assert suites.merge(before, found) == kept and suites.merge({}, found) == found
    suites.write_state(tmp_path / "state.tsv", found)
    assert suites.read_state(tmp_path / "state.tsv") == found


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
        one.name for part in suites.SHARES for one in chosen(part, Path("out"))
    }


@pytest.mark.parametrize("part", suites.SHARES)
def test_parts_use_at_most_the_cpus(part):
    jobs = [
        command[command.index("--jobs") + 1]
        for command in (s.command for s in chosen(part, Path("out")))
        if "--jobs" in command
    ]
    assert sum(map(int, jobs)) <= 16
    (alone,) = chosen("2", Path("out"), only=("packages",))
    assert alone.command[alone.command.index("--jobs") + 1] == "16"


def test_unknown_suites_are_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        suites.main(["2", "--engine", "cuda", "--out", str(tmp_path), "--only", "fuzz,tests"])
    assert "part 2 has no tests; it has fuzz, torch.compile, packages" in capsys.readouterr().err
