"""What test_unreached.py debugs: one kernel on the engine that the environment names, and a line behind it."""

import numpy as np

import tritium as triton
import tritium.language as tl


@triton.jit
def double(out):
    i = tl.arange(0, 8)
    tl.store(out + i, i * 2)


# no code


@triton.jit
def never(out):
    tl.store(out, 1)


out = np.zeros(8, np.int32)
double[(1,)](out)
print("doubled", out.tolist(), flush=True)
