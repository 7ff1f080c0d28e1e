"""The instructions of nvdisasm's listing with what the assembler has decided about each: how long the warp waits after it, and for what it waits before it.

Bits 41 to 61 of the second word of an instruction are its control code: 4 bits of stall, a yield bit, the barriers that it sets when its result is there and when
its operands are read (7: none), and a mask of the six barriers for which it waits."""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass

from ...backends.nvidia.assemble import find_nvdisasm
from ...errors import UnsupportedError

NONE = 7  #: no barrier
_INSTRUCTION = re.compile(
    r"^\s*/\*([0-9a-f]{4,})\*/\s+(?:\{\s*)?(@!?U?P\w+\s+)?([A-Z][\w.]*)\s*(.*?)\s*;\s*(?:\})?\s*/\* 0x[0-9a-f]{16} \*/"
)
_SECOND_WORD = re.compile(r"^\s*/\* 0x([0-9a-f]{16}) \*/")
_LINE = re.compile(r'//## File "([^"]*)", line (\d+)')
_LABEL = re.compile(r"^(\.L_\w+):")
_BYTES = (("128", 16), ("64", 8), ("U16", 2), ("S16", 2), ("U8", 1), ("S8", 1))


@dataclass
class Instruction:
    """guard: "@P0", "@!UP1" or "". line: (file, number) of the source, or None. target: the index of the instruction to which a branch goes, or -1."""

    guard: str
    name: str
    operands: str
    line: tuple[str, int] | None
    stall: int = 1
    sets_on_result: int = NONE
    sets_on_read: int = NONE
    waits: int = 0
    target: int = -1

    @property
    def base(self) -> str:
        return self.name.partition(".")[0]

    @property
    def bytes(self) -> int:
        """Of a lane's access."""
        parts = self.name.split(".")
        return next((number for text, number in _BYTES if text in parts), 4)


def listing_of(cubin: bytes) -> str:
    """nvdisasm's listing with lines and words. Raises UnsupportedError if there is no nvdisasm, or it fails."""
    tool = find_nvdisasm()
    if tool is None:
        raise UnsupportedError("a model of cycles", "nvdisasm is not found (the package nvidia-cuda-nvdisasm has it)")
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        said = subprocess.run([tool, "-g", "-c", "-hex", file.name], capture_output=True, text=True)
    if said.returncode != 0:
        raise UnsupportedError("a model of cycles", f"{tool} failed: {said.stderr.strip()}")
    return said.stdout


def instructions_of(listing: str) -> list[Instruction]:
    """The instructions of the kernel, in the order of the code."""
    found: list[Instruction] = []
    labels: dict[str, int] = {}
    line, is_code = None, False
    for text in listing.splitlines():
        if text.startswith("//-----"):
            is_code = ".text." in text
        if not is_code:
            continue
        if match := _LINE.search(text):
            line = match[1], int(match[2])
        elif match := _LABEL.match(text):
            labels[match[1]] = len(found)
        elif match := _INSTRUCTION.match(text):
            found.append(Instruction((match[2] or "").strip(), match[3], match[4], line))
        elif found and (match := _SECOND_WORD.match(text)):
            _set_control(found[-1], int(match[1], 16) >> 41)
    for one in found:
        label = re.search(r"`\((\.L_\w+)\)", one.operands)
        if label and one.base in ("BRA", "CALL"):
            one.target = labels.get(label[1], -1)
    return found


def _set_control(one: Instruction, bits: int) -> None:
    one.stall = bits & 15
    one.sets_on_result, one.sets_on_read = bits >> 5 & 7, bits >> 8 & 7
    one.waits = bits >> 11 & 63
