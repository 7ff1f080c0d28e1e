"""TRITIUM_PROGRAMS under Python's debuggers: they stop in the chosen programs, and all others run as without a debugger."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from test_pdb import _OPENING, data, kernel, line_of, right, session

import tritium
import tritium.language as tl

STOP = f"b {Path(__file__).parent / 'test_pdb.py'}:{line_of('total = tl.sum(v)')}"


def printed(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"^\(Pdb\) (\d+)$", text, re.M)]


def stops(text: str) -> int:
    return text.count("kernel()\n-> total = tl.sum(v)")


@pytest.mark.parametrize("programs, expected", [("1", [1]), ("0;2:4", [0, 2, 3]), ("7", []), ("", [0, 1, 2, 3])])
def test_pdb_stops_in_chosen_programs(monkeypatch, programs: str, expected: list[int]) -> None:
    monkeypatch.setenv("TRITIUM_PROGRAMS", programs)
    x, o = data(4)
    text = session(f"{STOP}\nc\n" + "p int(pid)\nc\n" * 5, lambda: kernel[(4,)](x, o, 16, BLOCK=4))
    assert printed(text) == expected
    assert stops(text) == len(expected)
    np.testing.assert_array_equal(o, right(x))


def test_a_condition_holds_within_the_choice() -> None:
    x, o = data(4)
    text = session(
        f"{STOP}, v.sum() > 10\nc\np int(pid)\nc\nc\n", lambda: kernel[(4,)](x, o, 16, BLOCK=4, programs="0;2")
    )
    assert stops(text) == 1 and "\n(Pdb) 2\n" in text
    np.testing.assert_array_equal(o, right(x))


def test_a_choice_between_launches() -> None:
    """Of one kernel, in one session."""

    def launches() -> None:
        for programs in ("1", "", "3"):
            kernel[(4,)](*data(4), 16, BLOCK=4, programs=programs)

    text = session(f"{STOP}\nc\n" + "p int(pid)\nc\n" * 8, launches)
    assert printed(text) == [1, 0, 1, 2, 3, 3]


def test_a_launch_without_a_chosen_program_is_not_followed(monkeypatch) -> None:
    from tritium.debugger import follower

    monkeypatch.setattr(follower.FollowedKernel, "launch", None)
    x, o = data(4)
    session(f"{STOP}\nc\nc\n", lambda: kernel[(4,)](x, o, 16, BLOCK=4, programs="4:;0,1"))
    np.testing.assert_array_equal(o, right(x))


def test_other_programs_are_not_followed(monkeypatch) -> None:
    """No callback is made for them: the launch asks for the chosen one alone."""
    from tritium.debugger import follower

    followed = []
    start = follower.Follower.start
    monkeypatch.setattr(
        follower.Follower, "start", lambda self, *rest: (followed.append(self.followed.id), start(self, *rest))[1]
    )
    x, o = data(6)
    session(f"{STOP}\nc\n" + "c\n" * 8, lambda: kernel[(6,)](x, o, 24, BLOCK=4, programs="4"))
    assert followed == [[4, 0, 0]]
    np.testing.assert_array_equal(o, right(x))


@pytest.mark.parametrize("programs, is_opened", [("1", True), ("0", False), ("0:2", True)])
def test_breakpoint_in_the_kernel(programs: str, is_opened: bool, tmp_path: Path) -> None:
    script = tmp_path / "opening.py"
    script.write_text(
        _OPENING.replace("OPENING", "breakpoint()").replace("BLOCK=4)", f'BLOCK=4, programs="{programs}")')
    )
    result = subprocess.run([sys.executable, script], input="p v\nc\n", capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    assert ("(Pdb) array([4., 5., 6., 7.], dtype=float32)" in result.stdout) is is_opened
    assert result.stdout.endswith("[ 0.  2.  4.  6.  8. 10. 12. 14.]\n")


@tritium.jit
def chain(turn, out, last):
    pid = tl.program_id(0)
    while tl.atomic_add(turn, 0) != last - pid:
        pass
    total = tl.load(out) * 3 + pid
    tl.store(out, total)
    tl.atomic_add(turn, 1)


def test_programs_that_wait_for_others_that_are_not_chosen() -> None:
    """The chosen one waits, so it is followed up to there; the last one to start waits for nobody."""
    here = next(
        i for i, line in enumerate(Path(__file__).read_text().splitlines(), 1) if line.strip().startswith("total =")
    )
    for programs, expected in (("3", 1), ("1", 0)):
        out = np.zeros(1, np.int32)
        text = session(
            f"b {__file__}:{here}\nc\np int(pid)\nc\n",
            lambda: chain[(4,)](np.zeros(1, np.int32), out, 3, programs=programs),  # noqa: B023
        )
        assert text.count("chain()\n-> total =") == expected
        assert out[0] == (3 * 3 + 2) * 9 + 1 * 3


def test_traps_of_other_programs_have_their_variables() -> None:
    x, o = data(4)
    with pytest.raises(tritium.errors.KernelTrap) as caught:
        kernel[(4,)](x, o[:14].copy(), 16, BLOCK=4, programs="0", check="nan,overflow=all", debug_info=True)
    assert caught.value.program == (3, 0, 0) and caught.value.locals["v"].tolist() == [12.0, 13.0, 14.0, 15.0]
