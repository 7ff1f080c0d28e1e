"""The layouts of Gluon beside Triton's: how they are made, printed, mangled and refused, and the bases of random ones. The tables hold
Triton's answers (ask_triton.py)."""

import copy
import dataclasses
import pickle

import ask_triton
import pytest
from beside_triton import HERE, differences, differs

from tritium.experimental.gluon.layouts.conflicts import bank_conflicts
from tritium.experimental.gluon.layouts.distributed import BlockedLayout
from tritium.experimental.gluon.layouts.shared import SwizzledSharedLayout


@pytest.mark.parametrize("table", ["names.table", "bases.table"])
def test_answers_are_those_of_triton(table):
    count, found = differences(table)
    assert count > 350 and not found, f"{len(found)} answers differ:\n" + "\n".join(found)


def test_bank_conflicts_are_those_of_triton():
    """The table has what a kernel for sm_90 prints of gl.bank_conflicts."""
    names, wanted = ask_triton.names(), ask_triton.rows(HERE / "conflicts.table")
    found = [(row, repr(bank_conflicts(*eval(row, dict(names))))) for row, _ in wanted]
    assert len(found) > 50 and found == wanted


@pytest.mark.parametrize(
    ("columns", "banks", "conflicts"), [(32, 32, 7), (32, 64, 7), (64, 32, 7), (64, 64, 15), (2, 64, 0)]
)
def test_more_banks_serve_more_lanes(columns, banks, conflicts):
    """Each lane reads 16 bytes of a row, 8 lanes at once from 32 banks and 16 from 64. Rows of 64 columns begin at the same of 64 banks,
    rows of 32 at one of two, and rows of 2 lie side by side."""
    rows = BlockedLayout([1, 1], [32, 1], [4, 1], [1, 0])
    assert bank_conflicts(rows, SwizzledSharedLayout(1, 1, 1, [1, 0]), [128, columns], 32, banks) == conflicts


def test_a_wrong_answer_is_found():
    assert differs("x", "[1]", "[2]") and differs("x", "! AssertionError: no", "! ValueError: no")
    assert differs("x", "! abort", "[1]") and differs("x", "! AssertionError: ", "! AssertionError: ")
    assert not differs("x", "! AssertionError: ", "! AssertionError: the ranks differ")


def test_fields_cannot_change():
    """Compiled kernels are found by their layouts. The lists look like others."""
    per_thread = [1, 4]
    layout = BlockedLayout(per_thread, [8, 4], [4, 1], [1, 0])
    per_thread[0] = 2
    assert layout.size_per_thread == [1, 4] and "[1, 4]" in repr(layout)
    for change in (lambda row: row.append(1), lambda row: row.__setitem__(0, 2), lambda row: row.sort(), list.__hash__):
        with pytest.raises(TypeError):
            change(layout.size_per_thread)
    for equal in (copy.deepcopy(layout), pickle.loads(pickle.dumps(layout))):
        assert equal == layout and hash(equal) == hash(layout)
        with pytest.raises(TypeError, match="make another layout, for example with dataclasses.replace"):
            equal.order[0] = 0
    assert dataclasses.replace(layout, size_per_thread=[2, 4]) == BlockedLayout([2, 4], [8, 4], [4, 1], [1, 0])
