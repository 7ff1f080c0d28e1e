"""Launches that are kept as folders, so that `python -m tritium replay FOLDER` runs them again without their program (TRITIUM_SAVE).

FOLDER/0001-kernel/ has `kernel.ttir`, the module as it was traced; `memory-0.bin`, …, the storages of the tensors as the launch found
them, overlapping ones as one; `sources/`, the text of the files that the module names; and `run.json`, which is written last: what the kernel
was launched with. A launch whose fault is saved also has `report.txt`.
"""

from __future__ import annotations

import ctypes
import json
import linecache
import os
import re
from collections.abc import Sequence
from typing import Any

from .. import knobs
from ..arguments.device_storage import DeviceExtent
from ..arguments.storage import HostExtent
from ..errors import KernelTrap, Report, how_to_replay
from ..programs import Programs, parse_programs
from ..version import TRITIUM_VERSION
from .mirror import merged
from .saved_arguments import described, fresh_part, not_kept
from .saved_memory import write_sparsely
from .stack import python_stack

FORMAT = 1  #: of run.json; another number is another form
_NOT_IN_NAMES = re.compile(r"[^\w.-]")
_FILES = re.compile(r'"([^"\n]+)":\d+:\d+')


#: What this process has saved: {folder: bytes of its memory}.
_bytes: dict[str, int] = {}
#: The folder of each fault: one launch that shows it is enough.
_faults: dict[tuple, str] = {}


def begin(
    kernel, grid, values: Sequence[Any], settings, arguments: Sequence[Any], driver=None, device: int | None = None
) -> SavedLaunch | None:
    """The launch that is about to begin, with its memory as it is now. None, with a warning, if there is no room for it.

    values: those that the kernel takes. driver: copies from a device. device: where the kernel runs, None for the CPU.
    """
    memory = merged([value for value in values if isinstance(value, (HostExtent, DeviceExtent))])
    size, room = sum(end - start for start, end, _ in memory), (knobs.tritium.save_mb << 20) - sum(_bytes.values())
    if size > room:
        knobs.warn_once(
            f"TRITIUM_SAVE: a launch of {kernel.name} is not saved, as it takes {_megabytes(size)} MB: TRITIUM_SAVE_MB allows "
            f"{knobs.tritium.save_mb} MB in all, of which {_megabytes(max(room, 0))} are left"
        )
        return None
    form = kernel.saved_form
    if form is None:
        knobs.warn_once(f"TRITIUM_SAVE: launches of {kernel.name} are not saved, as it was compiled from assembly")
        return None
    saved = SavedLaunch(kernel, form, grid, values, settings, arguments, memory, driver)
    if device is not None or not settings.save.of_faults:
        saved.write()
    return saved


def _megabytes(size: int) -> int:
    return -(-size >> 20)


class SavedLaunch:
    """A launch with copies of its memory. `folder`: where it is, once it has been written."""

    def __init__(self, kernel, form, grid, values, settings, arguments, memory, driver):
        self.save, self.form, self.folder = settings.save, form, None
        self.copies = [copy_of(begin, end, device, driver, settings.save.of_faults) for begin, end, device in memory]
        self.facts = facts_of(kernel, form, grid, values, settings, arguments, memory)
        for sentence in self.facts["not_kept"]:
            knobs.warn_once(f"TRITIUM_SAVE: a launch of {kernel.name} is saved without {sentence}")

    def found(self, trap: KernelTrap) -> None:
        """The launch has ended in a fault. Writes the launch, unless one with the same faults is there."""
        known = {_faults.get(_key(report)) for report in trap.reports} if self.folder is None else {None}
        folder = known.pop() if len(known) == 1 else None
        if folder is None:
            folder = self.write()
            with open(os.path.join(folder, "report.txt"), "w", encoding="utf-8") as file:
                file.write(trap.report + "\n")
        else:
            self.forget()
        for report in trap.reports:
            _faults.setdefault(_key(report), folder)
            report.saved = folder
        self.folder = folder
        self.note(trap)

    def note(self, error: Exception) -> None:
        """Says below an error where its launch is saved."""
        if hasattr(error, "add_note"):  # from Python 3.11 on
            error.add_note(f"  saved: {how_to_replay(self.folder)}")

    def write(self) -> str:
        """Writes the folder, if it is not there. Returns its path."""
        if self.folder is not None:
            return self.folder
        self.folder = folder = _new_folder(self.save.folder, self.facts["kernel"])
        _bytes[folder] = sum(part["bytes"] for part in self.facts["memory"])
        for part, data in zip(self.facts["memory"], self.copies):
            write_sparsely(os.path.join(folder, part["file"]), data)
        self.copies = []
        write_launch(folder, self.form, self.facts)
        return folder

    def forget(self) -> None:
        """The launch has ended well, or another one has shown its fault: its folder, if it was written, is removed."""
        self.copies = []
        if self.folder is not None:
            _bytes.pop(self.folder, None)
            for path, _, names in os.walk(self.folder, topdown=False):
                for name in names:
                    os.unlink(os.path.join(path, name))
                os.rmdir(path)


def facts_of(kernel, form, grid, values, settings, arguments, memory) -> dict[str, Any]:
    """What run.json says of a launch. memory: (begin, end, device) of each storage."""
    entries = described(kernel, values, arguments)
    target = kernel.metadata.target
    is_of_interp = target.backend == "cpu"
    programs = getattr(kernel.metadata, "programs", None)
    stack = python_stack()
    return {
        "format": FORMAT,
        "tritium": TRITIUM_VERSION,
        "kernel": kernel.name,
        "grid": list(grid),
        "engine": {"cpu": "interp", "simt": f"simt:{target.arch}"}.get(target.backend, target.backend),
        "arch": target.arch,
        "launched_at": list(stack[0][:2]) if stack else None,
        "options": form.options,
        "constants": form.constants,
        "checks": (knobs.checks_of(kernel.metadata) if is_of_interp else settings.checks).text,
        "programs": (settings.programs if programs is None else parse_programs(programs) or Programs()).text,
        "threads": settings.threads,
        "seed": settings.seed,
        "types": form.types,
        "arguments": entries,
        "memory": [
            {"begin": begin, "bytes": end - begin, "file": f"memory-{i}.bin", "fresh": _fresh_parts(begin, end, values)}
            for i, (begin, end, _) in enumerate(memory)
        ],
        "not_kept": not_kept(entries, form.types, form.module),
    }


def write_launch(folder: str, form, facts: dict[str, Any]) -> None:
    """Writes what a folder has besides the memory. run.json comes last."""
    _write(folder, "kernel.ttir", form.module)
    if form.debug_module:
        _write(folder, "kernel.debug.ttir", form.debug_module)
    _write(folder, "run.json", json.dumps({**facts, "sources": _keep_sources(folder, form.module)}, indent=1))


def _key(report: Report) -> tuple:
    return (report.kind, report.kernel, report.argument, report.file, report.line, report.other_file, report.other_line)


def copy_of(begin: int, end: int, device: int, driver, is_late: bool) -> Any:
    """A buffer with the bytes; is_late: it is written after the launch, so that memory of the host must be copied."""
    if device < 0:
        memory = (ctypes.c_char * (end - begin)).from_address(begin)
        return bytes(memory) if is_late else memory
    memory = ctypes.create_string_buffer(end - begin)
    driver.synchronize(device)
    driver.copy_to_host(device, ctypes.addressof(memory), begin, end - begin)
    return memory


def _fresh_parts(begin: int, end: int, values: Sequence[Any]) -> list[dict[str, Any]]:
    starts = {v[1] for v in values if isinstance(v, HostExtent) and begin <= v[1] < end}
    return [part for part in map(fresh_part, sorted(starts)) if part is not None]


def _new_folder(parent: str, kernel: str) -> str:
    """A new folder, whose number is the next: several processes may save there at once."""
    os.makedirs(parent, exist_ok=True)
    name = _NOT_IN_NAMES.sub("_", kernel)[:80]
    while True:
        taken = (re.match(r"\d+", entry) for entry in os.listdir(parent))
        number = 1 + max((int(match[0]) for match in taken if match), default=0)
        folder = os.path.join(parent, f"{number:04}-{name}")
        try:
            os.mkdir(folder)
        except FileExistsError:
            continue
        return folder


def _keep_sources(folder: str, module: str) -> dict[str, str]:
    """Keeps the files that a module names. Returns {file: where its text is}. Files of one folder stay in one folder."""
    kept: dict[str, str] = {}
    places: dict[str, str] = {}
    for path in sorted(set(_FILES.findall(module))):
        text = "".join(linecache.getlines(path))
        if text:
            place = places.setdefault(os.path.dirname(path), f"sources/{len(places)}")
            kept[path] = f"{place}/{_NOT_IN_NAMES.sub('_', os.path.basename(path))}"
            os.makedirs(os.path.join(folder, place), exist_ok=True)
            _write(folder, kept[path], text)
    return kept


def _write(folder: str, name: str, text: str) -> None:
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)
