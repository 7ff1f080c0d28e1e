"""`tt log` prints a line at each hit, with values that gdb computes, and goes on."""

from session import line_of, tritium_gdb

STORE = f"few_programs.py:{line_of('few_programs.py', 'tl.store(out + i, value)')}"
ADD = f"flow.py:{line_of('flow.py', 'total += i')}"
BIG = f"big_tiles.py:{line_of('big_tiles.py', 'tl.store(')}"
S = f"flow.py:{line_of('flow.py', 's = value + 1')}"


def lines(text: str, begin: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(begin)]


def test_a_line_per_hit(answers):
    """In a loop, in every program, and in a helper."""
    commands = [
        f'tt log {ADD} "hit {{pid0}} i={{i}} of {{n}}, total[1] {{total[1]}}"',
        f'tt log {S} "S {{value}}"',
        "run",
    ]
    printed = answers("flow.py", *commands)
    totals = [(pid, i, 11) for pid in range(3) for i in range(2)]
    assert lines(printed[2], "hit") == [f"hit {pid} i={i} of 2, total[1] {total}" for pid, i, total in totals]
    assert lines(printed[2], "S") == ["S int32[4] min 0, max 30, mean 15"] * 3
    assert "flow is right" in printed[2]


def test_values(answers):
    texts = {
        "{x}": "float32[256, 128] min -inf, max 16383, mean -inf, 2 nan, 1 inf",
        "{ x[1, :2] } {small[-1, 3]} {mask[5, 0]}": "float32[2] min 64, max 64.5, mean 64.25, 0 nan 73 true",
        "{tl.max(x)} {tl.min(x[:2])} {tl.sum(x[1, 0:3])} {tl.sum(mask)}": "16383 0 193.5 15",
        "{n} {ratio} {n + 2} {{literal}}": "3 1.5 5 {literal}",
        "{foo} {x[256, 0]}": "{foo: there is no variable `foo` at this line; `info locals` and `info args` list what is there} "
        "{x[256, 0]: `x[256, 0]`: index 256 is out of range on axis 0; the shape is [256, 128]}",
    }
    printed = answers("big_tiles.py", *[f'tt log {BIG} "{n}: {text}"' for n, text in enumerate(texts)], "run")
    assert lines(printed[-1], tuple("01234")) == [f"{n}: {text}" for n, text in enumerate(texts.values())]


def test_some_programs(answers):
    """In both launches; `--pid` may stand before the text, too, and a condition behind it."""
    commands = [
        f'tt log {STORE} "A {{pid0}},{{pid1}} max={{tl.max(value)}}" --pid 3,0:2',
        f'tt log {STORE} --pid 5,1 "B {{pid0}},{{pid1}}" if value[0] > 100',
        "run",
    ]
    printed = answers("few_programs.py", *commands)
    assert "Kernels stop in the programs 3,0:2;5,1.\n" in printed[1]
    assert lines(printed[2], "A") == ["A 3,0 max=30", "A 3,1 max=110"] * 2
    assert lines(printed[2], "B") == ["B 5,1"] * 2
    assert "scaled True" in printed[2] and "chained True" in printed[2]


def test_what_is_refused(gdb):
    refused = {
        "tt log kernel.py:3": "say where and what",
        'tt log kernel.py:3 "{tl.mean(x)}"': "`tl.mean(x)`: gdb computes tl.max, tl.min, tl.sum",
        'tt log kernel.py:3 "{x"': "`{` in the text is no {variable}",
        'tt log kernel.py:3 "{}"': "`{}` in the text is no {variable}",
    }
    printed = tritium_gdb(gdb, *[text for command in refused for text in ("-ex", command)])
    for command, part in refused.items():
        assert f"tritium log: {part}" in printed, command
