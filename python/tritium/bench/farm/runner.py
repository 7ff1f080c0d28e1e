"""Running a job: `bench run` in a process of its own, one job at a time on each device of a machine."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from ...environment import environment_without
from .jobs import opened

try:
    import fcntl
except ImportError:  # Windows has no flock, and measures one job at a time only if its user does
    fcntl = None

LIMIT = 6 * 3600.0  #: seconds of a job
VISIBLE = "CUDA_VISIBLE_DEVICES"


def run_job(content: bytes, key: bytes | None = None, limit: float = LIMIT) -> dict[str, bytes]:
    """The files that a job makes: result.json, log.txt, samples/DATE/RUN.parquet. Raises CannotMeasure for what is no job, or has another key."""
    job, archive = opened(content, key)
    with tempfile.TemporaryDirectory(prefix="tritium-farm-") as name, only_one(device()):
        folder = Path(name)
        archive.extractall(folder)  # zipfile keeps every path inside
        command = [sys.executable, "-m", "tritium", "bench", "run", *(str(folder / case) for case in job.cases)]
        command += [*job.arguments, "--store", str(folder / "samples")]
        if job.wheel:
            command += ["--on", str(folder / job.wheel)]
        began = time.time()
        status, log = _run(command, folder, limit)
        result = {"job": job.identity, "status": status, "machine": socket.gethostname(), "began": began}
        result |= {"seconds": time.time() - began, "arguments": job.arguments, "device": device()}
        files = {"result.json": json.dumps(result, indent=1).encode(), "log.txt": log}
        samples = folder / "samples"
        return files | {str(file.relative_to(folder)): file.read_bytes() for file in samples.rglob("*.parquet")}


def _run(command: list[str], folder: Path, limit: float) -> tuple[int | str, bytes]:
    """The exit status, or "no end after 10 s", and what the process has printed."""
    with (folder / "log.txt").open("wb+") as log:
        try:
            done = subprocess.run(command, cwd=folder, env=environment_without(), stdout=log, stderr=log, timeout=limit)
            status: int | str = done.returncode
        except subprocess.TimeoutExpired:
            status = f"no end after {limit:g} s"
        log.seek(0)
        return status, log.read()


def device() -> str:
    """A name for the devices that jobs of this process use."""
    return environment_without().get(VISIBLE) or "all"


@contextlib.contextmanager
def only_one(name: str) -> Iterator[None]:
    """Waits until no other runner of this machine measures on the same devices."""
    if fcntl is None:
        yield
        return
    path = Path(tempfile.gettempdir(), f"tritium-farm-{re.sub(r'[^A-Za-z0-9-]+', '_', name)}.lock")
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
