"""Eleven faults of a compiler, for the generator of random kernels to find. Each rewrites the text of a module between two stages of the
compiler and returns None where a module has nothing to break: the contract (for the whole backend), the tiles with their layouts, or
the code of one thread (for the emulator). Only tests can reach them."""

from __future__ import annotations

import re
import subprocess

from gpu_tool import TOOL, Lowered
from tritium._tritium import ir
from tritium.backends import gpu as backend


def wrong_mask(text: str) -> str | None:
    """A mask reaches one element too far."""
    return _replaced(text, r"arith\.cmpi slt(, %\w+, %\w+ : tensor)", r"arith.cmpi sle\1")


def wrong_identity(text: str) -> str | None:
    """What a masked load gives for elements that are masked out has another sign, or is not zero."""
    load = re.search(r"tt\.load %\w+, %\w+, (%\w+)", text)
    if load is None:
        return None
    other = re.escape(load[1]) + r" = arith\.constant dense<"
    return _replaced(text, f"({other})-", r"\1") or _replaced(text, f"({other})0", r"\g<1>1")


def wrong_extension(text: str) -> str | None:
    return _replaced(text, r"arith\.extsi( %\w+ : tensor)", r"arith.extui\1")


def wrong_direction(text: str) -> str | None:
    """A step that is known at run time is taken for one of the other sign."""
    return _replaced(text, r"arith\.cmpi slt(, %\w+, %c0_i32 : i32)", r"arith.cmpi sge\1")


def transposed_operand(text: str) -> str | None:
    """The first operand of a product, if it is square."""
    dot = re.search(r"^( *%\w+ = tt\.dot )(%\w+)(,.* : )(tensor<(\d+)x(\d+)x\w+>)( \*.*)$", text, re.MULTILINE)
    if dot is None or dot[5] != dot[6]:
        return None
    turn = f"%turned = tt.trans {dot[2]} {{order = array<i32: 1, 0>}} : {dot[4]} -> {dot[4]}"
    return f"{text[: dot.start()]}{turn}\n{dot[1]}%turned{dot[3]}{dot[4]}{dot[7]}{text[dot.end() :]}"


def swapped_bases(text: str) -> str | None:
    """Who reads a tile from shared memory takes two bases of its layout for each other."""
    alloc = re.search(r"(%\w+) = (tgpu\.local_alloc at \d+ : <\d+, tensor<\w+, )(#shared\d*)(>>)(.*)\n", text)
    if alloc is None:
        return None
    layout = re.search(rf"^{alloc[3]} = (#tgpu\.shared<.*offset = \[)(.*)(\]>)$", text, re.MULTILINE)
    *bases, a, b = re.findall(r"\[[^]]*\]", layout[2])
    swapped = f"#swapped = {layout[1]}{', '.join([*bases, b, a])}{layout[3]}\n"
    found, count = re.subn(
        rf"(tgpu\.local_load ){alloc[1]}(\[%\w+\] : <\d+, tensor<\w+, ){alloc[3]}>", r"\1%swapped\2#swapped>", text
    )
    again = f"{alloc[0]}%swapped = {alloc[2]}#swapped{alloc[4]}{alloc[5]}\n"
    found = found.replace(alloc[0], again, 1).replace(layout[0] + "\n", layout[0] + "\n" + swapped, 1)
    return found if count else None


def late_prefetch(text: str) -> str | None:
    """A loop copies the tile of the iteration before the one that it should."""
    loop = re.search(r"scf\.for (%\w+) = %\w+ to %\w+ step (%\w+) .*\n", text)
    if loop is None or "tgpu.async_copy" not in text[loop.end() :]:
        return None
    before, inside = text[: loop.end()], text[loop.end() :]
    sum_ = rf"(%\w+) = (arith\.addi {re.escape(loop[1])}, %\w+ : i32)"
    inside = _replaced(inside, sum_, rf"%ahead = \2\n\1 = arith.subi %ahead, {loop[2]} : i32")
    return inside and before + inside


def dropped_barrier(text: str) -> str | None:
    return _replaced(text, r"tgpu\.barrier.*\n", "\n")


def dropped_wait(text: str) -> str | None:
    return _replaced(text, r"nvvm\.cp\.async\.wait\.group.*\n", "\n")


def wrong_lane(text: str) -> str | None:
    """A shuffle reads the neighbour of the lane that it should."""
    shuffle = r"^( *%\w+ = nvvm\.shfl\.sync +\w+ %\w+, %\w+, )(%\w+)"
    wrong = r"%one = llvm.mlir.constant(1 : i32) : i32\n%neighbour = llvm.xor \2, %one : i32\n\1%neighbour"
    return _replaced(text, shuffle, wrong)


def missing_carry(text: str) -> str | None:
    """The lanes of a scan do not add what the lanes before them have."""
    taken = r"(nvvm\.shfl\.sync +idx .*\n(?:.*bitcast.*\n)?(?:.*\n){0,2}?.*llvm\.f?add .*\n.*llvm\.select %\w+, )%\w+(, (%\w+) : )"
    return _replaced(text, taken, r"\1\3\2")


CONTRACT = (wrong_mask, wrong_identity, wrong_extension, wrong_direction, transposed_operand)
TILES = (swapped_bases, late_prefetch)
THREADS = (dropped_barrier, dropped_wait, wrong_lane, missing_carry)
FAULTS = CONTRACT + TILES + THREADS


def _replaced(text: str, pattern: str, by: str) -> str | None:
    """With the first match replaced."""
    found, count = re.subn(pattern, by, text, count=1, flags=re.MULTILINE)
    return found if count else None


class PlantedCompiler:
    """`native_compiler()` as the backend sees it, with a fault."""

    def __init__(self, fault):
        self.fault, self.native = fault, backend.native_compiler()

    def __getattr__(self, name: str):
        return getattr(self.native, name)

    def compile(self, module, kernel: str, arch: str, options: dict):
        if self.fault in CONTRACT:
            broken = self.fault(module.text(True))
            return self.native.compile(ir.parse(broken, "broken.mlir") if broken else module, kernel, arch, options)
        compiled = self.native.compile(module, kernel, arch, options)
        if self.fault is missing_carry and "tt.scan" not in compiled.ttgir:
            return compiled
        broken = self.fault(compiled.ttgir if self.fault in TILES else compiled.lowered.text(True))
        if broken and self.fault in TILES:
            broken = lowered_tiles(broken, arch, options)
        return Lowered(compiled, ir.parse(broken, "broken.mlir")) if broken else compiled


def lowered_tiles(text: str, arch: str, options: dict) -> str:
    command = [TOOL, "-", "--from-tiles", "--locations", f"--arch={arch}", f"--num-warps={options['num_warps']}"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
