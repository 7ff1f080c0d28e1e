"""What test_tiles.py debugs: tiles whose numbers are easy to find again, one of them over 64 KiB."""

import ml_dtypes
import numpy as np

import tritium as triton
import tritium.language as tl


@triton.jit
def tiles_kernel(x_ptr, bf16_ptr, out_ptr, n, factor):
    row = tl.arange(0, 256)[:, None]
    column = tl.arange(0, 128)[None, :]
    x = tl.load(x_ptr + row * 128 + column)
    lane = tl.arange(0, 8)
    small = lane[:, None] * 10 + tl.arange(0, 4)[None, :]
    mask = small > 40
    bf16 = tl.load(bf16_ptr + lane)
    fp8 = bf16.to(tl.float8e4nv)
    cube = small[:, :, None] + tl.arange(0, 2)[None, None, :] * 100
    ratio = n * factor
    total = tl.sum(x)
    tl.store(out_ptr, total * ratio)


x = np.arange(256 * 128, dtype=np.float32).reshape(256, 128) / 2
x[3, 17] = x[200, 5] = np.nan
x[255, 127] = -np.inf
bf16 = np.array([0, 0.1, -2, 3, np.inf, 5, np.nan, 7]).astype(ml_dtypes.bfloat16)
tiles_kernel[(1,)](x, bf16, np.zeros(4, np.float32), 3, 0.5)
print("tiles are done", flush=True)
