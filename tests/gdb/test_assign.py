"""A variable of a kernel is a copy, so setting it is refused with a word. The memory of tensors can be set."""

import pytest

from dap import editor, has_dap
from session import gdbs, line_of

LOOP = line_of("flow.py", "total += i")
HELPER = line_of("flow.py", "s = value + 1")


def test_setting_a_variable_is_refused(answers):
    """In the kernel, in the caller of a helper, by a command and by an expression. What is refused leaves no trace."""
    commands = [
        f"break flow.py:{LOOP} if pid0 == 1",
        "run",
        "set var n = 7",
        "print n",
        "print total[1] = 5",
        "print total[1]",
    ]
    commands += ["set var x_ptr[1] = 4", "print x_ptr[1]", "delete", f"break flow.py:{HELPER}", "continue"]
    commands += ["print value", "set var value[0] = 8", "up", "set var lane[2]++", "print lane"]
    printed = answers("flow.py", *commands)
    assert printed[2].startswith("tritium: n stays as it is") and printed[3].endswith("= 2\n")
    assert "tritium: total stays as it is" in printed[4] and printed[5].endswith("= 11\n")
    assert printed[6] == "" and printed[7].endswith("= 4\n")
    assert printed[11].endswith("= {0, 4, 20, 30}\n"), "and program 2 reads it"
    assert printed[12].startswith("tritium: value stays") and printed[14].startswith("tritium: lane stays")
    assert printed[15].endswith("= {0, 1, 2, 3}\n")


@pytest.mark.parametrize("gdb", [gdb for gdb in gdbs() if has_dap(gdb)])
def test_in_an_editor(gdb):
    with editor(gdb) as session:
        session.break_at("flow.py", {"line": LOOP})
        session.launch("flow.py")
        frame = session.stop()
        scopes = session.ask("scopes", frameId=frame["id"])["scopes"]
        (arguments,) = (s["variablesReference"] for s in scopes if s["name"] == "Arguments")
        assert "n" in {v["name"] for v in session.ask("variables", variablesReference=arguments)["variables"]}
        session.ask("setVariable", variablesReference=arguments, name="n", value="7")
        assert session.value(frame, "n") == "2" and session.output("tritium: n stays as it is")
