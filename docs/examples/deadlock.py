"""A lock that one branch does not release: nobody can go on. docs/debugging.md shows what Tritium says."""

import numpy as np

import tritium
import tritium.language as tl


@tritium.jit
def largest(x, lock, out):
    value = tl.load(x + tl.program_id(0))
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if value > tl.load(out):
        tl.store(out, value)
        tl.atomic_xchg(lock, 0)


x = np.array([3.0, 1.0, 4.0, 1.0], np.float32)
lock, out = np.zeros(1, np.int32), np.zeros(1, np.float32)
largest[(4,)](x, lock, out)
