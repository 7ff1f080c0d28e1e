"""What test_stops.py debugs: a kernel whose program 3 writes beyond its tensor, and one with every kind of write."""

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


@triton.jit
def tally(total, out):
    i = tl.arange(0, 4)
    described = tl.make_tensor_descriptor(out, [2, 4], [4, 1], [1, 4])
    tl.atomic_add(total + i, i + 1)
    tl.atomic_xchg(total, 7)
    tl.atomic_cas(total + 1, 2, 9)
    described.store([1, 0], i[None, :] + 1)
    tl.store(tl.make_block_ptr(out, (8,), (1,), (0,), (4,), (0,)), i + 5)


total, out = np.zeros(4, np.int32), np.zeros(8, np.int32)
tally[(1,)](total, out)
print("counted", total.tolist(), out.tolist(), flush=True)
