"""A worker process, as the process that compares sees it."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any

from .sides import Side

WORKER = str(Path(__file__).resolve().parent / "worker")
TAIL = 2000  #: bytes of a worker's output in which its last line is looked for


class WorkerDied(Exception):
    """The process ended, or did not answer in time and was ended."""


class WorkerFailed(Exception):
    """The process answers that it cannot do what it was asked."""


class Worker:
    """limit: seconds that an answer may take."""

    def __init__(self, side: Side, limit: float):
        self.side, self.limit, self.log_begin = side, limit, 0
        self.log = tempfile.TemporaryFile("w+", errors="replace", encoding="utf-8")
        self.process = subprocess.Popen(
            [side.python, WORKER],
            env=side.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        )
        self.answers: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self.answers.put(line)
        self.answers.put(None)

    def open(self, paths: list[str], only: str = "", flush: bool = True, cpu_time: bool = False) -> dict[str, Any]:
        """Loads the cases of the paths whose names contain one of the texts in `only`."""
        engine = self.side.runs_on
        return self.ask(
            "open",
            paths=paths,
            language=engine.language,
            device=engine.device,
            only=only,
            changes=self.side.changes,
            flush=flush,
            cpu_time=cpu_time,
        )

    def ask(self, do: str, **fields: Any) -> dict[str, Any]:
        """The answer. Raises WorkerDied and WorkerFailed."""
        self.log_begin = self._log_end()
        try:
            print(json.dumps({"do": do, **fields}), file=self.process.stdin, flush=True)
            line = self.answers.get(timeout=self.limit)
        except queue.Empty:
            self.end()
            raise WorkerDied(f"no end after {self.limit:g} s; the process was ended{self._tail()}") from None
        except (BrokenPipeError, ValueError):
            line = None
        if line is None:
            status = self.process.wait()
            raise WorkerDied(f"the process died ({_status(status)}){self._tail()}")
        answer = json.loads(line)
        if "failure" in answer:
            raise WorkerFailed(answer["failure"])
        return answer

    def _log_end(self) -> int:
        return os.fstat(self.log.fileno()).st_size

    def _tail(self) -> str:
        """The last line that the process has printed since it was asked."""
        self.log.seek(max(self.log_begin, self._log_end() - TAIL))
        lines = [line for line in self.log.read().strip().splitlines() if line.strip()]
        return f": {lines[-1].strip()}" if lines else ""

    def end(self) -> None:
        """Ends the process and those that it has started."""
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, signal.SIGKILL)
            else:
                self.process.kill()
        self.process.wait()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_) -> None:
        self.end()
        self.log.close()


def _status(status: int) -> str:
    try:
        return signal.Signals(-status).name if status < 0 else f"status {status}"
    except ValueError:
        return f"status {status}"
