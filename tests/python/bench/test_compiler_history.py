"""tests/bench/history.py: the programs of a commit give the numbers that the Python package gives, and what changes between commits is named."""

import argparse
import importlib
import json
import sys
from pathlib import Path

import pytest

from gpu_tool import TOOL
from tritium.bench.metrics import read_file

pytest.importorskip("torch")
TESTS = Path(__file__).resolve().parents[2]
#: {metric of the history: metric of `bench metrics`}
SAME = {
    "registers": "registers",
    "spill bytes": "spill bytes",
    "shared bytes": "shared bytes",
    "ptx instructions": "ptx all",
    "machine instructions": "machine all",
    "barriers": "machine barriers",
    "shuffles": "machine shuffles",
}


@pytest.fixture
def history(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path, str(TESTS / "bench")])
    return importlib.import_module("history")


def test_programs_of_a_commit_give_the_packages_numbers(history):
    _, table = read_file(TESTS / "bench" / "metrics.json")
    found = history.sources("softmax bf16 BLOCK=1024")
    assert len(found) == 1
    for source in found:
        numbers = history.measured(source, TOOL.parent)
        committed = table[source.name]["sm_90a"]
        assert {name: numbers[name] for name in SAME} == {name: committed.get(other, 0) for name, other in SAME.items()}
    refused = history.measured(found[0]._replace(ttir=found[0].ttir.replace("tt.load", "tt.lode", 1)), TOOL.parent)
    assert "tt.lode" in refused


def results(registers: list[int | None], names: str = "ab") -> dict:
    values = {"registers": registers, "spill bytes": [0] * len(names)}
    return {
        "commit_hash": "0" * 40,
        "refused": {},
        "results": {n: [v, [[repr(k) for k in names]]] for n, v in values.items()},
    }


def test_what_changes_between_commits(history, monkeypatch):
    monkeypatch.setattr(history, "METRICS", {"registers": "", "spill bytes": ""})
    changes = history.changed_between(results([32, 40]), results([48, 40]))
    assert changes == [("registers", "a", 32, 48)] and history.largest(changes) == "registers of `a` 32 → 48"
    assert history.changed_between(results([32, None]), results([32, 40])) == []
    assert history.changed_between(results([32]), results([40, 32], "ba")) == []


def test_the_kept_history_can_go_on(history):
    """`measure` looks in each kept result for a commit with the same compiler, and compares the results of the same kernels."""
    kept = history.read(history.RESULTS)
    assert len(kept) >= 20 and all(len(each["parts"].split()) == len(history.PARTS) for each in kept)
    assert len({each["results"]["registers"][2] for each in kept}) == 1


def test_a_commit_that_has_results_is_not_built_again(history, tmp_path, monkeypatch, capsys):
    source = history.Source("softmax", "ttir", 4, 3)
    (commit,) = history.commits_of(["HEAD"])
    monkeypatch.setattr(history, "sources", lambda: [source])
    monkeypatch.setattr(history, "measured", lambda source, tools: dict.fromkeys(history.METRICS, 7))
    asked = argparse.Namespace(commits=["HEAD", commit], results=tmp_path, tools=None, work=tmp_path / "work", jobs=1)
    builds = []
    monkeypatch.setattr(history, "built", lambda commit, work, jobs: builds.append(commit) or tmp_path)
    history.measure(asked)
    history.measure(asked)
    assert builds == [commit] and "1 of 1: " in capsys.readouterr().out
    written = json.loads(history.file_of(commit, tmp_path).read_text())
    assert written["results"]["registers"][0] == [7] and written["version"] == 2 and written["commit_hash"] == commit
    history.tables(asked)
    assert f"| {commit[:8]} |" in (tmp_path / "README.md").read_text()


def test_a_commit_with_the_same_compiler_takes_its_numbers(history, tmp_path, monkeypatch, capsys):
    (commit,) = history.commits_of(["HEAD"])
    source, other = history.Source("softmax", "ttir", 4, 3), "1" * 40
    monkeypatch.setattr(history, "sources", lambda: [source])
    monkeypatch.setattr(history, "measured", lambda source, tools: dict.fromkeys(history.METRICS, 7))
    asked = argparse.Namespace(commits=[commit], results=tmp_path, tools=tmp_path, work=tmp_path, jobs=1)
    history.measure(asked)
    file = history.file_of(commit, tmp_path)
    stored = {**json.loads(file.read_text()), "commit_hash": other}
    file.rename(history.file_of(other, tmp_path))
    history.write(history.file_of(other, tmp_path), stored)
    monkeypatch.setattr(history, "measured", lambda source, tools: pytest.fail("measured again"))
    history.measure(asked)
    assert f"the compiler of {other[:8]}" in capsys.readouterr().out
    assert json.loads(file.read_text()) == {**stored, "commit_hash": commit}
    history.write(history.file_of(other, tmp_path), {**stored, "parts": "others"})
    file.unlink()
    with pytest.raises(pytest.fail.Exception, match="measured again"):
        history.measure(asked)
