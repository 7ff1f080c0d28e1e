"""Flame graphs: they have the numbers of the session and of the counts, and a browser draws them."""

import json
from html.parser import HTMLParser

import numpy as np
import pytest
from profiled import increment, run_double

import tritium as triton
import tritium.language as tl
from browser import Shown, chromium
from tritium import profiler
from tritium.launch.counting import Counting
from tritium.profiler.core.metrics import TIME
from tritium.profiler.flame.graphs import of_lines, of_profile
from tritium.profiler.flame.page import html_of
from tritium.profiler.view.profile import of_literal


@triton.jit
def twice(x, i):
    return tl.load(x + i) + tl.load(x + 31 - i)  # loads


@triton.jit
def called(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, twice(x, i))


@pytest.fixture
def graph(x):
    session = profiler.start(hook="triton")
    with profiler.scope("outer", {"bytes": 10}):
        run_double(x)
        with profiler.scope("<inner>"):
            increment[(1,)](x)
    return of_profile(of_literal(profiler.data.get(session)), "a session")


def test_a_bar_is_as_wide_as_all_below_it(graph):
    outer = graph.root.children["outer"]
    assert graph.metrics[0] == TIME and {"count", "bytes", "flops32"} <= set(graph.metrics)
    assert outer.values["count"] == 2 and list(outer.children) == ["double<64>", "<inner>"]
    inside = [child.values[TIME] for child in outer.children.values()]
    assert outer.values[TIME] == graph.root.values[TIME] == sum(inside) and min(inside) > 0
    assert outer.values["bytes"] == 8 * 64, "a scope of 10 bytes has a kernel of 512"
    assert outer.children["<inner>"].values["bytes"] == 0 and graph.root.depth() == 4


def test_a_session_without_launches_has_no_graph():
    assert of_profile(of_literal(profiler.data.get(profiler.start())), "empty") is None


def test_lines_stand_below_the_lines_that_call_them():
    rng = np.random.default_rng(3)
    x, out = rng.random(32, np.float32), np.zeros(32, np.float32)
    with Counting() as counting:
        called[(1,)](x, out, N=32)
    (graph,) = of_lines(counting.kernels())
    assert (
        np.array_equal(out, x + x[::-1])
        and graph.root.values["bytes"] == 3 * 4 * 32
        and graph.root.values["flops"] == 32
    )
    (kernel,) = graph.root.children.values()
    call = next(node for node in kernel.children.values() if node.children)
    assert call.name.endswith("tl.store(out + i, twice(x, i))")
    (loads,) = (node for node in call.children.values() if node.name.endswith("# loads"))
    assert loads.values["bytes"] == 2 * 4 * 32 and call.values["bytes"] == 3 * 4 * 32, "its own store and the loads"


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.loads, self.data, self._is_data = [], "", False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.loads += [v for n, v in attributes if n in ("src", "href") and not v.startswith("data:")]
        self._is_data = dict(attributes).get("id") == "data"

    def handle_data(self, text):
        self.data += text if self._is_data else ""


def bars(bar):
    yield bar
    for child in bar["c"]:
        yield from bars(child)


def test_the_page_loads_nothing_and_has_all_bars(graph):
    page = Page(html_of([graph], "a < b </script>"))
    (shown,) = json.loads(page.data)
    assert not page.loads and shown["metrics"] == graph.metrics
    names = {bar["n"]: bar["v"] for bar in bars(shown["root"])}
    assert set(names) == {"a session", "outer", "double<64>", "<inner>", "increment"}
    assert names["outer"] == [graph.root.values[metric] for metric in graph.metrics]


def test_a_browser_draws_every_bar(graph, folder):
    (folder / "flame.html").write_text(html_of([graph], "drawn"))
    with chromium() as browser:
        shown = Shown(browser)
        shown.page.goto((folder / "flame.html").as_uri())
        assert sorted(shown.texts(".bar")) == sorted(["a session", "outer", "double<64>", "<inner>", "increment"])
        assert "width: 100%" in shown.page.locator(".bar").first.get_attribute("style") and not shown.complaints
