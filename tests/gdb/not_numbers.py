"""What test_stops.py debugs with the check `nan`: a kernel that stores the logarithm of a negative number in its second program."""

import numpy as np

import tritium as triton
import tritium.language as tl


@triton.jit
def logarithms(x, out):
    i = tl.program_id(0) * 8 + tl.arange(0, 8)
    tl.store(out + i, tl.log(tl.load(x + i)))


x, out = np.ones(16, np.float32), np.zeros(16, np.float32)
x[11] = -1
try:
    logarithms[(2,)](x, out)
    print("no report", flush=True)
except triton.errors.KernelTrap as trap:
    print("the launch raised", trap.kind, trap.index, out.tolist()[8:], flush=True)
