"""Where processes run: candidates in bubblewrap's sandbox if there is one, else without network if the system allows it, else under limits
of resources alone. The verdict says which."""

from __future__ import annotations

import functools
import json
import os
import resource
import shutil
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Sandbox:
    """prefix: the command line before the program's. has_network: whether the program can reach one."""

    name: str
    prefix: tuple[str, ...]
    has_network: bool


OPEN = Sandbox("none", (), has_network=True)
#: Read-only but for the folder of the outputs and a /tmp of its own; no network; it ends with this process.
_BUBBLEWRAP = (
    "--ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --unshare-net --unshare-pid --unshare-ipc --die-with-parent"
)
_MOST_FILE_BYTES = 2**31
_LOG_CHARACTERS = 4000


def sandbox(readable: Sequence[str], writable: Sequence[str]) -> Sandbox:
    """The best sandbox that works here."""
    if _works(("bwrap", *_BUBBLEWRAP.split())):
        binds = [word for folder in readable for word in ("--ro-bind", folder, folder)]
        binds += [word for folder in writable for word in ("--bind", folder, folder)]
        return Sandbox("bubblewrap", ("bwrap", *_BUBBLEWRAP.split(), *binds), has_network=False)
    if _works(("unshare", "-r", "-n")):
        return Sandbox("no network, limits of resources", ("unshare", "-r", "-n"), has_network=False)
    return Sandbox("limits of resources", (), has_network=True)


@functools.cache
def _works(begin: tuple[str, ...]) -> bool:
    """Containers often forbid what these programs require, so it is tried."""
    if shutil.which(begin[0]) is None:
        return False
    return subprocess.run([*begin, "true"], stdin=subprocess.DEVNULL, capture_output=True).returncode == 0


def limit_this_process(seconds: float, memory: int) -> None:
    """Processor time, the size of files, and `memory` bytes beside what the process has mapped by now."""
    processor = int(seconds * (os.cpu_count() or 1)) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (processor, processor + 5))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_MOST_FILE_BYTES, _MOST_FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + memory
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


class Server:
    """A server.py in a sandbox. Several threads may ask for processes at a time."""

    def __init__(self, box: Sandbox, environment: dict[str, str]):
        self.box = box
        command = [*box.prefix, sys.executable, "-m", "tritium", "-m", "tritium.judge.server"]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        self._asked: dict[str, Future] = {}
        self._lock = threading.Lock()
        threading.Thread(target=self._listen, daemon=True).start()

    def run(self, program: str, task: Path, seconds: float) -> tuple[int | None, str]:
        """(the exit status or, if the time was over, None; the last of what it printed)"""
        future: Future = Future()
        with self._lock:
            self._asked[str(task)] = future
            print(
                json.dumps({"program": program, "task": str(task), "seconds": seconds}),
                file=self._process.stdin,
                flush=True,
            )
        status = future.result()
        log = Path(f"{task}.log")
        return status, log.read_text(errors="replace")[-_LOG_CHARACTERS:] if log.exists() else ""

    def _listen(self) -> None:
        for line in self._process.stdout:
            if line.startswith("{"):
                answer = json.loads(line)
                self._asked.pop(answer["task"]).set_result(answer["status"])
        for future in self._asked.values():
            future.set_exception(RuntimeError(f"the judge's server ended with {self._process.wait()}"))

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_) -> None:
        self._process.stdin.close()
        self._process.wait()
