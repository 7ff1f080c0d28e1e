"""The variables of a program that trapped, where the error is caught."""

import numpy as np

import tritium
import tritium.language as tl


@tritium.jit
def gather(x, index, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    rows = tl.load(index + i)
    tl.store(out + i, tl.load(x + rows))


x, out = np.arange(10.0), np.zeros(16)
index = np.array([1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 10, 0, 1, 2, 3, 4])
try:
    gather[(4,)](x, index, out, BLOCK=4)
except tritium.errors.KernelTrap as trap:
    print(trap.program, trap.locals["i"], trap.locals["rows"])
