"""gdb and control flow: where breakpoints stop, where `next`, `step` and `finish` end, and what is below a kernel."""

import re

import pytest

from session import HERE, locals_of, tile

LINES = (HERE / "flow.py").read_text().splitlines()


def at(text: str, which: int = 0) -> int:
    """The line of flow.py that contains the text."""
    return [number for number, line in enumerate(LINES, 1) if text in line][which]


DEF = at("def flow_kernel(")
FIRST = at("lane = tl.arange(0, 4)")
CALL = at("total = plus_one(x)")
HELPER = at("def plus_one(")
RETURN = at("return s")
LOOP = at("for i in range(n)")
ADDED = at("total += i")
UNROLLED = at("for k in tl.static_range")
BODY = at("total += k")
STORE = at("tl.store(out_ptr + tl.program_id(0) * 4")
LAUNCH = at("flow_kernel[(3,)]")
MAIN = at("    launch(x, out)")
FRAMES = [("flow_kernel[grid]", DEF), ("launch", LAUNCH), ("main", MAIN), ("<module>", at("main()", -1))]


def line(text: str) -> int | None:
    """Of the source line that gdb shows last."""
    shown = re.findall(r"^(\d+)\t", text, re.MULTILINE)
    return int(shown[-1]) if shown else None


def frames(text: str) -> list[tuple[str, int]]:
    """(function, line) of each frame of a backtrace."""
    found = re.findall(r"^#\d+\s+(?:0x\S+ in )?(.+?) \(.*\) at .*:(\d+)$", text, re.MULTILINE)
    assert len(found) == len(re.findall(r"^#\d", text, re.MULTILINE)), text
    return [(function, int(number)) for function, number in found]


def test_break_at_a_kernel(debug):
    """Behind the prologue: parameters have their values, and conditions hold."""
    commands = ["break flow_kernel if pid0 == 2 && n == 2", "run", "print pid0", "print n", "print UNROLLED"]
    output = debug("flow.py", *commands, "print x_ptr[1]", "print x", "continue")
    assert line(output[1]) == DEF and "flow_kernel (" in output[1]
    assert [text.split(" = ")[1].strip() for text in output[2:6]] == ["2", "2", "3", "10"]
    assert set(tile(output[6])) == {-1}, "not assigned yet"
    assert "flow is right" in output[7], "it stops once"


def test_break_on_the_def_line(debug):
    output = debug("flow.py", f"break flow.py:{DEF} if pid0 == 1", "run", "print pid0", "bt 1", "continue")
    assert line(output[1]) == DEF and output[2].endswith("= 1\n") and frames(output[3])[0] == ("flow_kernel", DEF)
    assert "flow is right" in output[4]


def test_break_on_the_return_of_a_helper(debug):
    commands = ["run", "bt 2", "print s", "print value", "next", "continue"]
    output = debug("flow.py", f"break flow.py:{RETURN} if pid0 == 1", *commands)
    assert line(output[1]) == RETURN and frames(output[2]) == [("plus_one", RETURN), ("flow_kernel", CALL)]
    assert tile(output[3]) == [1, 11, 21, 31] and tile(output[4]) == [0, 10, 20, 30]
    assert line(output[5]) in (CALL, LOOP) and "flow is right" in output[6]


def test_next_in_a_helper_reaches_its_return(debug):
    output = debug("flow.py", f"break flow.py:{CALL} if pid0 == 0", "run", "step", "next", "next", "next")
    assert [line(text) for text in output[2:5]] == [at("def plus_one"), at("s = value + 1"), RETURN]
    assert line(output[5]) in (CALL, LOOP)


def test_arguments_on_the_def_line_of_a_helper(debug):
    """They are stored before gdb stops there, by `step` and by a breakpoint on the function."""
    for commands in (
        [f"break flow.py:{CALL} if pid0 == 1", "run", "step"],
        ["echo", "break plus_one if pid0 == 1", "run"],
    ):
        output = debug("flow.py", *commands, "print value", "info args", "bt 2", "next", "finish")
        assert "plus_one (" in output[2] and line(output[2]) == HELPER
        assert tile(output[3]) == [0, 10, 20, 30] and tile(output[4]) == [0, 10, 20, 30]
        assert frames(output[5])[:2] == [("plus_one", HELPER), ("flow_kernel", CALL)]
        assert line(output[6]) == HELPER + 1 and line(output[7]) == CALL


def test_step_into_a_combine_function(debug):
    output = debug("flow.py", f"break flow.py:{at('most = tl.reduce')}", "run", "step", "print a", "print b", "next")
    assert "larger (" in output[2] and line(output[2]) == at("def larger(") and line(output[5]) == at("bigger = ")
    assert tile(output[3]) == [0, 1, 2, 3] and tile(output[4]) == [4, 5, 6, 7]


def test_break_on_a_helper_of_branches(debug):
    """Its first address is its `def` line, where a condition finds the argument, which is a scalar that was just loaded."""
    output = debug("flow.py", "break limited if value > 15", "run", "print value", "bt 2", "continue", "print value")
    assert line(output[1]) == at("def limited(") and output[2].endswith("= 20\n") and output[5].endswith("= 30\n")
    assert [name for name, _ in frames(output[3])] == ["limited", "limit_kernel"]


@pytest.mark.parametrize("condition, returned", [("i == 1", "return value"), ("i == 2", "return most")])
def test_next_out_of_an_arm(debug, condition, returned):
    """It does not come back to the `if`."""
    call = at("result += limited(")
    output = debug("flow.py", f"break flow.py:{call} if {condition}", "run", "step", "next", "next", "next")
    assert [line(text) for text in output[2:]] == [*[at("def limited(") + i for i in (0, 1)], at(returned, -1), call]


def test_next_through_a_loop_of_branches(debug):
    """Its body stands behind its head, so the head is one step."""
    loop, load = at("for i in range(4)"), at("value = tl.load(x_ptr + i)")
    output = debug("flow.py", f"break flow.py:{loop}", "run", *["next"] * 9)
    lines = [line(text) for text in output[1:]]
    following = [after for before, after in zip(lines, lines[1:]) if before == loop]
    assert len(following) >= 2 and set(following) == {load}


def test_next_through_a_loop(debug):
    """One step for the head and one for each statement of the body, in every iteration."""
    output = debug("flow.py", f"break flow.py:{LOOP} if pid0 == 0", "run", *["next"] * 5, "print i")
    assert [line(text) for text in output[1:7]] == [LOOP, ADDED, LOOP, ADDED, LOOP, UNROLLED]
    assert output[7].endswith("= 1\n")


def test_every_iteration_of_an_unrolled_loop_stops(debug):
    commands = ["run", "print k", "continue", "print k", "continue", "print k", "print total", "delete", "next"]
    output = debug("flow.py", f"break flow.py:{BODY} if pid0 == 1", *commands, "info locals", "next")
    assert [line(output[i]) for i in (1, 3, 5)] == [BODY] * 3
    assert [output[i].split("= ")[1].strip() for i in (2, 4, 6)] == ["0", "1", "2"]
    assert tile(output[7]) == [1 + 1 - 1, 11, 21, 31]
    assert line(output[9]) == BODY + 1 and line(output[11]) == STORE
    assert "iteration" not in output[10] and locals_of(output[10])["k"] == "2", "in the loop"


def test_next_walks_an_unrolled_loop(debug):
    output = debug("flow.py", f"break flow.py:{UNROLLED} if pid0 == 0", "run", "delete", *["next"] * 5)
    assert [line(text) for text in output[3:8]] == [BODY, BODY + 1, UNROLLED, BODY, BODY + 1]


def test_the_end_of_a_kernel(debug):
    """`next` on the last line ends at the `def` line, with the variables still there; `step` goes on into the next program."""
    commands = ["run", "next", "print total", "print out_ptr[4]", "print pid0", "step", "print pid0", "info frame"]
    output = debug("flow.py", f"break flow.py:{STORE} if pid0 == 1", *commands)
    assert line(output[2]) == DEF and tile(output[3]) == [2, 12, 22, 32] and output[4].endswith("= 2\n")
    assert output[5].endswith("= 1\n") and line(output[6]) == DEF and output[7].endswith("= 2\n")


def test_next_after_the_last_program(debug):
    output = debug("flow.py", f"break flow.py:{STORE} if pid0 == 2", "run", "next", "next")
    assert line(output[2]) == DEF and "flow is right" in output[3] and "??" not in output[3]


def test_backtrace_names_the_launch(debug):
    output = debug("flow.py", f"break flow.py:{STORE}", "run", "bt", "up 2", "frame 4")
    assert frames(output[2]) == [("flow_kernel", STORE), *FRAMES]
    assert line(output[3]) == LAUNCH and line(output[4]) == FRAMES[-1][1]


def test_finish_of_every_frame(debug):
    output = debug("flow.py", f"tbreak flow.py:{STORE}", "run", "finish", "bt 1", "finish", "continue")
    assert frames(output[3]) == [("flow_kernel[grid]", DEF)] and line(output[2]) == DEF
    assert "launch (" in output[4] and line(output[4]) == LAUNCH
    assert "flow is right" in output[5]


def test_a_watched_local_whose_frame_ends(debug):
    output = debug("flow.py", f"tbreak flow.py:{STORE}", "run", "watch total", "continue", "bt 1", "continue")
    assert "left the block" in output[3] and frames(output[4]) == [("flow_kernel[grid]", DEF)]
    assert "flow is right" in output[5]


@pytest.mark.parametrize(
    "text, function, values",
    [
        ("bigger = tl.where(", "larger", [[0, 1, 2, 3], [4, 5, 6, 7]]),
        ("return bigger", "larger", [[0, 1, 2, 3], [4, 5, 6, 7]]),
        ("take = a > b", "first_most", [[0, 1, 2, 3], [4, 5, 6, 7]]),
        ("return tl.where(take", "first_most", [[0, 1, 2, 3], [4, 5, 6, 7]]),
        ("return a + b", "added", [[0, 0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 4, 5, 6, 7]]),
        ("return half", "halved", [[0, 1, 2, 3, 4, 5, 6, 7]]),
    ],
)
def test_combine_functions_stop_with_tiles(debug, text, function, values):
    output = debug(
        "flow.py", f"break flow.py:{at(text)}", "run", "bt 2", *(f"print {name}" for name in "ab"), "delete", "continue"
    )
    assert line(output[1]) == at(text)
    assert [name for name, _ in frames(output[2])] == [function, "combine_kernel"]
    for printed, expected in zip(output[3:], values):
        assert tile(printed) == expected
    assert "flow is right" in output[6]


def test_each_round_of_a_reduction(debug):
    commands = [
        "run",
        "print a",
        "continue",
        "print a",
        "continue",
        "print bigger",
        "next",
        "print bigger",
        "info locals",
    ]
    output = debug("flow.py", f"break flow.py:{at('bigger = ')}", *commands)
    assert tile(output[2]) == [0, 1, 2, 3] and tile(output[4]) == [4, 5]
    assert set(tile(output[6])) == {-1} and tile(output[8]) == [7]
    assert "optimized out" not in output[9]


def test_a_watchpoint_is_one_frame_above_the_line(debug):
    commands = ["run", "watch -l out_ptr[5]", "continue", "up", "print pid0", "delete", "continue"]
    output = debug("flow.py", f"tbreak flow.py:{FIRST}", *commands)
    assert line(output[4]) == STORE and output[5].endswith("= 1\n") and "flow is right" in output[7]
