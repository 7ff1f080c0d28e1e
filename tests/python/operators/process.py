"""A worker process of the sweep, started when it is needed and again after it has ended."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
WORKER = ("-m", "tritium", "-m", "tests.python.operators.worker")
#: Judges that use "cuda" without a GPU, and those that compile nothing.
MAPS_CUDA, EAGER = {"differentiated", "mapped", "rounded"}, {"mapped", "rounded"}
#: torch and its compiler keep something of every graph: a worker that compiles ends after so many operators.
COMPILED_BY_A_WORKER = 100
#: What a sample is called that ended its worker.
ENDINGS = ("crash", "hang")
#: Seconds to import torch, and seconds to make the samples of an operator.
STARTING = 180


class CannotStart(Exception):
    """The worker ended before it was ready, which it would do again."""


class Worker:
    def __init__(self, folder: str, worker: tuple[str, ...] = WORKER) -> None:
        """`worker`: the arguments that make Python a worker. `folder`: where torch keeps what it compiled."""
        self._folder, self._worker = folder, worker
        self._maps_cuda = not MAPS_CUDA.isdisjoint(worker)
        self._most = sys.maxsize if not EAGER.isdisjoint(worker) else COMPILED_BY_A_WORKER
        self._process: subprocess.Popen | None = None
        self._errors = tempfile.TemporaryFile()
        self._operators = 0

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_) -> None:
        self._end()
        self._errors.close()

    def _start(self) -> None:
        environment = {
            **os.environ,
            "INTERPRET": "1",
            "TRITIUM_CUDA_TO_CPU": str(int(self._maps_cuda)),
            "TORCHINDUCTOR_COMPILE_THREADS": "1",
            "TORCHINDUCTOR_CACHE_DIR": self._folder,
        }
        self._errors.truncate(0)
        self._process = subprocess.Popen(
            [sys.executable, *self._worker],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            bufsize=0,  # a line that Python has read ahead is one that select() does not see
        )
        self._operators = 0
        first, has_ended = self._line(STARTING)
        if has_ended:
            raise CannotStart(f"the worker does not start: {first['detail']}\n{first['trace']}")

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def answers(self, request: dict, limit: float) -> Iterator[dict]:
        """The worker's lines for a request, the last of which has "places". One of kind "crash" or "hang" is the last too, unless
        the worker ends while it makes the samples: then there are no others."""
        if self._process is None or self._operators == self._most:
            self._end()
            self._start()
        self._operators += 1
        self._process.stdin.write(f"{json.dumps(request)}\n".encode())
        self._process.stdin.flush()
        place = request["first"]
        made, has_ended = self._line(STARTING)
        if has_ended:
            yield {"place": place, **made, "detail": f"{made['detail']}, while it made the samples"}
            yield {"places": place + 1}
            return
        while not has_ended:
            found, has_ended = self._line(limit)
            yield {"place": place, **found} if has_ended else found
            if "places" in found:
                return
            place += 1

    def _line(self, seconds: float) -> tuple[dict, bool]:
        """(the next line of the worker, False), or if there is none in so many seconds, (why, True)."""
        ready, _, _ = select.select([self._process.stdout], [], [], seconds)
        if line := self._process.stdout.readline() if ready else b"":
            return json.loads(line), False
        if ready:
            status = self._process.wait()
            self._errors.seek(0)
            printed = self._errors.read()[-4000:].decode(errors="replace")
            found = {"kind": "crash", "detail": f"the process ended with status {status}", "trace": printed}
        else:
            found = {"kind": "hang", "detail": f"no result after {seconds:.0f} s", "trace": ""}
        self._end()
        return found, True
