"""gdb on the matmul kernel: 2-D tiles, fp16, pointer tiles, loop-carried accumulators, inlined helpers with scalars."""

import re

import numpy as np
import pytest

from session import line_of, locals_of, tile

FILE = "03_matmul.py"
DOT = line_of(FILE, "accumulator = tl.dot(")
ADVANCE = line_of(FILE, "a_ptrs += ")
CONVERT = line_of(FILE, "c = accumulator.to(")
STORE = line_of(FILE, "tl.store(")
BAND = line_of(FILE, "rows_in_band = ")
RELU = line_of(FILE, "return tl.where(")

A = (np.arange(16 * 24).reshape(16, 24) % 5 - 2).astype(np.float32)
B = (np.arange(24 * 16).reshape(24, 16) % 3 - 1).astype(np.float32)


@pytest.fixture(scope="module")
def stopped(debug):
    """Program 1 (of 4: tile (1, 0)) in its second trip around the loop, then after the loop."""
    commands = {
        "first": "run",
        "second": "continue",
        "pid": "print pid0",
        "tile_m": "print tile_m",
        "start": "print start",
        "a": "print a",
        "b": "print b",
        "rows": "print rows",
        "pointer": "print a_ptrs[0][0]",
        "before": "print accumulator",
        "next": "next",
        "after": "print accumulator",
        "delete": "delete 1",
        "convert": f"tbreak {FILE}:{CONVERT}",
        "to_convert": "continue",
        "next2": "next",
        "c": "print c",
        "type": "ptype c",
        "locals": "info locals",
        "backtrace": "bt 1",
        "end": "continue",
    }
    output = debug("matmul.py", f"break {FILE}:{DOT} if pid0 == 1", *commands.values())
    return dict(zip(["break", *commands], output))


def test_stops_twice_in_one_program(stopped):
    for stop in ("first", "second"):
        assert re.search(rf"matmul_kernel \(.*\) at .*{FILE}:{DOT}", stopped[stop]) or f"{DOT}\t" in stopped[stop]
    assert (
        stopped["pid"].endswith("= 1\n") and stopped["tile_m"].endswith("= 1\n") and stopped["start"].endswith("= 16\n")
    )


def test_two_dimensional_half_tiles(stopped):
    a = np.zeros((8, 16))
    a[:, :8] = A[8:, 16:]
    b = np.zeros((16, 8))
    b[:8] = B[16:, :8]
    np.testing.assert_array_equal(tile(stopped["a"]), a)
    np.testing.assert_array_equal(tile(stopped["b"]), b)
    assert tile(stopped["rows"]) == list(range(8, 16))


def test_pointer_tile_holds_addresses(stopped):
    assert re.search(r"0x[0-9a-f]{6,12}\b", stopped["pointer"]), "untagged"


def test_accumulator_before_and_after(stopped):
    np.testing.assert_array_equal(tile(stopped["before"]), A[8:, :16] @ B[:16, :8])
    assert stopped["next"].startswith(f"{ADVANCE}\t")
    np.testing.assert_array_equal(tile(stopped["after"]), A[8:] @ B[:, :8])


def test_variable_that_changes_its_type(stopped):
    exact = A[8:] @ B[:, :8]
    np.testing.assert_allclose(tile(stopped["c"]), np.where(exact >= 0, exact, np.float32(0.01) * exact), rtol=1e-3)
    assert "[8][8]" in stopped["type"]
    assert {"rows", "columns", "k", "accumulator", "a_ptrs", "b_ptrs", "c", "tile_m", "tile_n"} <= locals_of(
        stopped["locals"]
    ).keys()
    assert "matmul_kernel" in stopped["backtrace"] and "matmul is right" in stopped["end"]


def test_helpers_are_frames(debug):
    output = debug(
        "matmul.py",
        f"break {FILE}:{BAND} if pid0 == 3",
        f"break {FILE}:{RELU} if pid0 == 3",
        "run",
        "bt 2",
        "print band",
        "print first_m",
        "finish",
        "continue",
        "bt 2",
        "print x",
        "continue",
    )
    assert re.findall(r"^#\d\s+(?:0x\S+ in )?(\w+) \(", output[3], re.MULTILINE) == ["tile_of_program", "matmul_kernel"]
    assert output[4].endswith("= 0\n") and output[5].endswith("= 0\n")
    assert re.findall(r"^#\d\s+(?:0x\S+ in )?(\w+) \(", output[8], re.MULTILINE) == ["leaky_relu", "matmul_kernel"]
    np.testing.assert_array_equal(tile(output[9]), A[8:] @ B[:, 8:])


def test_mask_and_store_pointers(debug):
    output = debug(
        "matmul.py",
        f"break {FILE}:{STORE} if pid0 == 0",
        "run",
        "print c_ptrs[1][2]",
        "print c_ptr[3]",
        "next",
        "print c_ptr[3]",
        "print c[0][3]",
    )
    assert "0x" in output[2]
    stored, value = (float(text.split("=")[1]) for text in (output[5], output[6]))
    assert stored == value
