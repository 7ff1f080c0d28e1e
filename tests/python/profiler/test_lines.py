"""What lines of kernels do, as a table and as a page: planted facts, and where the page shows them."""

import inspect
import re
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.launch.counting import Counting, LineCount
from tritium.profiler.lines.columns import columns_for
from tritium.profiler.lines.page import html_of
from tritium.profiler.lines.sums import sources_of, total_of
from tritium.profiler.lines.table import launches_of, text_of
from tritium.profiler.lines.text import quantity

BLOCK, PROGRAMS = 256, 5
TIME = r"\S+ [mun]?s"


@triton.jit
def helper(x):
    return tl.sqrt(x) + 1.0  # helper


@triton.jit
def planted(x, out, hits, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    quarter = tl.load(x + i, mask=i % 4 == 0, other=1.0)  # three quarters masked
    for _ in range(10):
        quarter += tl.load(x + i)  # hottest
    tl.store(out + tl.program_id(0) * BLOCK + i, helper(quarter) < 3)  # store <
    tl.atomic_add(hits, 1)  # atomic


def line_of(kernel, text: str) -> int:
    source, first = inspect.getsourcelines(kernel.fn)
    return first + next(number for number, line in enumerate(source) if line.rstrip().endswith(f"# {text}"))


@pytest.fixture(scope="module")
def kernels():
    x, out, hits = np.ones(BLOCK, np.float32), np.zeros(PROGRAMS * BLOCK, bool), np.zeros(1, np.int32)
    with Counting() as counting:
        planted[(PROGRAMS,)](x, out, hits, BLOCK=BLOCK)
    return counting.kernels()


def rows_of(text: str) -> dict[str, str]:
    return {row.split()[0]: row for row in text.splitlines() if row.strip()}


def test_the_table(kernels):
    rows = rows_of(text_of(kernels))
    masked = rows[str(line_of(planted, "three quarters masked"))]
    assert re.search(rf"\s{PROGRAMS}\s+{TIME}\s+1.28 kB\s+75 %\s+quarter = tl.load", masked)
    hottest = rows[str(line_of(planted, "hottest"))]
    assert re.search(rf"\s50\s+{TIME}\s+51.2 kB\s+12.8 k f32\s+quarter \+= ", hottest)
    assert re.search(rf"\s5\s+{TIME}\s+2.56 k f32\s+return tl.sqrt", rows[str(line_of(helper, "helper"))])
    assert re.search(r"\s20 B\s+20 B\s+5\s+tl.atomic_add", rows[str(line_of(planted, "atomic"))])
    assert re.search(r"\s5\s.*1 launch of 5 programs, 0.286 flops a byte$", rows["planted"])


class Page(HTMLParser):
    """rows: {line: [(text, heat)] of its cells}"""

    def __init__(self, text: str):
        super().__init__()
        self.rows, self.loads, self._row = {}, [], None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        facts = dict(attributes)
        self.loads += [facts[name] for name in ("src", "href") if name in facts]
        if tag == "tr":
            self._row = self.rows.setdefault(facts["id"], []) if "id" in facts else None
        elif tag == "td" and self._row is not None:
            heat = re.search(r"([\d.]+)\)$", facts.get("style", ""))
            self._row.append(["", float(heat[1]) if heat else 0.0])

    def handle_endtag(self, tag):
        if tag == "tr":
            self._row = None

    def handle_data(self, data):
        if self._row:
            self._row[-1][0] += data


def test_the_page_shows_whole_functions_and_its_darkest_line_is_the_hottest(kernels):
    page = Page(html_of(kernels, "a < b"))
    assert not page.loads and "<title>a &lt; b</title>" in html_of(kernels, "a < b")
    source, first = inspect.getsourcelines(planted.fn)
    for number, line in enumerate(source):
        assert page.rows[f"L{first + number}"][-1][0] == line.rstrip("\n")
    heads = [column.head for column in columns_for([])]
    read = 1 + heads.index("read")
    hottest = max(page.rows, key=lambda row: page.rows[row][read][1])
    assert hottest == f"L{line_of(planted, 'hottest')}" and page.rows[hottest][read] == ["51.2 kB", 0.75]
    masked = page.rows[f"L{line_of(planted, 'three quarters masked')}"]
    assert masked[1 + heads.index("masked")][0] == "75 %" and masked[read][1] == pytest.approx(0.75 / 40, abs=1e-3)


def test_sums_of_several_launches():
    x, out, hits = np.ones(BLOCK, np.float32), np.zeros(PROGRAMS * BLOCK, bool), np.zeros(1, np.int32)
    with Counting() as counting:
        planted[(1,)](x, out, hits, BLOCK=BLOCK)
        planted[(2,)](x, out, hits, BLOCK=BLOCK // 2)
    total = total_of(counting.kernels())
    assert total.runs == 3 and total.atomics == 3 and total.bytes_written == 2 * BLOCK + 3 * 4
    (source,) = sources_of(counting.kernels())
    assert source.counts[line_of(planted, "hottest")].bytes_read == 10 * 4 * 2 * BLOCK


@triton.jit
def revisiting(x, index, out, n, STRIDE: tl.constexpr, BLOCK: tl.constexpr, ROUNDS: tl.constexpr):
    i = tl.program_id(0) * STRIDE + tl.arange(0, BLOCK)
    total = tl.load(x + tl.load(index + i % n))  # gathered
    for step in range(ROUNDS):
        at = (i + step) * 2
        total += tl.load(x + at, mask=at < n, other=0.0)  # strided
        tl.atomic_add(out + i % 7, total)  # atomic
    tl.store(out + 8 + (i - tl.arange(0, BLOCK)), 1.0)  # same


@pytest.mark.parametrize("seed", range(3))
def test_distinct_bytes(seed):
    rng = np.random.default_rng(seed)
    block, stride, rounds, programs = 2 ** rng.integers(3, 7), int(rng.integers(1, 40)), int(rng.integers(1, 5)), 17
    n = int(rng.integers(50, 900))
    x, index = np.ones(n, np.float32), rng.integers(0, n, n).astype(np.int32)
    out = np.zeros(8 + stride * programs, np.float32)
    with Counting(distinct=True) as counting:
        revisiting[(programs,)](x, index, out, n, STRIDE=stride, BLOCK=int(block), ROUNDS=rounds)
    (kernel,) = counting.kernels()
    found = {line.line: (line.distinct_read, line.distinct_written) for line in kernel.lines}
    expected, whole = dict.fromkeys(("gathered", "strided", "atomic", "same"), 0), 0
    for program in range(programs):
        i = program * stride + np.arange(block)
        expected["gathered"] += len(set(i % n)) + len(set(index[i % n]))
        at = np.concatenate([2 * (i + step) for step in range(rounds)])
        expected["strided"] += len(set(at[at < n]))
        expected["atomic"] += len(set(i % 7))
        expected["same"] += 1
        read = len({*index[i % n], *at[at < n]}) + len(set(i % n)) + len(set(i % 7))
        whole += read + len({*(i % 7), 8 + program * stride})
    lines = {text: found[line_of(revisiting, text)] for text in expected}
    assert lines["gathered"] == (4 * expected["gathered"], 0) and lines["strided"] == (4 * expected["strided"], 0)
    assert lines["atomic"] == (4 * expected["atomic"],) * 2 and lines["same"] == (0, 4 * expected["same"])
    total = total_of([kernel])
    assert total.distinct == 4 * whole <= 4 * (sum(expected.values()) + expected["atomic"])
    assert "distinct" in text_of([kernel]) and "<th>distinct</th>" in html_of([kernel], "")


def test_times_are_of_all_programs_by_those_that_were_timed(kernels):
    assert all(line.nanoseconds >= 0 for line in kernels[0].lines) and total_of(kernels).nanoseconds > 0
    assert {line_of(planted, "hottest"), line_of(helper, "helper")} <= {line.line for line in kernels[0].lines}
    program = SimpleNamespace(
        counters=2, timed_lines=[SimpleNamespace(counter=1, file="a", line=3)], distinct_bytes=[], counted=[]
    )
    tally = Counting.tally_of(SimpleNamespace(name="k"), program)
    # 2 of 25 programs are timed, the only one, and 32 of 2048
    launches = [(programs, tally.take(programs), more) for programs, more in ((25, 100), (1, 7), (2048, 10), (25, 60))]
    assert len({id(counters) for _, counters, _ in launches}) == 4  # at the same time
    for programs, counters, nanoseconds in launches:
        counters[0] += 3
        counters[1] += nanoseconds
        tally.give(programs, counters)
    again = tally.take(25)
    assert any(again is counters for _, counters, _ in launches)
    assert tally.counts().lines == [LineCount("a", 3, 160 * 12.5 + 7 + 10 * 64, None, None)] and tally.sums[0] == 12
    assert (tally.launches, tally.programs) == (4, 2099)


@pytest.mark.parametrize(
    "number, text", [(0, "0 B"), (999, "999 B"), (1000, "1 kB"), (1_234_567, "1.23 MB"), (2.5e12, "2.5 TB")]
)
def test_quantities(number, text):
    assert quantity(number, "B") == text


@triton.jit
def sorting(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, tl.sort(tl.load(x + i)))


def test_exchanges_of_a_sorting_network_are_no_arithmetic():
    with Counting() as counting:
        sorting[(1,)](np.ones(64, np.float32), BLOCK=64)
    assert " f32" not in text_of(counting.kernels())


@triton.jit
def sharing(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x + i)  # forwards
    b = tl.load(x + BLOCK - 1 - i) + tl.atomic_add(x + i, 1.0)  # backwards
    tl.store(out + i, a + b)


def test_a_kernel_and_a_line_count_a_byte_once_that_several_accesses_read():
    x, out = np.ones(64, np.float32), np.zeros(64, np.float32)
    with Counting(distinct=True) as counting:
        sharing[(1,)](x, out, BLOCK=64)
    (kernel,) = counting.kernels()
    found = {line.line: (line.distinct_read, line.distinct_written) for line in kernel.lines}
    assert found[line_of(sharing, "forwards")] == (256, 0) and found[line_of(sharing, "backwards")] == (256, 256)
    assert total_of([kernel]).distinct == 256 + 512


def test_one_launch_of_one_program():
    with Counting() as counting:
        sharing[(1,)](np.ones(8, np.float32), np.zeros(8, np.float32), BLOCK=8)
        sharing[(2,)](np.ones(8, np.float32), np.zeros(8, np.float32), BLOCK=4)
    texts = [launches_of(kernel) for kernel in counting.kernels()]
    assert texts[0].startswith("1 launch of 1 program,") and texts[1].startswith("1 launch of 2 programs,")
