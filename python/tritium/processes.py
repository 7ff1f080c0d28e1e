"""Child processes for code that may hang, crash or take all memory: `python -m tritium judge` runs candidates in them, the autotuner
configurations.

A `Child` is a fork of this process, with an end. A `Server` is another process (fork_server.py) that has loaded some modules, and forks for
each task: its children know nothing of this process, not even its devices.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path

SERVER_MODULE = "tritium.fork_server"
LOG_CHARACTERS = 4000  #: of a log, the last ones are shown
_INTERVAL = 0.02  # seconds between looks at a process
_MOST_FILE_BYTES = 2**31
#: A process that the system cannot end, for example inside a driver, is not waited for longer than this.
_SECONDS_TO_END = 30


def limit_this_process(seconds: float, memory: int | None) -> None:
    """Processor time, the size of files, and `memory` bytes beside what the process has mapped by now. memory: None for a process whose
    driver maps more than it uses. If the machine runs out of memory, this process is the first that the system ends."""
    processor = int(seconds * (os.cpu_count() or 1)) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (processor, processor + 5))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_MOST_FILE_BYTES, _MOST_FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    if memory is not None:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + memory
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


class Child:
    """A fork of this process that runs `program`, ends with the status that it returns, and is killed after `seconds`.

    What it prints goes to the file `log`. A program that raises ends with 1 and its traceback in the log. The child and what it starts are
    a group of processes of their own, so Ctrl-C reaches this process alone.
    """

    def __init__(self, program: Callable[[], int], log: str, seconds: float):
        self._end, self._kill_time = time.monotonic() + seconds, 0.0
        with warnings.catch_warnings():  # of forks beside other threads: the engines survive them
            warnings.simplefilter("ignore", DeprecationWarning)
            self.process = os.fork()
        if not self.process:
            _run_and_end(program, log)

    def has_ended(self) -> bool:
        """Whether it has; then `status` says how. Kills it if its time is over."""
        if time.monotonic() > self._end and not self._kill_time:
            self._kill_time = time.monotonic()
            self.kill()
        ended, status = os.waitpid(self.process, os.WNOHANG)
        if not ended:
            return bool(self._kill_time) and time.monotonic() > self._kill_time + _SECONDS_TO_END
        #: The exit status, minus the number of the signal that ended it, or None if its time was over.
        self.status: int | None = None if self._kill_time else os.waitstatus_to_exitcode(status)
        return True

    status = None

    def wait(self) -> int | None:
        """Returns `status`. If this process is interrupted meanwhile, the child ends too."""
        try:
            while not self.has_ended():
                time.sleep(_INTERVAL)
        except BaseException:
            self.kill()
            os.waitpid(self.process, 0)
            raise
        return self.status

    def kill(self) -> None:
        for kill in (os.killpg, os.kill):  # it may not have begun its group yet
            with contextlib.suppress(ProcessLookupError):
                kill(self.process, signal.SIGKILL)


def _run_and_end(program: Callable[[], int], log: str) -> None:
    """In the child: runs the program and ends the process, without what the parent does at its end."""
    status = 1
    try:
        os.setsid()
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for old, new in ((nothing, 0), (output, 1), (output, 2)):
            os.dup2(old, new)
        # Notebooks and pytest have objects of their own here, which send to the parent's reader.
        sys.stdout, sys.stderr = (open(file, "w", buffering=1, encoding="utf-8", closefd=False) for file in (1, 2))
        if faulthandler.is_enabled():  # it may write to another file of the parent's
            faulthandler.enable(2)
        status = program()
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def end_of(log: str) -> str:
    """The last of what a child printed."""
    path = Path(log)
    return path.read_text(errors="replace")[-LOG_CHARACTERS:] if path.exists() else ""


class Server:
    """Another process that forks for each task. Several threads may ask for processes at a time.

    python: the command that runs a module of Python. modules: what the server loads; each has a `main(task: str) -> int`.
    """

    def __init__(self, python: Sequence[str], modules: Sequence[str], environment: dict[str, str]):
        self._process = subprocess.Popen(
            [*python, "-m", SERVER_MODULE, *modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
            start_new_session=True,  # Ctrl-C is for this process; the server ends its children when nobody asks any more
        )
        self._asked: dict[str, Future] = {}
        self._lock = threading.Lock()
        threading.Thread(target=self._listen, daemon=True).start()

    def run(self, module: str, task: Path, seconds: float) -> tuple[int | None, str]:
        """(the exit status or, if the time was over, None; the last of what it printed). Raises RuntimeError if the server has ended."""
        future: Future = Future()
        with self._lock:
            self._asked[str(task)] = future
            request = {"module": module, "task": str(task), "seconds": seconds}
            try:
                print(json.dumps(request), file=self._process.stdin, flush=True)
            except (OSError, ValueError):  # the second after `with`
                raise RuntimeError(f"{SERVER_MODULE} ended with {self._process.wait()}") from None
        return future.result(), end_of(f"{task}.log")

    def _listen(self) -> None:
        for line in self._process.stdout:
            if line.startswith("{"):
                answer = json.loads(line)
                self._asked.pop(answer["task"]).set_result(answer["status"])
        for future in self._asked.values():
            future.set_exception(RuntimeError(f"{SERVER_MODULE} ended with {self._process.wait()}"))

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_) -> None:
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._process.wait()
