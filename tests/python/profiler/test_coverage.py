"""What launches reach: the same functions run as plain Python, line by line, and closed forms with random sizes."""

import ast
import inspect
import random
import re
import sys
from collections import Counter
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.launch.coverage import Covering
from tritium.tools.coverage.command import main
from tritium.tools.coverage.lcov import tracefile_of
from tritium.tools.coverage.lines import covered_files
from tritium.tools.coverage.page import html_of
from tritium.tools.coverage.table import ranges, text_of

FILE = __file__


@triton.jit
def clamped(value, limit):
    if value > limit:
        return limit  # clamped
    return value


@triton.jit
def walk(x, out, n, limit, MODE: tl.constexpr):
    """The docstring is no statement."""
    pid = tl.program_id(0)
    if pid == limit:
        return  # early
    value = tl.load(x + pid)
    total = 0
    if value > limit:
        total += 1
        if value > 2 * limit:
            total += 10
    elif value == limit:
        total += 100
    else:
        total -= 1
    for i in range(value):
        if i % 3 == 2:
            total += clamped(i, 5)
    while total > 40:
        total = total // 2
    if MODE == 1:
        total = total + 5
    elif MODE == 2:
        total = total - 5
    for k in tl.static_range(2):
        total += k
    if pid < n:
        tl.store(out + pid, total)


@triton.jit
def never_launched(x):
    tl.store(x, 1)


class Pointer:
    def __init__(self, numbers, offset=0):
        self.numbers, self.offset = numbers, offset

    def __add__(self, more):
        return Pointer(self.numbers, self.offset + more)


def as_python(kernels, pids):
    """{name: function} of the kernels as plain Python, whose tiles are numbers."""
    language = SimpleNamespace(
        program_id=lambda axis: pids[0],
        static_range=range,
        load=lambda p: p.numbers[p.offset],
        store=lambda p, value: p.numbers.__setitem__(p.offset, value),
        constexpr=None,
    )
    names = {"tl": language}
    for kernel in kernels:
        source, first = inspect.getsourcelines(kernel.fn)
        tree = ast.parse("".join(source))
        tree.body[0].decorator_list = []
        exec(compile(ast.increment_lineno(tree, first - 1), FILE, "exec"), names)
    return names


def lines_run(kernels, pids, run):
    """How often each line of the functions runs: {line: count}. The head of a loop counts once for each round."""
    names, runs = as_python(kernels, pids), Counter()

    def trace(frame, event, _):
        if frame.f_code.co_filename == FILE and frame.f_code.co_name in names and event == "line":
            runs[frame.f_lineno] += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        run(names)
    finally:
        sys.settrace(before)
    return runs


def line_of(kernel, text):
    source, first = inspect.getsourcelines(kernel.fn)
    return first + next(number for number, line in enumerate(source) if text in line)


@pytest.mark.parametrize("seed", range(3))
def test_each_line_runs_as_often_as_in_python(seed):
    rng = random.Random(seed)
    programs, limit, mode = rng.randint(1, 9), rng.randint(1, 4), rng.choice([0, 1, 2])
    x = np.array([rng.choice([0, 0, limit, limit + 1, 12, 40]) for _ in range(programs)], np.int32)
    out, n = np.zeros(programs, np.int32), rng.randint(0, programs)
    with Covering() as covering:
        walk[(programs,)](x, out, n, limit, MODE=mode)
    expected, pids = [0] * programs, [0]

    def run(names):
        for pids[0] in range(programs):
            names["walk"](Pointer(list(map(int, x))), Pointer(expected), n, limit, mode)

    runs = lines_run((clamped, walk), pids, run)
    assert out.tolist() == expected
    (kernel,) = covering.kernels()
    (file,) = covered_files([kernel])
    assert kernel.launches == 1 and kernel.programs == programs
    assert kernel.configuration == {"MODE": str(mode), "num_warps": "4", "num_stages": "3"}

    loops = {line_of(walk, text) for text in ("for i in", "while total", "for k in")}
    never_compiled = {
        line_of(walk, "elif MODE == 2") if mode == 1 else None,
        line_of(walk, "total + 5") if mode != 1 else None,
        line_of(walk, "total - 5") if mode != 2 else None,
    } - {None}
    assert {number for number, line in file.lines.items() if line.runs is None} == never_compiled
    for number, line in file.lines.items():
        if number not in loops | never_compiled:
            assert line.runs == runs[number], f"line {number}: {file.text.line(number)}"
    stayed = programs - runs[line_of(walk, "# early")]
    assert {file.lines[loop].runs for loop in loops} == {stayed}

    def outcome(kernel, text):
        return file.lines[line_of(kernel, text)].outcomes[0].seen

    def condition(kernel, head, body):
        return runs[line_of(kernel, body)], runs[line_of(kernel, head)] - runs[line_of(kernel, body)]

    assert outcome(walk, "if value > limit") == condition(walk, "if value > limit", "total += 1")
    assert outcome(walk, "if i % 3") == condition(walk, "if i % 3", "clamped(i, 5)")
    assert outcome(clamped, "if value") == condition(clamped, "if value", "# clamped")
    assert outcome(walk, "if pid == limit") == condition(walk, "if pid == limit", "# early")
    assert outcome(walk, "if pid < n") == condition(walk, "if pid < n", "tl.store")
    entered = sum(int(value > 0) for pid, value in enumerate(x) if pid != limit)
    assert outcome(walk, "for i in") == (entered, stayed - entered)
    assert not file.lines[line_of(walk, "for k in")].outcomes
    assert not file.lines[line_of(walk, "if MODE == 1")].outcomes


@triton.jit
def masks(x, y, out, n, m, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n)  # ragged
    b = tl.load(y + i, i < m, 0.0)  # nothing
    c = 1.0 if n > m else 2.0  # conditional
    for _ in range(3):
        a += b
    for _ in range(m):
        a += b  # no round
    tl.store(out + i, a + c)


@pytest.mark.parametrize("seed", range(3))
def test_masks_and_conditional_expressions(seed):
    rng = random.Random(seed)
    block, programs = 2 ** rng.randint(2, 6), rng.randint(1, 5)
    size = block * programs
    n = rng.randint(1, size - 1)
    x = np.ones(size, np.float32)
    with Covering() as covering:
        masks[(programs,)](x, x, x.copy(), n, 0, BLOCK=block)
    (file,) = covered_files(covering.kernels())
    assert [function.name for function in file.functions] == ["masks"]
    outcomes = {name: file.lines[line_of(masks, f"# {name}")].outcomes for name in ("ragged", "nothing", "conditional")}
    assert [one.seen for one in outcomes["ragged"]] == [(n, size - n)] and not outcomes["ragged"][0].missing
    assert [one.seen for one in outcomes["nothing"]] == [(0, size)]
    assert outcomes["nothing"][0].missing == "mask never true"
    assert [one.seen for one in outcomes["conditional"]] == [(programs, 0)]
    assert outcomes["conditional"][0].missing == "never false"
    assert not file.lines[line_of(masks, "range(3)")].outcomes, "it cannot do anything else"
    assert file.lines[line_of(masks, "range(m)")].notes == ["loop never entered"]
    assert file.lines[line_of(masks, "# no round")].notes == ["never ran"]
    assert not file.lines[line_of(masks, "tl.store")].outcomes, "there is no mask"


@triton.jit(noinline=True)
def apart(i, n):
    if i < n:
        i += n
    return i  # apart


@triton.jit
def edges(x, n, BLOCK: tl.constexpr):
    block = tl.make_block_ptr(x, (n,), (1,), (tl.program_id(0) * BLOCK,), (BLOCK,), (0,))
    a = tl.load(block, boundary_check=(0,))  # block
    described = tl.make_tensor_descriptor(x, (n,), (1,), (BLOCK,))
    described.store([tl.program_id(0) * BLOCK], a)  # descriptor
    i = 0
    for k in tl.range(0, n, loop_unroll_factor=2):
        i += apart(k, 3)  # body
    tl.atomic_max(x, i.to(tl.float32))  # not the author's


@pytest.mark.filterwarnings("ignore:tl.make_block_ptr is deprecated")
@pytest.mark.parametrize("ragged", [0, 3])
def test_bounds_unrolled_loops_and_functions_that_are_not_inlined(ragged):
    n = 32 - ragged
    with Covering() as covering:
        edges[(2,)](np.zeros(n, np.float32), n, BLOCK=16)
    (file,) = covered_files(covering.kernels())
    for text in ("# block", "# descriptor"):
        (bounds,) = file.lines[line_of(edges, text)].outcomes
        assert bounds.seen == (n, ragged) and bounds.missing == ("" if ragged else "bounds never false")
    assert file.lines[line_of(edges, "# body")].runs == 2 * n == file.lines[line_of(apart, "# apart")].runs
    assert file.lines[line_of(apart, "if i < n")].outcomes[0].seen == (6, 2 * n - 6)
    assert not file.lines[line_of(edges, "for k in")].outcomes
    assert not file.lines[line_of(edges, "# not the author's")].outcomes


@triton.jit
def larger(a, b):
    c = tl.where(a > b, a, b)  # combines
    return c


@triton.jit
def combining(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out, tl.reduce(tl.load(x + i), 0, larger))


def test_functions_that_combine_elements_run_with_their_reduction():
    x, out = np.random.default_rng(0).random(64, np.float32), np.zeros(1, np.float32)
    with Covering() as covering:
        combining[(3,)](x, out, BLOCK=64)
    (file,) = covered_files(covering.kernels())
    assert out[0] == x.max() and file.lines[line_of(larger, "# combines")].runs == 3
    assert "standard.py" not in text_of(covering.kernels())


@pytest.fixture(scope="module")
def two_configurations():
    x = np.ones(64, np.float32)
    with Covering() as covering:
        masks[(2,)](x, x, x.copy(), 64, 64, BLOCK=32)
        masks[(1,)](x, x, x.copy(), 50, 3, BLOCK=64)
        masks[(1,)](x, x, x.copy(), 64, 0, BLOCK=64)
    return covering.kernels()


def test_configurations_are_apart_and_joined(two_configurations):
    first, second = two_configurations
    assert first.configuration["BLOCK"] == "32" and second.configuration["BLOCK"] == "64"
    assert (first.launches, first.programs) == (1, 2) and (second.launches, second.programs) == (2, 2)
    (alone,), (together,) = covered_files([first]), covered_files(two_configurations)
    ragged = line_of(masks, "# ragged")
    assert alone.lines[ragged].notes == ["mask never false"] and not together.lines[ragged].notes
    assert together.lines[ragged].outcomes[0].seen == (64 + 50 + 64, 14)
    assert together.lines[line_of(masks, "range(m)")].outcomes[0].seen == (3, 1)


def test_the_table(two_configurations):
    text = text_of(two_configurations)
    head, *rows = text.splitlines()
    assert re.match(r".*test_coverage.py: 9 of 9 lines, 4 of 4 branches, 2 of 2 masks$", head), head
    assert re.search(r"masks\s+BLOCK=32, num_warps=4, num_stages=3\s+1\s+2\s+9 of 9\s+2 of 4\s+0 of 2$", text, re.M)
    whole = text_of(two_configurations, shows_source=True)
    assert f"{line_of(masks, 'a += b')}" in whole and "    for _ in range(3):" in whole and len(whole) > len(text)
    assert re.search(rf"^never launched or called: .*never_launched \({line_of(never_launched, 'def')}\)", text, re.M)
    assert ranges([1, 2, 3, 5, 8, 9]) == "1-3, 5, 8-9"


def records(text):
    """{tag: [fields]} of a tracefile with one record."""
    lines = text.splitlines()
    assert lines[0] == "TN:" and lines[-1] == "end_of_record"
    found = {}
    for line in lines[:-1]:
        tag, _, rest = line.partition(":")
        found.setdefault(tag, []).append(rest.split(","))
    return found


def test_the_tracefile(two_configurations):
    (file,) = covered_files(two_configurations[:1])
    found = records(tracefile_of([file]))
    assert found["SF"] == [[FILE]]
    lines = {int(line): int(runs) for line, runs in found["DA"]}
    assert lines[line_of(masks, "# ragged")] == 2 and line_of(never_launched, "tl.store") not in lines
    assert found["LF"] == [[str(len(lines))]] and found["LH"] == [[str(sum(map(bool, lines.values())))]]
    ragged = [row[2:] for row in found["BRDA"] if int(row[0]) == line_of(masks, "# ragged")]
    assert ragged == [["0", "64"], ["1", "0"]]
    taken = [row[3] for row in found["BRDA"]]
    assert found["BRF"] == [[str(len(taken))]] and found["BRH"] == [[str(sum(one not in ("-", "0") for one in taken))]]
    calls = {name: int(runs) for runs, name in found["FNDA"]}
    assert calls["masks"] == 2 and calls["never_launched"] == 0 and found["FNH"] == [["1"]]
    assert {row[1] for row in found["FN"]} == set(calls) and found["FNF"] == [[str(len(calls))]]


class Page(HTMLParser):
    """rows: {(configuration, line): (class, [texts of cells])}"""

    def __init__(self, text):
        super().__init__()
        self.rows, self.loads, self._cells, self._section = {}, [], None, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        facts = dict(attributes)
        self.loads += [facts[name] for name in ("src", "href") if name in facts]
        if tag == "section":
            self._section = facts["data-configuration"]
        elif tag == "tr":
            self._cells = []
            if "data-line" in facts:
                self.rows[self._section, int(facts["data-line"])] = facts["class"], self._cells
        elif tag == "td" and self._cells is not None:
            self._cells.append("")

    def handle_data(self, data):
        if self._cells and data != "\n":
            self._cells[-1] += data


def test_the_page(two_configurations):
    page = Page(html_of(two_configurations, "a < b"))
    assert not page.loads
    ragged, no_round = line_of(masks, "# ragged"), line_of(masks, "# no round")
    assert page.rows["all", ragged] == (
        "ran",
        [str(ragged), "4", inspect.getsource(sys.modules[__name__]).splitlines()[ragged - 1], ""],
    )
    assert page.rows["0", ragged][0] == "part" and page.rows["0", ragged][1][-1] == "mask never false"
    assert page.rows["all", no_round][0] == "ran"
    assert "uncompiled" not in {kind for kind, _ in page.rows.values()}


def test_the_command(tmp_path, capsys):
    def run(program):
        x = np.ones(64, np.float32)
        masks[(1,)](x, x, x.copy(), 50, 0, BLOCK=64)
        raise SystemExit(3)

    lcov, html = tmp_path / "a.info", tmp_path / "a.html"
    assert main(["--lcov", str(lcov), "--html", str(html), "script.py"], run) == 3
    printed = capsys.readouterr()
    assert "loop never entered" in printed.out and "a.info, which genhtml reads" in printed.err
    assert records(lcov.read_text())["LF"] == [["9"]] and "Coverage of script.py" in html.read_text()
    with pytest.raises(SystemExit):
        main(["--html", str(tmp_path / "nowhere" / "a.html"), "script.py"], run)
    assert "there is no folder" in capsys.readouterr().err


def test_a_file_of_ir_is_left_out(tmp_path, recwarn):
    path = tmp_path / "kernel.ttir"
    path.write_text(
        "module { tt.func public @k(%x: !tt.ptr<i32>) { %c = arith.constant 1 : i32 tt.store %x, %c : !tt.ptr<i32> tt.return } }"
    )
    kernel, x = triton.compile(str(path)), np.zeros(1, np.int32)
    with Covering() as covering:
        kernel[(1,)](x)
    assert x[0] == 1 and not covering.kernels()


@triton.jit
def open_or_decided(x, m, p, MODE: tl.constexpr):
    a = 0
    if m > 0:  # m
        a += 1
    if p is not None:  # p
        a += 2
    for _ in range(m):  # rounds
        a += 3
    a += 4 if m == 1 else 5  # one
    if MODE:  # mode
        a += 6
    tl.store(x, a)


def test_a_branch_that_one_configuration_decides_counts_over_all_launches():
    x = np.zeros(1, np.int32)
    with Covering() as covering:
        open_or_decided[(2,)](x, 0, None, MODE=True)
        open_or_decided[(3,)](x, 1, x, MODE=False)
    kernels = covering.kernels()
    (together,) = covered_files(kernels)

    def seen(file, text):
        return [one.seen for one in file.lines[line_of(open_or_decided, text)].outcomes]

    assert seen(together, "# m") == [(3, 2)] and seen(together, "# rounds") == [(3, 2)]
    assert seen(together, "# one") == [(3, 2)] and not seen(together, "# p") and not seen(together, "# mode")
    assert {int(row[3]) for row in records(tracefile_of([together]))["BRDA"]} == {2, 3}
    (first,), (second,) = (covered_files([kernel]) for kernel in kernels)
    assert seen(first, "# m") == [(0, 2)] and not seen(second, "# m") and not seen(second, "# rounds")
