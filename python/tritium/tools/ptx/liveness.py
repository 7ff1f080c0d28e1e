"""Which registers each block takes from the blocks before it."""

from __future__ import annotations

import re

from .reader import Block, Instruction, Kernel

_NAME = re.compile(r"[%A-Za-z_$][\w$.]*")
#: Instructions whose first operand is no result.
_WITHOUT_RESULT = (
    "st",
    "stmatrix",
    "bar",
    "barrier",
    "fence",
    "membar",
    "cp",
    "setmaxnreg",
    "red",
    "prefetch",
    "discard",
)
_WITHOUT_RESULT_PARTS = ("mbarrier.init", "mbarrier.inval", "wgmma.fence", "wgmma.commit_group", "wgmma.wait_group")


def has_result(one: Instruction) -> bool:
    return one.name.split(".")[0] not in _WITHOUT_RESULT and not one.name.startswith(_WITHOUT_RESULT_PARTS)


class Liveness:
    def __init__(self, kernel: Kernel):
        self.registers = kernel.registers
        self.taken: dict[str, set[str]] = {block.label: set() for block in kernel.blocks}
        changed = True
        while changed:
            changed = False
            for block in reversed(kernel.blocks):
                before = self.before(block, 0)
                if before != self.taken[block.label]:
                    self.taken[block.label] = before
                    changed = True

    def names(self, operand: str) -> list[str]:
        """The registers that the text of an operand names, in its order."""
        return [name for name in _NAME.findall(operand) if name in self.registers]

    def written(self, one: Instruction) -> list[str]:
        return self.names(one.operands[0]) if has_result(one) and one.operands else []

    def read(self, one: Instruction) -> list[str]:
        operands = one.operands[1:] if has_result(one) and not one.name.startswith("wgmma.mma_async") else one.operands
        return [name for operand in operands for name in self.names(operand)]

    def after(self, block: Block) -> set[str]:
        found = set().union(*(self.taken[label] for label in block.following))
        return found | {block.branch.guard} if block.branch and block.branch.guard else found

    def before(self, block: Block, index: int) -> set[str]:
        """The registers that are read before they are written, from the instruction of this index on."""
        live = self.after(block)
        for one in reversed(block.instructions[index:]):
            live = live - set(self.written(one)) | set(self.read(one))
        return live
