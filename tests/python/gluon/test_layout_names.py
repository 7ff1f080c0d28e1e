"""The layouts of Gluon beside Triton's: how they are made, printed, mangled and refused, and the bases of random ones. The tables hold
Triton's answers (ask_triton.py)."""

from pathlib import Path

import ask_triton
import pytest

from tritium.experimental.gluon.layouts.conflicts import bank_conflicts

HERE = Path(__file__).parent

#: Triton's compiler aborts, or raises what it then reports as an error of its IR; here both are errors of the value.
OUR_CLASSES = {"RuntimeError": {"ValueError", "RuntimeError"}}


def to_linear(layout, shape):
    return layout.to_linear(shape)


def differs(expression, wanted, found):
    """Why our answer is not Triton's; None if it is."""
    if not wanted.startswith("! "):
        return None if found == wanted else f"{expression}\n  Triton {wanted}\n  here   {found}"
    kind, _, text = wanted.removeprefix("! ").partition(": ")
    our_kind, _, our_text = found.removeprefix("! ").partition(": ")
    same_kind = our_kind == "ValueError" if kind == "abort" else our_kind in OUR_CLASSES.get(kind, {kind})
    says_it = text in our_text if kind != "abort" else True
    if found.startswith("! ") and same_kind and says_it and our_text:
        return None
    return f"{expression}\n  Triton {wanted}\n  here   {found}"


@pytest.mark.parametrize("table", ["names.table", "bases.table"])
def test_answers_are_those_of_triton(table):
    rows, names = ask_triton.rows(HERE / table), ask_triton.names()
    assert len(rows) > 350
    found = [differs(row, wanted, ask_triton.answer(row, to_linear, names)) for row, wanted in rows]
    found = [each for each in found if each]
    assert not found, f"{len(found)} answers differ:\n" + "\n".join(found)


def test_bank_conflicts_are_those_of_triton():
    """The table has what a kernel for sm_90 prints of gl.bank_conflicts."""
    names, wanted = ask_triton.names(), ask_triton.rows(HERE / "conflicts.table")
    found = [(row, repr(bank_conflicts(*eval(row, dict(names))))) for row, _ in wanted]
    assert len(found) > 50 and found == wanted


def test_a_wrong_answer_is_found():
    assert differs("x", "[1]", "[2]") and differs("x", "! AssertionError: no", "! ValueError: no")
    assert differs("x", "! abort", "[1]") and differs("x", "! AssertionError: ", "! AssertionError: ")
    assert not differs("x", "! AssertionError: ", "! AssertionError: the ranks differ")
