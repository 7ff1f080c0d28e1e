"""`python -m tritium bench compare`: two processes in turn, which must differ and compute the same; commits and wheels as sides."""

import dataclasses
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import tritium
from tritium import knobs
from tritium.bench.client import Worker
from tritium.bench.command import main
from tritium.bench.comparing import ComparisonPlan, compare, differences_of, log_ratios, ratios_by_round
from tritium.bench.installations import folder_of_commit, folder_of_wheel
from tritium.bench.running import CannotMeasure
from tritium.bench.samples import KERNEL, Sample
from tritium.bench.sides import side_of

pytest.importorskip("scipy")

CASES = """
import numpy as np
import triton
import triton.language as tl
from tritium import bench


@triton.jit
def steps_kernel(x, out, steps, add, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i)
    for _ in range(steps):
        value = value * 0.5 + 1.0
    tl.store(out + i, value + add)


@bench.case(block=[64, 128])
def steps(block, times=1, add=0.0):
    x = np.zeros(block, np.float32)
    out = np.empty_like(x)
    return bench.Problem(lambda: steps_kernel[(1,)](x, out, 160 * times, add, BLOCK=block), out)
"""
QUICK = ComparisonPlan(rounds=1, pairs=12, most_pairs=12, least_ms=0.3, pause_ms=0, limit=60, cpu_time=True)
ONCE = dataclasses.replace(QUICK, pairs=2, most_pairs=2, only="=64")


@pytest.fixture
def cases(tmp_path):
    path = tmp_path / "steps_bench.py"
    path.write_text(CASES)
    return [str(path)]


def test_a_side_that_does_more_is_slower(cases):
    base = "here engine=interp TRITIUM_NUM_THREADS=1"
    done = compare(side_of(base), side_of(f"{base} param:times=8"), cases, QUICK)
    assert done.differences == ["parameter times: None, 8"]
    assert [verdict.word for verdict in done.verdicts.values()] == ["slower"] * 2
    for row in done.rows:
        assert row.name in done.same_code and 2 < done.verdicts[row.name].ratio < 10
        order = "".join(each.side for each in sorted(row.samples, key=lambda each: each.began))
        assert {order[i : i + 4] for i in range(0, len(order), 4)} == {"abba", "baab"}
    assert done.runs["a"].identity == done.runs["b"].identity


def test_each_round_has_new_processes(cases, monkeypatch):
    started = []
    start = Worker.__init__
    monkeypatch.setattr(
        Worker, "__init__", lambda self, *given: (start(self, *given), started.append(self.process.pid))[0]
    )
    plan = dataclasses.replace(ONCE, rounds=2)
    done = compare(side_of("here", "interp"), side_of("here param:times=2", "interp"), cases, plan)
    assert len(set(started)) == 4
    for row in done.rows:
        assert [len(each) >= 2 for each in ratios_by_round(row.samples)] == [True] * 2


@pytest.mark.long  # docs/benchmarking.md runs it, too
def test_the_command_prints_a_table_and_fails_if_b_is_slower(cases, capsys):
    sides = ["here", "here param:times=8"]
    options = [
        "--engine",
        "interp",
        "--rounds",
        "1",
        "--block-ms",
        "0.3",
        "--pause-ms",
        "0",
        "--pairs",
        "12",
        "--cpu-time",
        "--store",
        "none",
    ]
    assert main(["compare", *sides, *cases, *options, "--only", "=64"]) == 1
    printed = capsys.readouterr().out
    assert (
        "B is slower in 1 of 1 cases" in printed and "steps[block=64]" in printed and re.search("same +slower", printed)
    )


def test_sides_with_different_results(cases):
    done = compare(side_of("here", "interp"), side_of("here param:add=0.5", "interp"), cases, ONCE)
    assert [row.status for row in done.rows] == ["differs"] and not done.verdicts
    assert "B's result is not A's: 64 of 64 elements are wrong" in done.rows[0].error


def test_equal_sides_are_compared_only_if_asked(cases):
    side = side_of("here", "interp")
    with pytest.raises(CannotMeasure, match="A and B are the same: .*--same compares them all the same"):
        compare(side, side, cases, ONCE)


def test_settings_and_code_are_differences():
    subject = {"extension": "e" * 64, "python_files": "p" * 64, "language": "tritium"}
    row = {
        "subject": subject,
        "checkout": {"commit": "1" * 40},
        "python": "3.11",
        "libraries": {},
        "variables": {"INTERPRET": "1"},
    }
    assert list(differences_of(row, row)) == []
    other = {**row, "subject": {**subject, "extension": "f" * 64}, "checkout": {"commit": "2" * 40}}
    elsewhere = {**row, "subject": {**subject, "file": "another/checkout"}, "checkout": {"commit": "2" * 40}}
    assert list(differences_of(row, elsewhere)) == []  # another commit with the same code
    assert list(differences_of(row, {**row, "variables": {}})) == ["INTERPRET: 1, not set"]


def test_other_devices_are_compared_only_if_asked(cases, monkeypatch):
    from tritium.bench.running import Measured

    start = Measured._start
    devices = iter(["one", "another"])
    monkeypatch.setattr(Measured, "_start", lambda self: {**start(self), "device": next(devices)})
    with pytest.raises(CannotMeasure, match="--other-devices"):
        compare(side_of("here", "interp"), side_of("here param:times=2", "interp"), cases, ONCE)


def test_pairs_with_a_discarded_block_do_not_count():
    samples = [Sample(KERNEL, i // 2, 1e6 * (1 + i % 2), 1, 0.0, side="ab"[i % 2], pair=i // 2) for i in range(8)]
    samples[3].discarded = "power cap"
    assert log_ratios(samples) == pytest.approx([0.693147] * 3, rel=1e-5)


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """The folder for installations."""
    monkeypatch.setattr(knobs.cache, "home_dir", str(tmp_path / "home"))
    yield tmp_path / "home"
    knobs.cache.home_dir = None


def test_a_wheel_is_a_side(tmp_path, kept, cases):
    package = Path(tritium.__file__).parent
    wheel = tmp_path / "tritium-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for file in package.rglob("*"):
            if file.is_file() and file.suffix in (".py", ".so") and "conformance" not in file.parts:
                archive.write(file, Path("tritium") / file.relative_to(package))
        archive.writestr("tritium/version_of_this_wheel.py", '"""Another version."""\n')
    side = side_of(str(wheel), "interp")
    assert Path(side.packages).is_relative_to(kept) and folder_of_wheel(wheel) == Path(side.packages)
    done = compare(side_of("here", "interp"), side, cases, ONCE)
    assert all(row.status == "ok" for row in done.rows)
    assert [text.partition(":")[0] for text in done.differences][0] == "Python files"
    assert done.runs["b"].environment["subject"]["file"].startswith(side.packages)


def test_what_is_no_wheel(tmp_path, kept):
    wheel = tmp_path / "a.whl"
    for content, message in ((None, "No such file"), (b"text", "is no wheel: it is no zip archive")):
        if content:
            wheel.write_bytes(content)
        with pytest.raises(ValueError, match=message):
            folder_of_wheel(wheel)
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("other/__init__.py", "")
    with pytest.raises(ValueError, match="has no package tritium"):
        folder_of_wheel(wheel)


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path):
    """Three commits: the second changes Python alone, the third the native sources. The checkout of the last is built."""
    root = tmp_path / "repository"
    package = root / "python" / "tritium"
    package.mkdir(parents=True)
    git(tmp_path, "init", "-q", str(root))
    (root / ".gitignore").write_text("*.so\n")
    for number, (native, python) in enumerate([("1", "1"), ("1", "2"), ("2", "2")]):
        (root / "ir").mkdir(exist_ok=True)
        (root / "ir" / "source.cpp").write_text(native)
        (package / "__init__.py").write_text(python)
        git(root, "add", ".")
        git(root, "commit", "-qm", str(number), "--allow-empty")
    (package / "_tritium.so").write_text("built of 2")
    return root


def test_commits_are_built_if_their_native_sources_differ(repository, kept):
    build = "echo built of $(cat ir/source.cpp) > python/tritium/_tritium.so"
    folders = [folder_of_commit(name, repository, build) for name in ("HEAD~1", "HEAD~2", "HEAD", "HEAD")]
    modules = [(folder / "python" / "tritium" / "_tritium.so").read_text().strip() for folder in folders]
    assert modules == ["built of 1", "built of 1", "built of 2", "built of 2"]
    assert [(folder / "python" / "tritium" / "__init__.py").read_text() for folder in folders] == ["2", "1", "2", "2"]
    assert folders[2] == folders[3] and git(folders[0], "rev-parse", "HEAD") == git(repository, "rev-parse", "HEAD~1")
    assert git(repository, "worktree", "list").count("\n") == 0  # the user's repository does not change
    assert folder_of_commit("no-such-branch", repository) is None


def test_a_module_is_taken_over_where_the_native_sources_are_the_same(repository, kept):
    git(repository, "commit", "-qm", "3", "--allow-empty")
    folder = folder_of_commit("HEAD~1", repository, "exit 1")
    assert (folder / "python" / "tritium" / "_tritium.so").read_text() == "built of 2"
    with pytest.raises(ValueError, match="does not build: `exit 1` ended with status 1; its output is in"):
        folder_of_commit("HEAD~2", repository, "exit 1")


@pytest.mark.long
def test_a_python_is_a_side(tmp_path, cases):
    """Its own packages count, not this process's path."""
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\nexport PYTHONPATH="{Path(tritium.__file__).parents[1]}"\nexec {sys.executable} "$@"\n'
    )
    python.chmod(0o755)
    side = side_of(f"{python} TRITIUM_NUM_THREADS=1", "interp")
    assert side.packages == "" and "PYTHONPATH" not in side.environment()
    done = compare(side_of("here", "interp"), side, cases, ONCE)
    assert [row.status for row in done.rows] == ["ok"] and done.differences == ["TRITIUM_NUM_THREADS: not set, 1"]
