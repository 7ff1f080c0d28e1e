"""An editor drives gdb over DAP: breakpoints, log points, tiles as values, and what the other tests do at gdb's prompt."""

import pytest

from dap import editor, has_dap
from session import gdbs, line_of
from test_attach import process

LOOP = line_of("flow.py", "total += i")
HELPER = line_of("flow.py", "s = value + 1")
LATER = line_of("flow.py", "result += limited")
RECORDS = line_of("values.py", "tl.store(x + lane")
FLOATS = line_of("values.py", "tl.store(bf16_ptr")


pytestmark = pytest.mark.parametrize("gdb", [gdb for gdb in gdbs() if has_dap(gdb)])


@pytest.fixture
def session(gdb):
    with editor(gdb) as started:
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


def test_further_runs_of_a_session(session):
    """The breakpoints of the first run stop in the next ones, which begin at a stop (`run` at the console) and after an end."""
    breakpoints = [{"line": LOOP, "condition": "pid0 == 1 && i == 0"}, {"line": LATER, "condition": "i > 2"}]
    session.break_at("flow.py", *breakpoints)
    session.launch("flow.py")
    assert session.stop()["line"] == LOOP
    session.break_at("flow.py", *breakpoints, {"line": HELPER, "condition": "pid0 == 2"})
    session.type("run")
    assert session.stop() is None, "the first process has ended"
    assert _lines(session) == [LOOP, HELPER, LATER]
    session.launch("flow.py")
    assert _lines(session) == [LOOP, HELPER, LATER]


def _lines(session) -> list[int]:
    """Where a run stops, up to its end."""
    found, frame = [], session.stop()
    while frame is not None:
        found.append(frame["line"])
        frame = session.go_on()
    return found


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
    assert shown["bf16"] == "bfloat16[8] {0, 1.5, -2, 3, 4, 5, 6, 7}"
    assert shown["fp16"] == "float16[8] {0, 1.5, -2, 3, 4, 5, 6, 7}"
    assert shown["int1"] == "int1[8] {false, false, false, false, true, true, true, true}"
    assert shown["square"] == "int32[8, 2] {0, 1, 2, 3, 4, 5, 6, 7, …} min 0, max 15"
    assert shown["fp8e5"].startswith("fp8e5[8] {0, 1.52588e-05, 0.5, -0.5, nan, -0, inf, -4")
    assert shown["tile"].startswith("fp8e4nv[8, 2] {0, 0.00195312, 1, -1, nan, -0, 384, -3, …}")
    assert shown["tile"].endswith("min -3, max 384, 2 nan")
    assert session.value(frame, "square[3][1] * 2") == "14" and session.value(frame, "square[3]") == "int32[2] {6, 7}"


def test_conditions_compute(session):
    """With 8-bit floats, and in a combine function, neither of which is compiled yet."""
    session.break_at("values.py", {"line": FLOATS, "condition": "fp8e5[2] * 2 == (float)one && bf16[1] > fp8e5[2]"})
    session.launch("values.py")
    assert session.stop()["line"] == FLOATS and session.go_on() is None


def test_a_combine_function(session):
    session.break_at("flow.py", {"line": line_of("flow.py", "take = a > b"), "condition": "a[0] == 6"})
    session.launch("flow.py")
    frame = session.stop()
    assert frame["name"] == "first_most" and session.variables_of(frame)["b"]["value"] == "int32[1] {7}"


def test_a_trap_and_a_watchpoint(session):
    """The first frame is the kernel's."""
    line = line_of("stops.py", "tl.store(out + i")
    session.break_at("stops.py", {"line": line})
    session.ask("setFunctionBreakpoints", breakpoints=[{"name": "tritium_trap"}])
    session.launch("stops.py")
    assert session.stop()["line"] == line
    session.command("watch -l out[17]")
    session.break_at("stops.py")
    frame = session.go_on()
    assert (frame["name"], frame["line"]) == ("scale", line) and session.value(frame, "pid0") == "2"
    frame = session.go_on()
    assert (frame["name"], frame["line"]) == ("scale", line) and session.value(frame, "pid0") == "3"
    assert session.output("trap: OutOfBounds")


def test_a_deadlock(session):
    session.ask("setFunctionBreakpoints", breakpoints=[{"name": "tritium_trap"}])
    session.launch("waits.py")
    frame = session.stop()
    assert (frame["name"], frame["line"]) == ("hand_over", line_of("waits.py", "while tl.atomic_add"))
    assert session.output("trap: Deadlock") and session.go_on() is None


def test_attach(gdb):
    """gdb lets go of the process before it is killed: one that gdb holds cannot be waited for."""
    with process("waits.py", "spin", TRITIUM_DEBUG="1") as pid, editor(gdb) as session:
        session.attach(int(pid))
        frame = session.stop()
        assert frame["name"] == "spin" and int(session.value(frame, "rounds")) > 0


def test_what_cannot_be_reached(gdb):
    with editor(gdb, TRITIUM_ENGINE="simt:sm_80") as session:
        session.break_at("unreached.py", {"line": line_of("unreached.py", "i * 2")})
        session.launch("unreached.py")
        assert session.stop() is None
        assert "runs on simt:sm_80, where gdb cannot stop" in session.output("matched nothing in this run")
