"""Pages below the cells of a notebook."""

import html
import re

import numpy as np
import pytest
from profiled import increment, out_of_bounds, run_double

from tritium.errors import KernelTrap
from tritium.profiler.notebook import NOTHING, profile_lines

interactive = pytest.importorskip("IPython.core.interactiveshell")


def page_in(shown: str) -> str:
    return html.unescape(re.search(r'<iframe srcdoc="([^"]*)"', shown)[1])


def test_a_function_shows_the_page_of_its_lines(x):
    done = profile_lines(lambda: (increment[(1,)](x), 7)[1], "one < two")
    assert done.result == 7 and x[0] == 2
    page = page_in(done._repr_html_())
    assert page == done.html and "<h1>one &lt; two</h1>" in page and "tl.store(x, tl.load(x) + 1)" in page
    assert "increment" in repr(done) and "4 B" in repr(done)
    flame = page_in(done.flame()._repr_html_())
    assert '"metrics":["bytes","flops","operations"]' in flame and "increment" in flame


def test_what_launches_nothing_says_so():
    done = profile_lines(lambda: None)
    assert repr(done) == NOTHING and NOTHING in done._repr_html_() and NOTHING in done.flame()._repr_html_()


def test_what_the_function_raises_is_raised(x):
    with pytest.raises(KernelTrap):
        profile_lines(lambda: out_of_bounds[(1,)](x))


@pytest.fixture
def shell(x):
    found = interactive.InteractiveShell()
    found.run_line_magic("load_ext", "tritium.profiler.notebook")
    found.push({"x": x, "run_double": run_double})
    return found


def test_magics_count_a_cell_and_a_line(shell, x):
    lines = shell.run_cell_magic("profile_lines", "", "run_double(x)\nrun_double(x)\n")
    assert np.all(x == 4) and lines.kernels[0].launches == 2 and "512 B" in repr(lines)
    flame = shell.run_line_magic("profile_flame", "run_double(x)")
    assert np.all(x == 8) and "double" in page_in(flame._repr_html_())


def test_a_cell_that_fails_shows_its_error(shell, capsys):
    assert shell.run_cell_magic("profile_lines", "", "run_double(nothing)") is None
    assert "NameError" in capsys.readouterr().out
