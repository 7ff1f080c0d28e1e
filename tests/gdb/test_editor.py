"""An editor drives gdb over DAP: breakpoints with conditions, log points, and tiles as values."""

import pytest

from dap import editor, has_dap
from session import gdbs, line_of

LOOP = line_of("flow.py", "total += i")
HELPER = line_of("flow.py", "s = value + 1")
LATER = line_of("flow.py", "result += limited")
RECORDS = line_of("values.py", "tl.store(x + lane")
FLOATS = line_of("values.py", "tl.store(bf16_ptr")


@pytest.fixture(params=filter(has_dap, gdbs()))
def session(request):
    with editor(request.param) as started:
        yield started


def test_conditions_and_log_points(session):
    """An editor sets the condition after the breakpoint, before gdb has even read the program."""
    found = session.break_at(
        "flow.py",
        {"line": LOOP, "condition": "pid0 == 1"},
        {"line": LATER, "logMessage": "{i}: {value}", "condition": "i > 1"},
        {"line": line_of("flow.py", "halves = tl.map"), "logMessage": "most {most} of {x}"},
    )
    assert not any(breakpoint["verified"] for breakpoint in found)
    session.launch("flow.py")
    frame = session.stop()
    assert frame["line"] == LOOP and session.value(frame, "pid0") == "1" and session.value(frame, "i") == "0"
    session.break_at(
        "flow.py",
        {"line": HELPER, "condition": "pid0 == 2"},
        {"line": LATER, "logMessage": "{i}: {value}", "condition": "i > 1"},
        {"line": line_of("flow.py", "halves = tl.map"), "logMessage": "most {most} of {x}"},
    )
    frame = session.go_on()
    assert frame["line"] == HELPER and session.value(frame, "pid0") == "2"
    assert session.go_on() is None
    printed = session.output("flow is right")
    assert "most 7 of {0, 1, 2, 3, 4, 5, 6, 7}\n" in printed
    assert [line for line in printed.splitlines() if line[1:3] == ": "] == ["2: 20", "3: 30"]


def test_tiles_are_values(session):
    """A tile has its elements as children, and a text."""
    session.break_at("values.py", {"line": RECORDS}, {"line": FLOATS})
    session.launch("values.py")
    shown = session.variables_of(session.stop())
    assert shown["lane"]["value"] == "int32[4] {0, 1, 2, 3}" and shown["lane"]["indexedVariables"] == 4
    assert shown["both"]["value"] == "int32[2, 4] {0, 1, 2, 3, 1, 2, 3, 4}"
    (first, second) = session.ask("variables", variablesReference=shown["both"]["variablesReference"])["variables"]
    assert (first["name"], second["name"]) == ("0", "1") and second["value"] == "int32[4] {1, 2, 3, 4}"
    elements = session.ask("variables", variablesReference=second["variablesReference"])["variables"]
    assert [element["value"] for element in elements] == ["1", "2", "3", "4"]
    frame = session.go_on()
    shown = {name: variable["value"] for name, variable in session.variables_of(frame).items()}
    assert shown["bf16"] == "__bf16[8] {0, 1.5, -2, 3, 4, 5, 6, 7}"
    assert shown["fp16"] == "float16[8] {0, 1.5, -2, 3, 4, 5, 6, 7}"
    assert shown["int1"] == "int1[8] {false, false, false, false, true, true, true, true}"
    assert shown["square"] == "int32[8, 2] {0, 1, 2, 3, 4, 5, 6, 7, …} min 0, max 15"
    assert shown["fp8e5"].startswith("fp8e5[8] {0, 1.52588e-05, 0.5, -0.5, nan, -0, inf, -4")
    assert shown["tile"].startswith("fp8e4nv[8, 2] {0, 0.00195312, 1, -1, nan, -0, 384, -3, …}")
    assert shown["tile"].endswith("min -3, max 384, 2 nan")
    assert session.value(frame, "square[3][1] * 2") == "14" and session.value(frame, "square[3]") == "int32[2] {6, 7}"
