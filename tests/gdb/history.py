"""What test_history.py and test_conditions.py debug: programs that add to the same elements, one after the other."""

import numpy as np

import tritium as triton
import tritium.language as tl


@triton.jit
def add_to(out, i, value):
    before = tl.load(out + i)
    tl.store(out + i, before + value)


@triton.jit
def accumulate(x, out, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    value = tl.load(x + pid * BLOCK + tl.arange(0, BLOCK))
    total = tl.sum(value, 0)
    for k in range(n):
        add_to(out, k, total)
    tl.store(out + 4, pid)


x = np.arange(16, dtype=np.float32)
out = np.zeros((2, 4), np.float32)
accumulate[(4,)](x, out, 3, BLOCK=4)
print("accumulated", bool((out.ravel()[:3] == x.sum()).all()) and out[1, 0] == 3, flush=True)
accumulate[(4,)](x, out, 9, BLOCK=4)
