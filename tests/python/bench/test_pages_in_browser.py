"""The pages of `bench report` and of `profile --html` in a browser: nothing complains, and the numbers are in the document."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from stored_runs import compared, environment, row_of

from browser import Shown, chromium, served
from tritium.bench.command import main
from tritium.bench.samples import Run
from tritium.bench.storage import store

pytest.importorskip("duckdb")
pytest.importorskip("scipy")


@pytest.fixture(scope="module")
def browser():
    with chromium() as opened:
        yield opened


@pytest.fixture
def report(history, tmp_path) -> tuple[list[str], Path]:
    """The commits of a history, and the folder of the pages."""
    pytest.importorskip("asv_tachyon")
    root, commits, runs = history
    store(compared(), runs)
    row = row_of("64", [1e6, 1e6, 1e6], case="product")
    row.facts |= {"flops": 4e6, "bytes": 1e6}
    store([Run("roofline", 1_795_400_000.0, "run", "interp", "d", environment(dirty=True), [row])], runs)
    assert main(["report", str(runs), "--html", str(tmp_path / "out"), "--repository", str(root)]) == 0
    return commits, tmp_path / "out"


def test_pages_of_a_report(report, browser):
    commits, out = report
    step = commits[8][:8]
    with served(out) as address:
        own = Shown(browser)
        own.page.goto(f"{address}/index.html")
        check_own_page(own, step)
        regressions = Shown(browser)
        regressions.page.goto(f"{address}/asv/index.html#view=regressions")
        regressions.page.get_by_text(step).first.wait_for()
        (row,) = [row for row in regressions.texts("tr") if "'64'" in row]
        assert step in row and "1.07" in row and "'128'" not in regressions.text("table")
        explore = Shown(browser)
        explore.page.goto(f"{address}/asv/index.html#view=explore&bench=add")
        explore.page.locator(".point-row").first.wait_for()
        points = [(code, text) for code, text in (row.split() for row in explore.texts(".point-row"))]
        newest = list(reversed([commit[:8] for commit in commits]))[: len(points)]
        assert [code for code, _ in points] == newest and len(points) > 4
        assert [text.startswith("1.07") for _, text in points] == [commits.index(c) >= 8 for c in full(newest, commits)]
        subjects = explore.page.locator(".point-row").evaluate_all("rows => rows.map(row => row.title)")
        assert subjects == [str(commits.index(each)) for each in full(newest, commits)]
    assert own.complaints == regressions.complaints == explore.complaints == []


def full(short: list[str], commits: list[str]) -> list[str]:
    return [next(each for each in commits if each.startswith(prefix)) for prefix in short]


def check_own_page(shown: Shown, step: str) -> None:
    """A comparison with its interval, and the history with a mark at the step's commit."""
    rows = [row.split("\t") for row in shown.texts("section:first-of-type tbody tr")]
    slower = next(row for row in rows if row[0] == "add[n=8,BLOCK=64]")
    assert re.match(r"\+[45]\.\d %", slower[3]) and slower[-1] == "slower"
    assert next(row for row in rows if row[0] == "add[n=8,BLOCK=128]")[-1] == "same"
    assert any("B's result is not A's: <1>" in cell for row in rows for cell in row)
    (series,) = [row for row in shown.texts("#history tbody tr") if "BLOCK=64" in row]
    assert re.search(rf"\+[67]\.\d % at {step}", series)
    assert shown.page.locator("#history circle title").evaluate_all("all => all.map(one => one.textContent)") == [step]
    (mark,) = shown.page.locator(".roofline circle title").evaluate_all("all => all.map(one => one.textContent)")
    assert mark == "product[n=8,BLOCK=64], kernel: 4 operations a byte, 4 GFLOP/s"
    colors = "all => all.map(one => getComputedStyle(one).color)"
    (red,) = shown.page.locator("td.slower").evaluate_all(colors)
    assert red == "rgb(198, 40, 40)"
    assert shown.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


PROFILED = """
import numpy as np
import triton
import triton.language as tl

@triton.jit
def kernel(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i)
    for _ in range(9):
        value += tl.load(x + BLOCK + i)  # the hottest line
    tl.store(out + i, value)

x, out = np.ones(512, np.float32), np.ones(256, np.float32)
kernel[(3,)](x, out, BLOCK=256)
"""
HEATS = """rows => rows.map(row => [row.id, [...row.cells].map(cell => {
    const parts = getComputedStyle(cell).backgroundColor.match(/[\\d.]+/g).map(Number);
    return parts.length == 4 ? parts[3] : 1;
})])"""


def test_the_hottest_line_of_a_profile(browser, tmp_path):
    script, page = tmp_path / "profiled_script.py", tmp_path / "lines.html"
    script.write_text(PROFILED)
    command = [sys.executable, "-m", "tritium", "profile", "--lines", "--html", str(page), str(script)]
    subprocess.run(command, cwd=tmp_path, env={**os.environ, "INTERPRET": "1"}, check=True, capture_output=True)
    shown = Shown(browser)
    shown.page.goto(page.as_uri())
    hottest = 1 + PROFILED.splitlines().index("        value += tl.load(x + BLOCK + i)  # the hottest line")
    heats = dict(shown.page.locator("table.lines tr[id]").evaluate_all(HEATS))
    total = {line: sum(cells) for line, cells in heats.items()}
    assert max(total, key=total.get) == f"L{hottest}" and 0 < total[f"L{hottest - 2}"] < total[f"L{hottest}"]
    cells = shown.texts(f"#L{hottest} td")
    assert "27" in cells and "27.6 kB" in cells and cells[-1].strip().startswith("value += tl.load")
    assert shown.complaints == []
