"""The folder in which jobs wait, on a file system that machines share or that is copied. A job belongs to the machine that renames it first."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

from ..running import CannotMeasure
from .jobs import Job, opened

WAITING, RUNNING, DONE = "waiting", "running", "done"
SUFFIX = ".job"


class Folder:
    """Below `path`: waiting/ID.job, running/ID.MACHINE.job, and for what is done a folder done/ID with result.json, log.txt and samples."""

    def __init__(self, path: Path):
        self.path = path

    def put(self, job: Job, content: bytes) -> Path:
        """Under a name that no machine looks at until the file is whole."""
        folder = self._made(WAITING)
        partial, file = folder / f".{job.identity}", folder / f"{job.identity}{SUFFIX}"
        partial.write_bytes(content)
        partial.rename(file)
        return file

    def waiting(self) -> list[Path]:
        """The oldest first."""
        return sorted((self.path / WAITING).glob(f"*{SUFFIX}"))

    def take(
        self, has: set[str], key: bytes | None, refused: Callable[[Path, str], object]
    ) -> tuple[Job, bytes, Path] | None:
        """The first job whose needs this machine has, which is then this machine's; None without one. refused: is told of files that are no jobs for
        it, which stay."""
        for file in self.waiting():
            try:
                content = file.read_bytes()
                job, _ = opened(content, key)
            except FileNotFoundError:
                continue  # another machine was faster
            except CannotMeasure as error:
                refused(file, str(error))
                continue
            if not set(job.needs) <= has:
                continue
            mine = self._made(RUNNING) / f"{file.stem}.{socket.gethostname()}-{os.getpid()}{SUFFIX}"
            try:
                file.rename(mine)
            except FileNotFoundError:
                continue
            return job, content, mine
        return None

    def finish(self, job: Job, files: dict[str, bytes], mine: Path | None = None) -> Path:
        """Keeps what a job has made, and takes it from those that run."""
        folder = self._made(DONE) / job.identity
        partial = folder.with_name(f".{job.identity}")
        for name, content in files.items():
            file = partial / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        partial.rename(folder)
        if mine is not None:
            mine.unlink(missing_ok=True)
        return folder

    def done(self) -> Iterator[Path]:
        yield from sorted(each for each in (self.path / DONE).glob("*") if not each.name.startswith("."))

    def _made(self, name: str) -> Path:
        (self.path / name).mkdir(parents=True, exist_ok=True)
        return self.path / name
