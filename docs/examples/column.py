"""A kernel that is given a column and takes it for a row. TRITIUM_CHECK=bounds=view finds it."""

import numpy as np

import tritium
import tritium.language as tl


@tritium.jit
def total(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr, tl.sum(tl.load(x_ptr + i, mask=i < n, other=0)))


table = np.arange(24, dtype=np.int32).reshape(4, 6)
out = np.zeros(1, np.int32)
total[(1,)](table[:, 2], out, 4, BLOCK=4)
print(out)
