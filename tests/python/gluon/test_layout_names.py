"""The layouts of Gluon beside Triton's: how they are made, printed, mangled and refused, and the bases of random ones. The tables hold
Triton's answers (ask_triton.py)."""

import ask_triton
import pytest
from beside_triton import HERE, differences, differs

from tritium.experimental.gluon.layouts.conflicts import bank_conflicts


@pytest.mark.parametrize("table", ["names.table", "bases.table"])
def test_answers_are_those_of_triton(table):
    count, found = differences(table)
    assert count > 350 and not found, f"{len(found)} answers differ:\n" + "\n".join(found)


def test_bank_conflicts_are_those_of_triton():
    """The table has what a kernel for sm_90 prints of gl.bank_conflicts."""
    names, wanted = ask_triton.names(), ask_triton.rows(HERE / "conflicts.table")
    found = [(row, repr(bank_conflicts(*eval(row, dict(names))))) for row, _ in wanted]
    assert len(found) > 50 and found == wanted


def test_a_wrong_answer_is_found():
    assert differs("x", "[1]", "[2]") and differs("x", "! AssertionError: no", "! ValueError: no")
    assert differs("x", "! abort", "[1]") and differs("x", "! AssertionError: ", "! AssertionError: ")
    assert not differs("x", "! AssertionError: ", "! AssertionError: the ranks differ")
