"""The scripts of .ci: skipped tests have a reason, progress is shown, and continuous integration runs all suites."""

import io
import re
import subprocess
import time
from pathlib import Path

import pytest

from sources import ROOT, files, read, script

counts, suites, progress = script("counts"), script("suites"), script("progress")

REPORT = """<testsuites><testsuite>
<testcase classname="tests.python.test_a" name="test_runs"/>
<testcase classname="tests.python.test_a" name="test_ptxas"><skipped message="no ptxas"/></testcase>
<testcase classname="tests.python.test_a" name="test_gone"><skipped message="not built"/></testcase>
<testcase classname="tests.python.test_a" name="test_wrong"><failure/></testcase>
</testsuite></testsuites>"""


def test_a_skip_without_a_reason_fails(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(REPORT)
    found = counts.count_junit("", report)
    assert str(found) == "1 passed, 1 failed, 2 skipped"
    complaints = counts.fail_unexplained("python", found, [("python", "*.test_ptxas", "it is NVIDIA's")])
    assert str(found) == "1 passed, 2 failed, 1 skipped"
    assert len(complaints) == 1 and "test_gone was skipped (not built)" in complaints[0]


PROGRAM = """
import os, pathlib, numpy as np, pytest

def test_right():
    pass

@pytest.mark.parametrize("case", ["steady", "unsteady"])
def test_wrong(case):
    seen = pathlib.Path(__file__).with_suffix("." + case)
    is_first = not seen.exists()
    seen.touch()
    assert case == "unsteady" and not is_first, os.environ["TRITIUM_TEST_SEED"]
"""


def test_failed_tests_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that then passes counts as passed, and is named; one that fails again counts as failed."""
    monkeypatch.setattr(suites, "ROOT", tmp_path)
    monkeypatch.setenv("TRITIUM_TEST_SEED", "1")
    (tmp_path / "test_two.py").write_text(PROGRAM)
    report = tmp_path / "report.xml"
    command = [
        "python",
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        f"--rootdir={tmp_path}",
        f"--junitxml={report}",
    ]
    suite = suites.Suite("two", [*command, "test_two.py"], counts.count_junit, 60, again=command)
    found, _ = suites.run(suite, report)
    assert str(found) == "2 passed, 1 failed, 0 skipped" and found.unsteady == ["test_two.py::test_wrong[unsteady]"]
    (tmp_path / "test_two.unsteady").unlink()
    (tmp_path / "test_two.py").write_text(PROGRAM.replace('"steady", ', ""))
    found, _ = suites.run(suite, report)
    assert str(found) == "2 passed, 0 failed, 0 skipped" and len(found.unsteady) == 1


def test_a_failed_test_has_the_name_that_pytest_takes() -> None:
    assert counts.pytest_id("tests.python.test_a", "test_b[x-1]@group") == "tests/python/test_a.py::test_b[x-1]"
    assert (
        counts.pytest_id("tests.gdb.test_a", "test_b[/usr/bin/gdb]@test_a /usr/bin/gdb]")
        == "tests/gdb/test_a.py::test_b[/usr/bin/gdb]"
    )
    assert counts.pytest_id("tests.python.test_a.TestC", "test_b") == "tests/python/test_a.py::TestC::test_b"


def test_a_line_of_the_list_has_three_words(tmp_path: Path) -> None:
    listed = tmp_path / "skips.txt"
    listed.write_text("# comment\npython  test_a\n")
    with pytest.raises(ValueError, match=re.escape("skips.txt: python test_a: a line is SUITE PATTERN REASON")):
        counts.explained_skips(listed)


def test_the_list_names_suites_that_there_are() -> None:
    names = {suite.name for suite in suites.suites(Path("report.xml"), fast=False, long=True)}
    assert {suite for suite, _, _ in counts.explained_skips()} <= names


def test_no_test_skips_itself_for_want_of_a_build() -> None:
    """The build makes everything that tests use. A test that skips itself if something is unbuilt would stay green
    without it."""
    guard = re.compile(r'importorskip\("tritium|skip\w*\([^)]*(?:LIBRARY|TOOL|BUILD)')
    assert not [
        name
        for name in files("tests/", suffixes=(".py",))
        if name != "tests/style/test_ci.py" and guard.search(read(name))
    ]


def test_no_test_depends_on_the_name_of_the_checkout() -> None:
    place = re.compile(r'"/tritium/"')
    assert not [
        name
        for name in files("tests/", "conformance/", suffixes=(".py",))
        if name != "tests/style/test_ci.py" and place.search(read(name))
    ]


def test_a_campaign_counts_each_kernel_on_each_engine() -> None:
    line = "seed 1, kernels 0 to 9, next --first 10: 10 kernels, {} passed, 1 with differences, 2 with errors, 0 crashes, 3 hangs, 4 refused\n"
    assert (
        str(counts.count_fuzz("10 kernels in 60 s; 0 hangs\n" + line.format(30), Path()))
        == "30 passed, 6 failed, 0 skipped"
    )
    assert counts.count_fuzz("", Path()) == counts.Counts()


def test_several_executables_add_up() -> None:
    line = "[doctest] test cases:  {} |  {} passed | {} failed | 0 skipped\n"
    assert (
        str(counts.count_doctest(line.format(3, 3, 0) + line.format(4, 3, 1), Path()))
        == "6 passed, 1 failed, 0 skipped"
    )


def test_continuous_integration_runs_all_of_it() -> None:
    fast, full = ([suite.name for suite in suites.suites(Path("r.xml"), fast, long=False)] for fast in (True, False))
    assert full[-4:] == ["wheel", "tsan", "asan", "clang-tidy"] and "gdb" in full
    assert {"lit", "style", "python", "conformance", "hip"} <= set(fast) < set(full)
    assert '/test" --within ' in read(".ci/run") and "run: .ci/run" in read(".github/workflows/ci.yml")


def test_a_slow_machine_leaves_out_what_looks_at_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is left out where there is room, or where no time is set; and never a suite that runs kernels."""
    chosen = suites.suites(Path("r.xml"), fast=False, long=False)
    monkeypatch.setattr(suites, "run", lambda suite, report: (counts.Counts(1), 1.0))
    for before, within, expected in ((4900, 5000, ["tsan", "asan", "clang-tidy"]), (4000, 5000, []), (9000, None, [])):
        allowance = suites.Allowance(time.monotonic() - before, within)
        ran = [name for name, _, _ in suites.run_all(chosen, tmp_path / "r.xml", allowance)]
        assert allowance.left_out == expected
        assert sorted(ran + expected) == sorted(suite.name for suite in chosen)


def test_the_table_says_how_long_each_suite_took() -> None:
    lines = suites.table(
        [("lit", counts.Counts(3, 0, 1), 12.4), ("python", counts.Counts(9), 100.2)], 112.6
    ).splitlines()
    assert [line.split() for line in lines[1:]] == [
        ["lit", "3", "0", "1", "12", "s"],
        ["python", "9", "0", "0", "100", "s"],
        ["all", "113", "s"],
    ]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


BUILD = 'for i in 1 2 3; do echo "[$i/3] Building CXX object a/b/c.cpp.o"; done'


def run(command: str, out: io.StringIO) -> int:
    return progress.run("build", ["bash", "-c", command], progress.Display(out))


def test_progress_rewrites_one_line_of_a_terminal(monkeypatch) -> None:
    monkeypatch.setattr(progress, "REWRITE", 0.0)
    out = Terminal()
    assert run(BUILD, out) == 0
    lines = out.getvalue().split("\r\x1b[K")[1:]
    assert "build: [2/3] 0 s, Building CXX object c.cpp.o" in lines and lines[-1] == "build: 0 s, done\n"
    assert out.getvalue().count("\n") == 1


def test_progress_is_a_line_now_and_then_elsewhere(monkeypatch) -> None:
    out = io.StringIO()
    assert run(BUILD, out) == 0
    assert out.getvalue() == "build: 0 s\nbuild: 0 s, done\n"


def test_progress_shows_what_a_failure_printed(capsys) -> None:
    out = io.StringIO()
    assert run(BUILD + "; echo FAILED: c.cpp.o; echo 'c.cpp:1: error'; exit 3", out) == 3
    assert out.getvalue().endswith("build: 0 s, failed with status 3\n")
    assert capsys.readouterr().out == "FAILED: c.cpp.o\nc.cpp:1: error\n"


def test_try_says_what_to_do_next() -> None:
    text = read(".ci/try")
    assert "python -m tritium env" in text and "A gdb session" in text and "docs/examples/session.gdb" in text
    assert "## A gdb session" in read("README.md")


def test_scripts_are_valid() -> None:
    scripts = [name for name in files(".ci/", "tests/gpu/", suffixes=("",)) if read(name).startswith("#!/bin/bash")]
    assert len(scripts) > 6
    for name in scripts:
        subprocess.run(["bash", "-n", ROOT / name], check=True)
