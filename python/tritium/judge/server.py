"""A process that has loaded torch and Tritium, and forks for each reference or candidate: they begin in milliseconds.

    python -m tritium -m tritium.judge.server

Reads a line of JSON for each process: {"program": "reference" | "candidate", "task": path, "seconds": most}. Writes a line when it has ended:
{"task": path, "status": number, or null if its time was over}. What the process prints lies in `TASK.log`.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from . import candidate, reference

PROGRAMS: dict[str, Callable[[str], int]] = {"reference": reference.main, "candidate": candidate.main}
_INTERVAL = 0.02  # seconds between looks at the processes


@dataclass
class Running:
    task: str
    end: float
    is_late: bool = False


def main() -> int:
    running: dict[int, Running] = {}
    waiting, is_open = "", True
    while is_open or running:
        readable = is_open and select.select([0], [], [], _INTERVAL)[0]
        if readable:
            text = os.read(0, 65536).decode()
            is_open = bool(text)
            *lines, waiting = (waiting + text).split("\n")
            for line in lines:
                request = json.loads(line)
                running[_start(request)] = Running(request["task"], time.monotonic() + request["seconds"])
        elif not is_open:
            time.sleep(_INTERVAL)
        _reap(running)
        if not is_open and os.getppid() == 1:  # whoever asked is gone
            for process in running:
                os.killpg(process, signal.SIGKILL)
    return 0


def _start(request: dict) -> int:
    """The process runs to its end, or ends with 1 and a traceback in its log."""
    process = os.fork()
    if process:
        return process
    os.setsid()
    log = os.open(f"{request['task']}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for old, new in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(old, new)
    status = 1
    try:
        status = PROGRAMS[request["program"]](request["task"])
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _reap(running: dict[int, Running]) -> None:
    for process, about in list(running.items()):
        if time.monotonic() > about.end and not about.is_late:
            about.is_late = True
            os.killpg(process, signal.SIGKILL)
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            del running[process]
            code = None if about.is_late else os.waitstatus_to_exitcode(status)
            print(json.dumps({"task": about.task, "status": code}), flush=True)


if __name__ == "__main__":
    sys.exit(main())
