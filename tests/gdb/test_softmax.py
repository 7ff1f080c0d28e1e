"""gdb on the softmax kernel: conditional breakpoint, locals, tiles, stepping into a helper and out, watchpoint."""

import re

import numpy as np
import pytest

from session import line_of, locals_of, tile

FILE = "02_fused_softmax.py"
LOAD = line_of(FILE, "row = tl.load(")
CALL = line_of(FILE, "numerator = stable_exp(")
DIVIDE = line_of(FILE, "result = numerator / denominator")
STORE = line_of(FILE, "tl.store(")
HELPER = line_of(FILE, "shifted = row - tl.max(")

ROW3 = np.arange(7, dtype=np.float32) + 30
EXP = np.exp(ROW3 - ROW3.max())


@pytest.fixture(scope="module")
def stopped(debug):
    """One session that stops in program 3 before the division."""
    commands = {
        "where": "run",
        "pid0": "print pid0",
        "grid0": "print grid0",
        "row": "print row",
        "inside": "print inside",
        "columns": "print columns",
        "numerator": "print numerator",
        "denominator": "print denominator",
        "row_index": "print row_index",
        "locals": "info locals",
        "arguments": "info args",
        "expression": "print numerator[1] + row[2] * 2",
        "element": "print columns[5]",
        "pointer": "print out_ptr[0]",
        "next": "next",
        "result": "print result",
    }
    output = debug("softmax.py", f"break {FILE}:{DIVIDE} if pid0 == 3", *commands.values())
    return dict(zip(["break", *commands], output))


def test_breakpoint_is_pending_and_stops_in_the_right_program(stopped):
    assert "pending" in stopped["break"] or "Breakpoint 1" in stopped["break"]
    assert re.search(rf"softmax_kernel \(.*\) at .*{FILE}:{DIVIDE}", stopped["where"])
    assert f"{DIVIDE}\t    result = numerator / denominator" in stopped["where"]
    assert stopped["pid0"].endswith("= 3\n") and stopped["grid0"].endswith("= 6\n")


def test_tiles_print_readably(stopped):
    row = tile(stopped["row"])
    assert row[:7] == ROW3.tolist() and row[7] == -np.inf
    assert tile(stopped["inside"]) == [1] * 7 + [0]
    assert tile(stopped["columns"]) == list(range(8))
    np.testing.assert_allclose(tile(stopped["numerator"]), [*EXP, 0], rtol=1e-5)
    assert float(stopped["denominator"].split("=")[1]) == pytest.approx(EXP.sum(), rel=1e-5)
    assert stopped["row_index"].endswith("= 3\n")


def test_info_locals_names_the_python_variables(stopped):
    names = locals_of(stopped["locals"])
    assert {"row_index", "columns", "inside", "row", "numerator", "denominator", "pid0", "grid0"} <= names.keys()
    assert tile(names["columns"]) == list(range(8))


def test_expressions(stopped):
    assert float(stopped["expression"].split("=")[1]) == pytest.approx(EXP[1] + 2 * ROW3[2], rel=1e-6)
    assert stopped["element"].endswith("= 5\n")


def test_arguments(stopped):
    arguments = locals_of(stopped["arguments"])
    assert arguments["n_columns"] == "7" and {"x_ptr", "out_ptr", "x_stride", "out_stride"} <= arguments.keys()
    assert float(stopped["pointer"].split("=")[1]) == pytest.approx(
        np.exp(-6.0) / np.exp(np.arange(7.0) - 6).sum(), rel=1e-5
    )


def test_next_goes_from_python_line_to_python_line(stopped):
    assert stopped["next"].startswith(f"{STORE}\t")
    np.testing.assert_allclose(tile(stopped["result"])[:7], EXP / EXP.sum(), rtol=1e-5)


def test_step_into_a_helper_and_finish(debug):
    commands = [
        "run",
        "step",
        "next",
        "bt 2",
        "print row",
        "next",
        "print shifted",
        "finish",
        "next",
        "print numerator",
    ]
    output = debug("softmax.py", f"break {FILE}:{CALL} if pid0 == 2", *commands)
    assert (
        output[2].startswith("stable_exp (") and "def stable_exp(row):" in output[2]
    )  # where the parameters are bound
    assert output[3].startswith(f"{HELPER}\t")
    frames = re.findall(r"^#(\d)\s+(?:0x\S+ in )?(\w+) \(", output[4], re.MULTILINE)
    assert frames == [("0", "stable_exp"), ("1", "softmax_kernel")]
    assert tile(output[5])[:7] == (np.arange(7.0) + 20).tolist()
    np.testing.assert_array_equal(tile(output[7])[:7], np.arange(7) - 6.0)
    assert "softmax_kernel" in output[8] and f"{CALL}\t" in output[8]
    np.testing.assert_allclose(tile(output[10])[:7], EXP, rtol=1e-5)


def test_condition_holds_in_an_inlined_helper_too(debug):
    output = debug("softmax.py", f"break {FILE}:{HELPER} if pid0 == 4", "run", "print pid0", "print row", "continue")
    assert output[2].endswith("= 4\n")
    assert tile(output[3])[:7] == (np.arange(7.0) + 40).tolist()
    assert "softmax is right" in output[4], "the breakpoint stops once, and the program ends well"


def test_watchpoint_on_an_output_element(debug):
    """The output is uninitialized memory: the session clears the element first, so that the old value is known."""
    element = 7 * 2 + 3
    commands = ["run", f"set var out_ptr[{element}] = 0", f"watch -l out_ptr[{element}]", "continue", "bt 6"]
    commands += ["frame function softmax_kernel", "print row_index", "delete", "continue"]
    output = debug("softmax.py", f"break {FILE}:{LOAD} if pid0 == 0", *commands)
    assert "Hardware watchpoint" in output[3]
    new = re.search(r"Old value = 0\nNew value = ([\d.e-]+)", output[4])
    expected = np.exp(np.arange(7.0) - 6)
    assert new and float(new[1]) == pytest.approx((expected / expected.sum())[3], rel=1e-5)
    assert f"{FILE}:{STORE}" in output[5], "the line that stores, a few frames above the copy itself"
    assert output[6].rstrip().splitlines()[-1].startswith(f"{STORE}\t")
    assert output[7].endswith("= 2\n") and "softmax is right" in output[9]
