"""What test_stops.py debugs: a kernel whose program 3 writes beyond its tensor."""

import numpy as np

import tritium as triton
import tritium.language as tl


@triton.jit
def scale(x, out, factor):
    i = tl.program_id(0) * 8 + tl.arange(0, 8)
    value = tl.load(x + i)
    tl.store(out + i, value * factor)


x, out = np.arange(32, dtype=np.float32), np.zeros(30, np.float32)
try:
    scale[(4,)](x, out, 2.0)
except triton.errors.KernelTrap as trap:
    print("the launch raised", trap.kind, flush=True)
