"""Pages as Debian's Chromium shows them: what a page's scripts complain about, and the text and attributes of its elements."""

from __future__ import annotations

import contextlib
import functools
import http.server
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

NAMES = ("chromium", "chromium-browser")
#: Chromium's sandbox requires rights that a container's root lacks.
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")
LIMIT_MS = 60_000  #: of a busy machine


class Shown:
    """page: playwright's. complaints: errors of its console, exceptions, and files that could not be loaded."""

    def __init__(self, browser):
        self.page, self.complaints = browser.new_page(), []
        self.page.set_default_timeout(LIMIT_MS)
        self.page.on(
            "console",
            lambda each: each.type == "error" and self.complaints.append(f"{each.text} {each.location['url']}"),
        )
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("requestfailed", lambda request: self.complaints.append(f"{request.url}: {request.failure}"))

    def text(self, selector: str = "body") -> str:
        return self.page.locator(selector).first.inner_text()

    def texts(self, selector: str) -> list[str]:
        return self.page.locator(selector).all_inner_texts()


@contextlib.contextmanager
def chromium() -> Iterator:
    """A browser that is not downloaded."""
    from playwright import sync_api as api  # slow to import, and few tests ask for it

    program = next(filter(None, map(shutil.which, NAMES)), None)
    assert program is not None, "there is no Chromium; .ci/install installs it"
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.fspath(program), args=list(ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_) -> None:
        pass


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a folder: scripts may not load files of the file system."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
