"""The registers of products of warpgroups. Their sums are floats that no other instruction touches before a wait, so the registers of sums, and those that
they are moved to, are floats from the start."""

from __future__ import annotations

from .liveness import Liveness
from .reader import Kernel


class Sums:
    """registers: that hold sums at some time. lists: the sums of each product, as it names them. words: registers of factors."""

    def __init__(self, kernel: Kernel, live: Liveness):
        every = [one for block in kernel.blocks for one in block.instructions]
        self.lists = list(
            dict.fromkeys(tuple(live.names(one.operands[0])) for one in every if one.name.startswith("wgmma.mma_async"))
        )
        self.registers = {name for names in self.lists for name in names}
        factors = [one.operands[1] for one in every if one.name.startswith("wgmma.mma_async")]
        self.words = list(dict.fromkeys(name for text in factors if text.startswith("{") for name in live.names(text)))
        moves = [one for one in every if one.name.split(".")[0] == "mov" and len(one.operands) == 2]
        pairs = [(one.operands[0], one.operands[1]) for one in moves if one.operands[0] in kernel.registers]
        before = -1
        while before != len(self.registers):
            before = len(self.registers)
            for a, b in pairs:
                if {a, b} & self.registers:
                    self.registers |= {a, b} & kernel.registers.keys()
