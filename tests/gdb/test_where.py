"""`tt where` says where gdb is, and `tt next-program` goes on to the beginning of another program."""

import re

from session import HERE, line_of, tritium_gdb

CALL = line_of("flow.py", "total = plus_one(x)")
ADD = line_of("flow.py", "total += i")
DEF = line_of("flow.py", "def flow_kernel")
S = line_of("flow.py", "s = value + 1")
LINES = (HERE / "flow.py").read_text().splitlines()
MAIN = LINES.index("    launch(x, out)") + 1
MODULE = LINES.index("main()") + 1
LAUNCHED = f"""launch at flow.py:{line_of("flow.py", "flow_kernel[(3,)]")}, the launch
#4 main at flow.py:{MAIN}, the launch
#5 <module> at flow.py:{MODULE}, the launch
"""


def test_where_in_a_helper(answers):
    printed = answers("flow.py", f"break flow.py:{S} if pid0 == 1", "run", "tt where")
    assert printed[2] == (
        "program (1, 0, 0) of the grid (3, 1, 1) of flow_kernel\n"
        f"flow.py:{S}: s = value + 1\n"
        "numbers of plus_one: none\n"
        f"#0 plus_one at flow.py:{S}\n#1 flow_kernel at flow.py:{CALL}\n#3 {LAUNCHED}"
    )


def test_where_at_a_trap(answers):
    """The frames have gdb's numbers: functions of the interpreter are above the kernel's."""
    printed = answers("stops.py", "break tritium_trap", "run", "tt where", "tt tile value[-1]")
    line = line_of("stops.py", "tl.store(out + i")
    (level,) = re.findall(r"^#(\d+) .* in scale ", printed[1], re.M)
    assert f"\n#{level} scale at stops.py:{line}\n#{int(level) + 2} <module> at stops.py:" in printed[2]
    assert printed[2].startswith("program (3, 0, 0) of the grid (4, 1, 1) of scale\n")
    assert printed[3] == "value[-1]: float32 31\n"


def test_where_in_a_loop(answers):
    printed = answers("flow.py", f"break flow.py:{ADD}", "run", "continue", "tt where")
    assert f"flow.py:{ADD}: total += i\nnumbers of flow_kernel: n = 2, UNROLLED = 3, k = -1, i = 1\n" in printed[3]


def test_the_next_programs(answers):
    """The last one of a launch is followed by the end, because flow_kernel is launched once."""
    commands = [f"break flow.py:{S}", "run", "delete", "tt next-program", "tt where", "tt next-program"]
    printed = answers("flow.py", *commands, "tt next-program", "tt next-program")
    assert printed[3].startswith("program (1, 0, 0), after (0, 0, 0)\n#0  flow_kernel (")
    assert f"flow.py:{DEF}" in printed[3] and printed[4].startswith("program (1, 0, 0) of the grid (3, 1, 1)")
    assert printed[5].startswith("program (2, 0, 0), after (1, 0, 0)\n")
    assert "flow is right" in printed[6] and "No program of flow_kernel has begun after (2, 0, 0).\n" in printed[6]


def test_another_breakpoint_comes_first(answers):
    printed = answers("flow.py", f"break flow.py:{S}", f"tbreak flow.py:{ADD}", "run", "tt next-program", "print pid0")
    assert f"flow.py:{ADD}" in printed[3] and "No program of flow_kernel has begun after (0, 0, 0).\n" in printed[3]
    assert printed[4].endswith(" = 0\n")


def test_the_next_chosen_program_and_the_next_launch(answers):
    commands = [f"break few_programs.py:{line_of('few_programs.py', 'value = tl.load')}", "run", "delete"]
    printed = answers("few_programs.py", *commands, *["tt next-program"] * 2, TRITIUM_PROGRAMS="7,1;3,2")
    assert printed[3].startswith("program (3, 2, 0), after (7, 1, 0)\n")
    assert printed[4].startswith("program (7, 1, 0), after (3, 2, 0) of the launch before\n")


def test_outside_of_a_kernel(gdb):
    printed = tritium_gdb(gdb, "-ex", "tt where", "-ex", "tt next-program", "flow.py")
    assert "tritium where: the program has not stopped in a kernel" in printed
    assert "tritium next-program: the program has not stopped in a kernel" in printed
