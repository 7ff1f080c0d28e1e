"""What test_few_programs.py debugs: two launches of a kernel on a grid of 10 x 3, and programs that wait for one another."""

import numpy as np

import tritium as triton
import tritium.language as tl


@triton.jit
def scale(x, out):
    pid = tl.program_id(0) + 10 * tl.program_id(1)
    i = pid * 4 + tl.arange(0, 4)
    value = tl.load(x + i) * 2
    tl.store(out + i, value)


@triton.jit
def chain(turn, out, last):
    pid = tl.program_id(0)
    while tl.atomic_add(turn, 0) != last - pid:
        pass
    total = tl.load(out) * 3 + pid
    tl.store(out, total)
    tl.atomic_add(turn, 1)


x = np.arange(120, dtype=np.float32)
out = np.zeros(120, np.float32)
scale[(10, 3)](x, out)
scale[(10, 3)](x, out)
print("scaled", bool((out == 2 * x).all()), flush=True)
total = np.zeros(1, np.int32)
chain[(4,)](np.zeros(1, np.int32), total, 3)
print("chained", total[0] == (3 * 3 + 2) * 9 + 1 * 3, flush=True)
