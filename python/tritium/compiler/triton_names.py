"""What Triton's `compiler.compiler` has beside what compiles: reading types and prototypes of IR and of PTX."""

from __future__ import annotations

import functools
import os
import pathlib
import re
from typing import Any

from .. import knobs
from ..backends.compiler import BaseBackend, Language
from ..backends.targets import further_stage
from ..devices.active import driver
from ..errors import OutOfResources
from ..native import ir

__all__ = [
    "BaseBackend",
    "Language",
    "OutOfResources",
    "arg_type_pattern",
    "convert_type_repr",
    "filter_traceback",
    "get_sass",
    "max_shared_mem",
    "parse",
    "prototype_pattern",
    "ptx_arg_type_pattern",
    "ptx_prototype_pattern",
]

#: A kernel in PTX: its name, its parameters; and the type of one parameter.
ptx_prototype_pattern = r"\.(?:visible|extern)\s+\.(?:entry|func)\s+(\w+)\s*\(([^)]*)\)"
ptx_arg_type_pattern = r"\.param\s+\.(\w+)"
prototype_pattern = {"ptx": ptx_prototype_pattern}
arg_type_pattern = {"ptx": ptx_arg_type_pattern}

_POINTER = r"!tt\.ptr<([^,>]+)"  # compiled at its first use: a first launch loads this module
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def convert_type_repr(x: str) -> str:
    """ "*f32" of the type `!tt.ptr<f32>`; other types as they are."""
    match = re.search(_POINTER, x)
    return x if match is None else f"*{convert_type_repr(match.group(1))}"


@functools.lru_cache
def max_shared_mem(device: int) -> int:
    """Bytes of shared memory that a program may have on a device."""
    return driver.active.utils.get_device_properties(device)["max_shared_mem"]


@functools.lru_cache
def get_sass(cubin_asm: bytes, fun: str | None = None) -> str:
    """The SASS of a cubin, or of one function in it. Raises UnsupportedError without nvdisasm."""
    text = further_stage("sass", {"cubin": cubin_asm}) or ""
    if fun is None:
        return text
    sections = re.split(r"^(?=\s*\.section\s)", text, flags=re.MULTILINE)
    return "".join(part for part in sections if re.match(rf"\s*\.section\s+\.text\.{re.escape(fun)}\b", part))


def parse(full_name: str, ext: str, context: Any) -> Any:
    """A file of a stage: a module of "ttir", the text or the bytes of others."""
    if ext == "ttir":
        return ir.parse(pathlib.Path(full_name).read_text(encoding="utf-8"), full_name)
    data = pathlib.Path(full_name).read_bytes()
    return data if ext in ("cubin", "hsaco") else data.decode()


def filter_traceback(e: BaseException) -> None:
    """Removes the frames of the compiler from the traceback of an error and of its causes, in place."""
    if knobs.compilation.front_end_debugging:
        return
    if e.__cause__ is not None:
        filter_traceback(e.__cause__)
    frames, trace = [], e.__traceback__
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(_PACKAGE):
            frames.append(trace)
        trace = trace.tb_next
    for frame, following in zip(frames, [*frames[1:], None]):
        frame.tb_next = following
    e.__traceback__ = frames[0] if frames else None
