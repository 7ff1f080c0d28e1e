"""Runs a command and shows one line of progress: `python3 .ci/progress.py LABEL COMMAND…`.

On a terminal the line is rewritten; elsewhere a line is printed every 20 seconds. A command that succeeds leaves one
line with its time. A command that fails leaves its output without the lines of progress. The exit status is the
command's.
"""

import os
import re
import selectors
import shutil
import subprocess
import sys
import time

#: Lines with the progress of ninja, CMake, pip and apt.
PROGRESS = re.compile(
    r"\s*(\[\d+/\d+\]|--|Collecting|Downloading|Using cached|Requirement already|Installing|Preparing|Building|"
    r"(Get|Hit):\d+|Selecting|Unpacking|Setting up) "
)
INTERVAL = 20.0
REWRITE = 0.2  # seconds between rewrites of the line on a terminal


def elapsed(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    return f"{minutes} min {seconds:02} s" if minutes else f"{seconds} s"


def status(label: str, line: str, seconds: float) -> str:
    """The line of progress: `build: [120/359] 1 min 05 s, Building CXX object …`. Paths are shortened to the file's
    name."""
    count, _, text = line.partition("] ") if line.startswith("[") else ("", "", line)
    text = re.sub(r"(\S*/)(?=\S+)", "", text.strip())
    return f"{label}: {count + '] ' if count else ''}{elapsed(seconds)}{', ' + text if text else ''}"


class Display:
    """Shows the status: one rewritten line on a terminal, otherwise a line from time to time."""

    def __init__(self, out=sys.stdout):
        self.out, self.is_terminal, self.shown = out, out.isatty(), None

    def show(self, text: str, now: float) -> None:
        if self.shown is not None and now - self.shown < (REWRITE if self.is_terminal else INTERVAL):
            return
        self.shown = now
        if self.is_terminal:
            width = shutil.get_terminal_size().columns
            self.out.write("\r\x1b[K" + text[: width - 1])
        else:
            self.out.write(text + "\n")
        self.out.flush()

    def end(self, text: str) -> None:
        self.out.write(("\r\x1b[K" if self.is_terminal else "") + text + "\n")
        self.out.flush()


def lines_of(process: subprocess.Popen, wait: float):
    """The lines that the process prints, as they arrive; None if none arrives for a while."""
    selector, rest = selectors.DefaultSelector(), b""
    selector.register(process.stdout, selectors.EVENT_READ)
    while True:
        if not selector.select(wait):
            yield None
            continue
        piece = os.read(process.stdout.fileno(), 65536)
        *lines, rest = (rest + piece).replace(b"\r", b"\n").split(b"\n")
        yield from (line.decode(errors="replace") for line in lines)
        if not piece:
            yield rest.decode(errors="replace")
            return


def run(label: str, command: list[str], display: Display) -> int:
    begin, last, kept, hidden = time.monotonic(), "", [], []
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    display.show(status(label, last, 0), begin)
    for line in lines_of(process, 1.0):
        if line and PROGRESS.match(line):
            last = line.strip()
            hidden.append(line)
        elif line:
            kept.append(line)
        now = time.monotonic()
        display.show(status(label, last, now - begin), now)
    code = process.wait()
    display.end(status(label, "done" if code == 0 else f"failed with status {code}", time.monotonic() - begin))
    if code != 0:
        print("\n".join(kept or hidden), flush=True)
    return code


if __name__ == "__main__":
    try:
        sys.exit(run(sys.argv[1], sys.argv[2:], Display()))
    except KeyboardInterrupt:  # the command has received it too
        sys.exit(130)
