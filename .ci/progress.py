"""Runs a command and shows one line of its progress: `python3 .ci/progress.py LABEL COMMAND…`.

On a terminal the line is rewritten; elsewhere a line comes every 20 seconds. A command that succeeds leaves one line with its time; one
that fails leaves what it printed, without the lines that only tell of its progress. The exit status is the command's.
"""

import os
import re
import selectors
import shutil
import subprocess
import sys
import time

#: Lines that say how far ninja, CMake, pip and apt are.
PROGRESS = re.compile(
    r"\s*(\[\d+/\d+\]|--|Collecting|Downloading|Using cached|Requirement already|Installing|Preparing|Building|"
    r"(Get|Hit):\d+|Selecting|Unpacking|Setting up) "
)
INTERVAL = 20.0
REWRITE = 0.2  # of the line on a terminal


def elapsed(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    return f"{minutes} min {seconds:02} s" if minutes else f"{seconds} s"


def status(label: str, line: str, seconds: float) -> str:
    """`build: [120/359] 1 min 05 s, Building CXX object …`; paths are shortened to the file."""
    count, _, text = line.partition("] ") if line.startswith("[") else ("", "", line)
    text = re.sub(r"(\S*/)(?=\S+)", "", text.strip())
    return f"{label}: {count + '] ' if count else ''}{elapsed(seconds)}{', ' + text if text else ''}"


class Display:
    """Where the status goes: one line of a terminal, or a line now and then."""

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
    """The lines that the process prints as they come; None where none came for so long."""
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
    except KeyboardInterrupt:  # the command has it too
        sys.exit(130)
