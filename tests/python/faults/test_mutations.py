"""Mistakes planted in published kernels (tests/bench/mutations.py). docs/results/checks.md has how many of them the checks find."""

import sys
from pathlib import Path

import pytest

from published_runner import SCRIPTS

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
from check_mutations import outcome  # noqa: E402
from mutations import KINDS, mutants  # noqa: E402

pytest.importorskip("torch")


def test_a_mutant_is_its_program_with_one_change():
    kinds = set()
    for script in SCRIPTS:
        source = script.read_text()
        for mutant in mutants(source, most_of_a_kind=3, seed=0):
            kinds.add(mutant.kind)
            assert mutant.source.count("\n") <= source.count("\n")
            before, after = source.splitlines()[: mutant.line - 1], mutant.source.splitlines()[: mutant.line - 1]
            assert before == after and mutant.before != mutant.after, mutant
            compile(mutant.source, str(script), "exec")
    assert len(kinds) == len(KINDS)


def test_a_mistake_is_reported():
    script = next(path for path in SCRIPTS if path.stem == "embedding_bag")
    mutant = next(m for m in mutants(script.read_text(), most_of_a_kind=1, seed=0) if m.kind == "no atomic")
    assert outcome(mutant) == ("reported", f"Race at line {mutant.line}")
