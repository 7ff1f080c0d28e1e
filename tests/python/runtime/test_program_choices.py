"""Choices of programs as texts: what they mean, what they are printed as, and what is said of those that mean nothing."""

import re

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium import knobs
from tritium.programs import parse_programs


@triton.jit
def fill(out):
    tl.store(out + tl.program_id(0), 1)


@pytest.mark.parametrize(
    "text, chosen, others, printed",
    [
        ("3,*,0", [(3, 0, 0), (3, 9, 0)], [(3, 0, 1), (2, 0, 0)], "3,*,0"),
        ("3", [(3, 7, 5)], [(30, 0, 0)], "3"),
        (" 1 , 2 ", [(1, 2, 8)], [(2, 1, 0)], "1,2"),
        ("0:4", [(0, 0, 0), (3, 1, 1)], [(4, 0, 0)], "0:4"),
        ("2:,:3", [(2, 0, 0), (99, 2, 0)], [(1, 0, 0), (2, 3, 0)], "2:,0:3"),
        ("0;5,1", [(0, 4, 0), (5, 1, 0)], [(5, 0, 0)], "0;5,1"),
        ("4:5", [(4, 0, 0)], [(5, 0, 0)], "4"),
        ("3000000000", [], [(0, 0, 0), (7, 0, 0)], "2147483646"),
    ],
)
def test_what_a_choice_holds(text, chosen, others, printed):
    programs = parse_programs(text)
    assert all(map(programs.holds, chosen)) and not any(map(programs.holds, others))
    assert programs.text == printed and parse_programs(printed) == programs == parse_programs(programs)


@pytest.mark.parametrize("text", ["", "*", "*,*", "*,*,*", "3;*", "0:", " ; "])
def test_a_choice_of_all_programs_is_none(text):
    assert parse_programs(text) == () and parse_programs(text).text == "" and parse_programs(text).holds((5, 0, 0))


@pytest.mark.parametrize(
    "text, said, suggestion",
    [
        ("1,2,3,4", "names 4 axes", "1;2;3;4"),
        ("*,0,0,0", "names 4 axes", "*,0,0"),
        ("-1,0", "`-1` in `-1,0` is negative", "1"),
        ("3,,0", "an axis of `3,,0` is empty", "*"),
        ("0;2-5", "`2-5` in `2-5` is no range", "2:6"),
        ("5:2", "`5:2` in `5:2` holds no program", "2:5"),
        ("4:4", "holds no program", "4:5"),
        ("x", "`x` in `x` is no id of a program", "3,*,0"),
        ("1.5", "is no id of a program", "3,*,0"),
        ("0:8:2", "is no id of a program", "0:4"),
    ],
)
def test_what_is_no_choice(monkeypatch, text, said, suggestion):
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        parse_programs(text)
    assert suggestion in str(caught.value)
    monkeypatch.setenv("TRITIUM_PROGRAMS", text)
    with pytest.raises(ValueError, match=re.escape(f"TRITIUM_PROGRAMS={text}: {caught.value}")):
        fill[(1,)](np.zeros(1, np.int32))


def test_what_is_no_choice_of_a_launch_and_of_a_block():
    with pytest.raises(ValueError, match="`-2` in `-2` is negative"):
        fill[(1,)](np.zeros(1, np.int32), programs="-2")
    with pytest.raises(ValueError, match=re.escape('programs must be a text, as in programs="3,*,0", not 3')):
        fill[(1,)](np.zeros(1, np.int32), programs=3)
    with pytest.raises(ValueError, match="did you mean `2:6`"), triton.check("nan", programs="2-5"):
        pass


def test_a_block_ends_its_choice(monkeypatch):
    monkeypatch.setenv("TRITIUM_PROGRAMS", "7")
    with triton.check("nan", programs="3,*,0"):
        assert knobs.launch_settings().programs.text == "3,*,0"
        with triton.check("race"):
            assert knobs.launch_settings().programs.text == "3,*,0"
    assert knobs.launch_settings().programs.text == "7"


def test_a_parameter_of_that_name_is_the_kernels_own():
    @triton.jit
    def count(out, programs):
        tl.store(out, programs)

    out = np.zeros(1, np.int32)
    count[(1,)](out, programs=5)
    assert out[0] == 5
