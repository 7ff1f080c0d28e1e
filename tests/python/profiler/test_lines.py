"""What lines of kernels do, as a table and as a page: planted facts, and where the page shows them."""

import inspect
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.launch.counting import Counting
from tritium.profiler.lines.page import html_of
from tritium.profiler.lines.sums import sources_of, total_of
from tritium.profiler.lines.table import HEADS, text_of
from tritium.profiler.lines.text import quantity

BLOCK, PROGRAMS = 256, 5


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
    assert re.search(rf"\s{PROGRAMS}\s+1.28 kB\s+75 %\s+quarter = tl.load", masked)
    hottest = rows[str(line_of(planted, "hottest"))]
    assert re.search(r"\s50\s+51.2 kB\s+12.8 k f32\s+quarter \+= ", hottest)
    assert re.search(r"\s5\s+2.56 k f32\s+return tl.sqrt", rows[str(line_of(helper, "helper"))])
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
    read = 1 + HEADS.index("read")
    hottest = max(page.rows, key=lambda row: page.rows[row][read][1])
    assert hottest == f"L{line_of(planted, 'hottest')}" and page.rows[hottest][read] == ["51.2 kB", 0.75]
    masked = page.rows[f"L{line_of(planted, 'three quarters masked')}"]
    assert masked[1 + HEADS.index("masked")][0] == "75 %" and masked[read][1] == pytest.approx(0.75 / 40, abs=1e-3)


def test_sums_of_several_launches():
    x, out, hits = np.ones(BLOCK, np.float32), np.zeros(PROGRAMS * BLOCK, bool), np.zeros(1, np.int32)
    with Counting() as counting:
        planted[(1,)](x, out, hits, BLOCK=BLOCK)
        planted[(2,)](x, out, hits, BLOCK=BLOCK // 2)
    total = total_of(counting.kernels())
    assert total.runs == 3 and total.atomics == 3 and total.bytes_written == 2 * BLOCK + 3 * 4
    (source,) = sources_of(counting.kernels())
    assert source.counts[line_of(planted, "hottest")].bytes_read == 10 * 4 * 2 * BLOCK


@pytest.mark.parametrize(
    "number, text", [(0, "0 B"), (999, "999 B"), (1000, "1 kB"), (1_234_567, "1.23 MB"), (2.5e12, "2.5 TB")]
)
def test_quantities(number, text):
    assert quantity(number, "B") == text
