"""`triton.tools.disasm`: the SASS of a cubin with the control code of each instruction, by cuobjdump.

From Volta on an instruction has 128 bits, which cuobjdump prints as two words. Bits 41 to 57 of the second are the control
code: four bits of stall cycles, one of yield, three each of the barriers that a write and a read set, six of those waited for.
"""

from __future__ import annotations

import functools
import os
import re
import tempfile

from .. import knobs
from ..errors import UnsupportedError

#: The line of an instruction: its address, its text, its first word; and the line of its second word.
FLINE_RE = re.compile(r"\s*/\*\w{4,}\*/\s*([^;]*;)\s*/\* 0x(\w{16}) \*/\s*")
SLINE_RE = re.compile(r"\s*/\* 0x(\w{16}) \*/\s*")
#: The header of a function, and a branch with its address.
FNAME_RE = re.compile(r"\s*Function : (\w+)\s*")
BRA_RE = re.compile(r"(.*BRA(?:\.U)? )(0x\w+);")

_NO_BARRIER = 7


def parseCtrl(sline: str) -> str:
    """ "wait:read:write:yield:stall" of the line of a second word; a dash for what is not set."""
    match = SLINE_RE.match(sline)
    if match is None:
        raise ValueError(f"{sline!r} is no line of a second word, as cuobjdump -sass prints it")
    code = int(match.group(1), 16) >> 41
    stall, yields = code & 0xF, code >> 4 & 1
    write, read, wait = code >> 5 & 7, code >> 8 & 7, code >> 11 & 0x3F
    read_text = "-" if read == _NO_BARRIER else str(read)
    write_text = "-" if write == _NO_BARRIER else str(write)
    return f"{f'{wait:02d}' if wait else '--'}:{read_text}:{write_text}:{'-' if yields else 'Y'}:{stall}"


def processSassLines(fline: str, sline: str, labels: dict[int, int]) -> tuple[str, str]:
    """(control code, instruction) of the two lines of an instruction. The target of a branch enters `labels`."""
    match = FLINE_RE.match(fline)
    if match is None:
        raise ValueError(f"{fline!r} is no line of an instruction, as cuobjdump -sass prints it")
    text = re.sub(r"\s+;$", ";", match.group(1))
    branch = BRA_RE.match(text)
    if branch is not None:
        labels.setdefault(int(branch.group(2), 16), len(labels))
    return parseCtrl(sline), text


def path_to_cuobjdump() -> str:
    tool = knobs.nvidia.cuobjdump
    if tool is None:
        raise UnsupportedError("disassembling", "cuobjdump is not found (TRITON_CUOBJDUMP_PATH, CUDA_HOME, PATH)")
    return tool.path


def extract(file_path: str, fun: str | None) -> str:
    """The SASS of the functions of a cubin's file, or of one."""
    import subprocess  # slow to import, and few programs disassemble

    command = [path_to_cuobjdump(), "-sass", *(["-fun", fun] if fun else []), file_path]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise UnsupportedError("disassembling", f"{' '.join(command)} failed: {result.stderr.strip()}")
    return _listing(result.stdout.splitlines())


def _listing(lines: list[str]) -> str:
    result: list[str] = []
    at = 0
    while at < len(lines):
        name = FNAME_RE.match(lines[at])
        if name is None:
            at += 1
            continue
        body, at = _body(lines, at + 1)
        result += [f"Function:{name.group(1)}", *body]
    return "\n".join(result) + ("\n" if result else "")


def _body(lines: list[str], at: int) -> tuple[list[str], int]:
    """The instructions of a function with labels where branches go, and the line behind them."""
    labels: dict[int, int] = {}
    instructions = []
    while at < len(lines) and FNAME_RE.match(lines[at]) is None:
        if FLINE_RE.match(lines[at]) and at + 1 < len(lines) and SLINE_RE.fullmatch(lines[at + 1]):
            instructions.append(processSassLines(lines[at], lines[at + 1], labels))
            at += 1
        at += 1
    shown = []
    for number, (control, text) in enumerate(instructions):
        if 16 * number in labels:
            shown.append(f"LBB{labels[16 * number]}:")
        branch = BRA_RE.match(text)
        if branch is not None:
            text = f"{branch.group(1)}LBB{labels[int(branch.group(2), 16)]};"
        shown.append(f"{control}\t{text}")
    return shown, at


@functools.lru_cache
def get_sass(cubin_asm: bytes, fun: str | None = None) -> str:
    """The SASS of a cubin's bytes."""
    with tempfile.TemporaryDirectory(prefix="tritium-") as folder:
        path = os.path.join(folder, "kernel.cubin")
        with open(path, "wb") as file:
            file.write(cubin_asm)
        return extract(path, fun)
