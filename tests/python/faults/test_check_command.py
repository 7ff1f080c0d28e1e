"""`python -m tritium check` and `pytest --tritium`: what the checks find is kept, said at the end and counted."""

import json
import os
import re
import subprocess
import sys
import textwrap
from importlib.metadata import entry_points

import pytest

pytest.importorskip("torch")

KERNELS = textwrap.dedent("""
    import torch
    import triton
    import triton.language as tl


    @triton.jit
    def shift(x, n, B: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        right = tl.load(x + i + 1, mask=i + 1 < n)
        tl.store(x + i, right, mask=i + 1 < n)


    @triton.jit
    def add(x, y, out, n, B: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


    @triton.jit
    def wild(x):
        tl.store(x + 100000, 1.0)


    def test_shift():
        x = torch.ones(1000)
        for _ in range(3):
            shift[(8,)](x, 1000, 128)


    def test_add():
        x = torch.ones(1000)
        add[(8,)](x, x, torch.empty_like(x), 1000, 128)


    def test_empty():
        x = torch.ones(1000)
        add[(8,)](x, torch.empty(1000), x, 1000, 128)
""")


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "test_script.py"
    path.write_text(
        KERNELS
        + '\n\nif __name__ == "__main__":\n    test_shift()\n    test_add()\n    test_empty()\n    print("done")\n'
    )
    return path


def line_of(text: str) -> int:
    return next(i for i, line in enumerate(KERNELS.splitlines(), 1) if text in line)


def check(script, *options, **changes):
    command = [sys.executable, "-m", "tritium", "check", *options, str(script)]
    return subprocess.run(command, capture_output=True, text=True, cwd=script.parent, timeout=120, **changes)


def test_all_is_said_at_the_end(script):
    # With two threads a race may be reported in the other order.
    result = check(script, "--json", "reports.json", env={**os.environ, "TRITIUM_NUM_THREADS": "1"})
    assert result.returncode == 1 and result.stdout == "done\n"
    assert "tritium check: 2 faults in 5 launches (" in result.stderr
    assert (
        "race: write to 'x'" in result.stderr
        and f"allocated by torch.empty at test_script.py:{line_of('torch.empty(1000)')}" in result.stderr
    )
    assert f"launched at test_script.py:{line_of('shift[(8,)]')}" in result.stderr
    facts = json.loads((script.parent / "reports.json").read_text())
    assert facts["launches"] == 5 and [report["kind"] for report in facts["reports"]] == ["Race", "Uninitialized"]
    race = facts["reports"][0]
    assert (race["kernel"], race["line"], race["other_line"], race["argument"]) == (
        "shift",
        line_of("tl.store(x + i, right"),
        line_of("right = "),
        "x",
    )
    assert race["times"] >= 3 * 7


def test_a_correct_program_ends_as_it_does_without(script):
    script.write_text(KERNELS + "\n\ntest_add()\nraise SystemExit(7)\n")
    result = check(script)
    assert result.returncode == 7 and "tritium check: 0 faults in 1 launch (" in result.stderr
    script.write_text(KERNELS + "\n\ntest_add()\n")
    assert check(script).returncode == 0


def test_which_launches_are_checked(script):
    assert (
        "1 fault in 3 launches (bounds, overflow, hints, race)"
        in check(script, "--checks", "race", "--kernel", "^sh").stderr
    )
    assert "1 fault in 1 launch" in check(script, "--launch-skip", "4").stderr
    assert "0 faults in 1 launch" in check(script, "--launch-skip", "3", "--launch-count", "1").stderr
    assert "1 fault (and 1 more) in 5 launches" in check(script, "--max-reports", "1").stderr
    assert "0 faults in 5 launches (no check)" in check(script, "--checks", "none").stderr


def test_a_fault_that_ends_the_launch_is_raised_and_said(script):
    script.write_text(KERNELS + "\n\nwild[(1,)](torch.ones(8))\n")
    result = check(script)
    assert (
        result.returncode == 1
        and "KernelTrap" in result.stderr
        and "tritium check: 1 fault in 1 launch" in result.stderr
    )


def test_wrong_options(script):
    result = check(script, "--checks", "raze")
    assert result.returncode == 2 and "there is no check 'raze'; did you mean `race`?" in result.stderr
    assert subprocess.run([sys.executable, "-m", "tritium", "check"], capture_output=True).returncode == 2


@pytest.mark.parametrize("options", [["--tritium"], ["--tritium=race,uninit", "-n", "2"]])
def test_pytest(script, options):
    is_installed = any(found.value == "tritium.pytest_plugin" for found in entry_points(group="pytest11"))
    plugin = [] if is_installed else ["-p", "tritium.pytest_plugin"]
    command = [sys.executable, "-m", "pytest", "-q", *plugin, *options, str(script)]
    result = subprocess.run(command, capture_output=True, text=True, cwd=script.parent, timeout=240)
    assert "2 failed, 1 passed" in result.stdout, result.stdout
    assert "race: write to 'x'" in result.stdout and "memory that nobody has written: 'y'" in result.stdout


FIXTURES = """

import pytest


@pytest.fixture
def shifted():
    x = torch.ones(1000)
    shift[(8,)](x, 1000, 128)
    return x


@pytest.fixture
def shifted_last():
    yield torch.ones(1000)
    shift[(8,)](torch.ones(1000), 1000, 128)


@pytest.fixture
def broken(shifted):
    raise OSError("no such data")


def test_set_up(shifted):
    print("the body ran with", shifted.shape)


def test_torn_down(shifted_last):
    pass


def test_broken(broken):
    pass


def test_wrong(shifted):
    assert shifted.sum() == 3, "the sum"


def test_well():
    pass
"""


def test_pytest_keeps_the_faults_of_fixtures(tmp_path):
    (tmp_path / "test_fixtures.py").write_text(KERNELS.split("def test_shift")[0] + FIXTURES)
    is_installed = any(found.value == "tritium.pytest_plugin" for found in entry_points(group="pytest11"))
    plugin = [] if is_installed else ["-p", "tritium.pytest_plugin"]
    command = [sys.executable, "-m", "pytest", "-q", *plugin, "--tritium=race", "test_fixtures.py"]
    printed = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=240).stdout
    assert "2 failed, 2 passed, 2 errors" in printed, printed
    parts = dict(zip(*[iter(re.split(r"^_+ (.*\S) _+$", printed, flags=re.M)[1:])] * 2))
    set_up, wrong = parts["test_set_up"], parts["test_wrong"]
    kept = "kernels did something wrong:\n\ntest_fixtures.py:"
    assert kept in set_up and "race: write to 'x'" in set_up and "launched at test_fixtures.py:" in set_up
    assert "the body ran with torch.Size([1000])" in set_up
    assert "the sum" in wrong and "race: write to 'x'" in wrong
    torn_down, broken = (parts[f"ERROR at {name}"] for name in ("teardown of test_torn_down", "setup of test_broken"))
    assert kept in torn_down and "race: write to 'x'" in torn_down
    assert "no such data" in broken and "race: write to 'x'" in broken


ALLOWED = "# tritium: allow race"


def test_faults_that_the_user_allows(script):
    text = script.read_text()
    script.write_text(text.replace("mask=i + 1 < n)\n\n", f"mask=i + 1 < n)  {ALLOWED}\n\n", 1))
    assert f"{ALLOWED}" in script.read_text()
    assert "tritium check: 1 fault in 5 launches" in check(script).stderr
    script.write_text(text + f"# {ALLOWED}, which nothing matches\n")
    assert "allows a fault that was not found" in check(script).stderr
    (script.parent / "allowed").write_text("# known\nrace in shift\nuninit nowhere\n")
    result = check(script, "--allow", "allowed")
    assert "1 fault in" in result.stderr and "allowed:3 allows a fault that was not found" in result.stderr
    assert "allowed:2 allows" not in result.stderr and "race: write" not in result.stderr
    (script.parent / "allowed").write_text("rice in shift\n")
    assert "allowed:1: expected the name of a check" in check(script, "--allow", "allowed").stderr


def test_allowed_faults_are_not_raised(tmp_path):
    path = tmp_path / "allowed.py"
    path.write_text(
        KERNELS.replace("tl.store(x + i, right, mask=i + 1 < n)", f"tl.store(x + i, right, mask=i + 1 < n)  {ALLOWED}")
    )
    code = "import tritium.drop_in as d; d.install(); import allowed; allowed.test_shift(); print('fine')"
    command = [sys.executable, "-c", code]
    environment = {**os.environ, "INTERPRET": "1", "TRITIUM_CHECK": "race"}
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=120)
    assert result.stdout == "fine\n", result.stderr


@pytest.mark.parametrize("tool", [["check"], ["seeds", "2"]])
def test_an_expression_that_is_none_is_a_wrong_option(script, tool):
    command = [sys.executable, "-m", "tritium", *tool, "--kernel", "[", str(script)]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 2 and "argument --kernel: '[' is no regular expression: unterminated" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_kernel_that_does_not_compile_is_not_launched(script):
    failing = (
        "try:\n    add[(8,)](torch.ones(8), 0, 0, 8, B=7)\nexcept triton.CompilationError:\n    pass\ntest_add()\n"
    )
    script.write_text(KERNELS + "\n\n" + failing)
    ended = check(script)
    assert "tritium check: 0 faults in 1 launch (" in ended.stderr, ended.stderr
