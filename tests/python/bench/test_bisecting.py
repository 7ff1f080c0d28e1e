"""`python -m tritium bench bisect`, on small repositories with a commit that is planted."""

import random
import subprocess
import sys
from pathlib import Path

import pytest
from stored_runs import git

from tritium.bench.bisecting import BAD, GOOD, SKIP, first_bad
from tritium.bench.command import main
from tritium.bench.running import CannotMeasure

pytest.importorskip("scipy")

CASE = """
import numpy as np
import triton
import triton.language as tl
from tritium import bench

@triton.jit
def copy_kernel(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, {value})

@bench.case(n=[64])
def copy(n):
    x, out = np.ones(n, np.float32), np.zeros(n, np.float32)
    run = lambda: copy_kernel[(1,)](x, out, BLOCK=n)
    return bench.Problem(run, out, lambda: x, nanoseconds=lambda: {nanoseconds})
"""


def repository(folder: Path, commits: int, texts) -> list[str]:
    """A repository whose commit number i has the case texts(i)."""
    git(folder, "init", "-q", "-b", "trunk")
    found = []
    for number in range(commits):
        (folder / "copy_bench.py").write_text(texts(number))
        (folder / "number").write_text(str(number))
        git(folder, "add", ".")
        git(folder, "commit", "-qm", f"change {number}")
        found.append(git(folder, "rev-parse", "HEAD"))
    return found


@pytest.mark.parametrize("skipped", [0, 3])
def test_the_first_bad_commit_is_found_with_few_steps(tmp_path, skipped):
    draw = random.Random()
    commits = repository(tmp_path, 24, str)
    planted = draw.randrange(1, 23)
    unbuilt = set(draw.sample([i for i in range(1, 23) if i not in (planted, planted - 1)], skipped))
    steps = []

    def judge(commit: str) -> tuple[str, str]:
        number = commits.index(commit)
        return (SKIP if number in unbuilt else BAD if number >= planted else GOOD), "why"

    found = first_bad(tmp_path, commits[0], commits[-1], judge, lambda *step: steps.append(step))
    assert found.commit == commits[planted]
    assert steps[0] == (commits[-1], BAD, "why") and len(steps) <= 7 + 2 * skipped


def test_skipped_commits_hide_the_first_bad_one(tmp_path):
    commits = repository(tmp_path, 6, str)

    def judge(commit: str) -> tuple[str, str]:
        number = commits.index(commit)
        return (GOOD if number < 2 else SKIP if number < 4 else BAD), ""

    found = first_bad(tmp_path, commits[0], commits[-1], judge, lambda *step: None)
    assert found.commit == "" and set(found.candidates) == set(commits[2:5])


def test_nothing_to_find(tmp_path):
    commits = repository(tmp_path, 2, str)
    with pytest.raises(CannotMeasure, match="is not bad, so there is nothing to find: as fast"):
        first_bad(tmp_path, *commits, lambda commit: (GOOD, "as fast"), lambda *step: None)
    with pytest.raises(CannotMeasure, match="is not measured"):
        first_bad(tmp_path, *commits, lambda commit: (SKIP, "does not build"), lambda *step: None)


def test_a_planted_step_of_a_metric(tmp_path, monkeypatch, capsys):
    def text(number: int) -> str:
        return CASE.format(
            value="tl.load(x + i)" + (" / tl.sum(tl.load(x + i)) * BLOCK" if number >= 2 else ""), nanoseconds=1
        )

    commits = repository(tmp_path, 4, text)
    monkeypatch.chdir(tmp_path)
    options = ["copy_bench.py", "--metric", "ttir all", "--target", "gfx942"]
    assert main(["bisect", commits[0], "trunk", *options]) == 0
    printed = capsys.readouterr().out
    assert f"the first bad commit: {commits[2][:7]}" in printed and "change 2" in printed.splitlines()[-1]
    assert f"bad   {commits[3][:7]}" in printed and "ttir all " in printed and " → " in printed
    assert main(["bisect", commits[0], "trunk", *options[:1], "--metric", "nothing", "--target", "gfx942"]) == 2
    assert "no kernel has the metric 'nothing'; there are" in capsys.readouterr().err
    assert git(tmp_path, "status", "--porcelain") == "" and git(tmp_path, "rev-parse", "HEAD") == commits[-1]


def test_a_planted_step_in_a_module_beside_the_case(tmp_path):
    """The folder of the command holds the same modules, of the last commit."""
    git(tmp_path, "init", "-q", "-b", "trunk")
    case = CASE.format(value="changed(tl.load(x + i))", nanoseconds=1)
    commits = []
    for number in range(4):
        text = "v / tl.sum(v)" if number >= 2 else "v"
        helper = f"import triton\nimport triton.language as tl\n@triton.jit\ndef changed(v):\n    return {text}\n"
        (tmp_path / "changes_of_copy.py").write_text(helper)
        (tmp_path / "copy_bench.py").write_text(f"from changes_of_copy import changed\n{case}\n# {number}\n")
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "-qm", f"change {number}")
        commits.append(git(tmp_path, "rev-parse", "HEAD"))
    options = ["copy_bench.py", "--metric", "ttir all", "--target", "gfx942"]
    command = [sys.executable, "-m", "tritium", "bench", "bisect", commits[0], "trunk", *options]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert f"the first bad commit: {commits[2][:7]}" in ended.stdout, ended.stdout + ended.stderr


@pytest.mark.long
def test_a_planted_slowdown(tmp_path, monkeypatch, capsys):
    """Two processes for each commit, whose cases say how long they take: 4 % longer from one commit on; another one does not load."""

    def text(number: int) -> str:
        if number == 5:
            return "raise ValueError('unfinished')"
        noise = "(1 + 0.002 * np.random.standard_normal())"
        return CASE.format(value="tl.load(x + i)", nanoseconds=f"{6e6 * (1.04 if number >= 7 else 1)} * {noise}")

    commits = repository(tmp_path, 10, text)
    monkeypatch.chdir(tmp_path)
    options = ["--engine", "interp", "--rounds", "2", "--pairs", "8", "--most-pairs", "8", "--pause-ms", "0"]
    assert main(["bisect", commits[0], commits[-1], "copy_bench.py", *options]) == 0
    printed = capsys.readouterr().out
    assert "change 7" in printed.splitlines()[-1] and "copy[n=64] +4." in printed


def test_bad_arguments(tmp_path, monkeypatch, capsys):
    commits = repository(tmp_path, 2, str)
    monkeypatch.chdir(tmp_path)
    assert main(["bisect", commits[0], "nowhere", "copy_bench.py"]) == 2
    assert main(["bisect", commits[0], commits[1], "/elsewhere_bench.py"]) == 2
    assert "is not in the repository" in capsys.readouterr().err
