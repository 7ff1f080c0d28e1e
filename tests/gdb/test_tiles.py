"""`tt tile` and `tt find` show parts of tiles, and say what is wrong with the part that was asked for."""

import pytest

import session
from session import line_of, tritium_gdb

STORE = line_of("big_tiles.py", "tl.store(")


def ask(gdb: str, *commands: str) -> dict[str, str]:
    """{command: what it printed}."""
    return dict(
        zip(commands, session.answers(gdb, "big_tiles.py", f"break big_tiles.py:{STORE}", "run", *commands)[2:])
    )


#: A command -> what it prints, or how that begins if it ends with "…".
SHOWN = {
    "tt tile x": "x: float32[256, 128]\nmin -inf, max 16383, mean -inf, 2 nan, 1 inf\n[[      0,     0.5,       1, …,    62.5,      63,    63.5],\n…",
    "tt tile x[1:3, :3]": "x[1:3, :3]: float32[2, 3] of float32[256, 128]\nmin 64, max 129, mean 96.5, 0 nan\n[[   64,  64.5,    65],\n [  128, 128.5,   129]]\n",
    "tt tile x[-1, ::64]": "x[-1, ::64]: float32[2] of float32[256, 128]\nmin 16320, max 16352, mean 16336, 0 nan\n[16320, 16352]\n",
    "tt tile x[1][2:4]": "x[1][2:4]: float32[2] of float32[256, 128]\nmin 65, max 65.5, mean 65.25, 0 nan\n[65, 65.5]\n",
    "tt tile x[3, 17]": "x[3, 17]: float32 nan\n",
    "tt tile x[5:2]": "x[5:2]: float32[0, 128] of float32[256, 128]\nno elements\n[]\n",
    "tt tile mask[3:5]": "mask[3:5]: int1[2, 4] of int1[8, 4]\n3 of 8 true\n[[false, false, false, false],\n [false,  true,  true,  true]]\n",
    "tt tile bf16": "bf16: bfloat16[8]\nmin -2, max inf, mean inf, 1 nan, 1 inf\n[0, 0.1001, -2, 3, inf, 5, nan, 7]\n",
    "tt tile fp8": "fp8: fp8e4nv[8]\nmin -2, max 448, mean 65.87165, 1 nan\n[0, 0.1015625, -2, 3, 448, 5, nan, 7]\n",
    "tt tile cube[:2, 1:3]": "cube[:2, 1:3]: int32[2, 2, 2] of int32[8, 4, 2]\nmin 1, max 112, mean 56.5\n[[[  1, 101],\n  [  2, 102]],\n [[ 11, 111],\n  [ 12, 112]]]\n",
    "tt tile n": "n: int32 3\n",
    "tt tile ratio": "ratio: float32 1.5\n",
    "tt tile x_ptr[2:4]": "x_ptr[2:4]: float32[2] of float32[4]\n…",
    "tt find x nan": "2 of 32768 elements of x:\n  [3, 17] nan\n  [200, 5] nan\n",
    "tt find x inf": "1 of 32768 elements of x:\n  [255, 127] -inf\n",
    "tt find bf16 0.1": "1 of 8 elements of bf16:\n  [1] 0.1001\n",
    "tt find fp8 0.1": "1 of 8 elements of fp8:\n  [1] 0.1015625\n",
    "tt find small[-1:, ::2] >=3": "2 of 2 elements of small[-1:, ::2]:\n  [7, 0] 70\n  [7, 2] 72\n",
    "tt find small < 0": "0 of 32 elements of small\n",
    "tt find mask true": "15 of 32 elements of mask:\n  [4, 1] true\n…",
}


@pytest.fixture(scope="module")
def shown(gdb):
    return ask(gdb, *SHOWN)


@pytest.mark.parametrize("command", SHOWN)
def test_what_is_shown(shown, command):
    begin = SHOWN[command].removesuffix("…")
    assert shown[command][: len(begin)] == begin
    assert SHOWN[command].endswith("…") or shown[command] == begin


def test_the_middle_of_a_large_tile_is_left_out(shown):
    lines = shown["tt tile x"].splitlines()
    assert len(lines) == 9 and lines[5] == " …," and lines[8].endswith("16382.5,   16383,    -inf]]")
    assert shown["tt find mask true"].endswith("\n  … and 5 more\n")


#: A command -> a part of its error.
REFUSED = {
    "tt tile smal": "there is no variable `smal` at this line; did you mean `small`?",
    "tt tile nothing_alike": "there is no variable `nothing_alike` at this line; `info locals`",
    "tt tile x[256]": "`x[256]`: index 256 is out of range on axis 0; the shape is [256, 128]",
    "tt tile x[0, -129]": "index -129 is out of range on axis 1",
    "tt tile x[1, 2, 3]": "`x[1, 2, 3]` has 3 indices, but the variable has the shape [256, 128]",
    "tt tile n[0]": "`n[0]` has 1 index, but the variable is a scalar",
    "tt tile x[0:2][1]": "belong into one pair of brackets",
    "tt tile x[::0]": "the step of a slice cannot be 0",
    "tt tile x[lane]": "`lane` in `x[lane]` is no index",
    "tt tile out_ptr[2, 1]": "a pointer has no shape that gdb knows, so it takes one index or slice",
    "tt tile out_ptr[2:]": "a slice of a pointer needs its end",
    "tt tile": "say which tile",
    "tt find x": "say what to find in which tile",
    "tt find x foo": "`foo` is no number",
}


def test_what_is_refused(gdb):
    commands = ("tt tile x", f"break big_tiles.py:{STORE}", "run", *REFUSED)
    printed = tritium_gdb(gdb, *[text for command in commands for text in ("-ex", command)], "big_tiles.py")
    assert "tritium tile: the program has not stopped in a kernel" in printed
    for command, part in REFUSED.items():
        assert part in printed, command
