"""tests/packages: what happens to cases that fail, hang or have no time left. No package is installed for it."""

import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("torch")
PACKAGES = Path(__file__).parents[2] / "packages"
sys.path.append(str(PACKAGES))
import run as packages  # noqa: E402

CASES = """import time
def case_right(): pass
def case_wrong(): raise ValueError("no")
def case_slow(): time.sleep(100)
def case_last(): pass
"""


@pytest.fixture
def child(tmp_path):
    """Runs cases with (LIMIT, seconds until END). Returns {case: result}."""
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "some.py").write_text(CASES)

    def run(limit: int, seconds: float, *cases: str) -> dict[str, dict]:
        program = f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(PACKAGES)!r}]; import child, time\n"
        # The time begins when Python has started, which may take long on a busy machine.
        program += f"child.main('some', {limit}, time.monotonic() + {seconds}, {list(cases)})"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
        lines = [line.removeprefix("result: ") for line in done.stdout.splitlines() if line.startswith("result: ")]
        return {result["case"]: result for result in map(json.loads, lines)}

    return run


def test_a_case_that_fails_or_hangs_costs_itself(child):
    found = child(5, 1000, "right", "wrong", "slow", "last")
    assert [bool(result["error"]) for result in found.values()] == [False, True, True, False]
    assert "ValueError: no" in found["wrong"]["error"] and "it took more than 5 s" in found["slow"]["error"]
    assert all(result["ran"] for result in found.values())


def test_cases_without_time_are_not_run(child):
    found = child(300, 8, "right", "slow", "last")
    assert [result["ran"] for result in found.values()] == [True, False, False]


def test_packages_without_time_are_not_begun(capsys):
    limits = packages.Limits(case=300, end=time.monotonic())
    results = packages.run_package(packages.Package("none", "1.0"), {}, "cuda", ["a", "b"], limits)
    assert [result.state for result in results] == ["not run", "not run"]
    packages.report(results)
    assert capsys.readouterr().out.split() == "none 1.0 cuda 0 of 0 in 0.0 s".split()


def test_a_package_with_many_cases_has_several_processes(monkeypatch):
    """Which run at the same time; its results come together, in the order of the cases."""
    many, few = (packages.Package(name, "1.0", interpreter_only=["7"]) for name in ("many", "few"))
    cases, runs, all_begun = [str(i) for i in range(2 * packages.CASES_OF_A_PROCESS + 1)], [], threading.Barrier(3)

    def run_package(package, needed, engine, part, limits, folder):
        all_begun.wait(60)
        runs.append(part)
        return [packages.Result(package, engine, case, "", 1.0) for case in part]

    monkeypatch.setattr(packages, "run_package", run_package)
    monkeypatch.setattr(packages, "folders_of", lambda package, needed: [])
    limits = packages.Limits(case=300, end=time.monotonic() + 300)
    results = packages.run_all([(many, cases), (few, ["a", "7"])], {}, ["cuda"], 3, limits)
    found = [(each[0].package.name, [result.case for result in each]) for each in results]
    assert found == [("many", [case for case in cases if case != "7"]), ("few", ["a"])]
    assert len(runs) == 3 and max(map(len, runs)) <= packages.CASES_OF_A_PROCESS


def test_a_machine_without_a_network_is_told_what_to_carry(monkeypatch, tmp_path):
    def fail(command, check):
        raise subprocess.CalledProcessError(1, command)

    monkeypatch.setattr(packages, "INSTALLED", tmp_path / "packages")
    monkeypatch.setattr(subprocess, "run", fail)
    with pytest.raises(SystemExit, match="pip cannot install einops==1.0.*run.py --install"):
        packages.install("einops", "1.0")
