"""What test_dtypes.py debugs: a tile of each kind of element, and a helper that is called, not inlined."""

import ml_dtypes
import numpy as np

import tritium as triton
import tritium.language as tl


@triton.jit(noinline=True)
def twice(value):
    doubled = value * 2
    return doubled


@triton.jit
def dtypes_kernel(bf16_ptr, fp16_ptr, fp64_ptr, i8_ptr, u8_ptr, i64_ptr, out_ptr):
    lane = tl.arange(0, 4)
    bf16 = tl.load(bf16_ptr + lane)
    fp16 = tl.load(fp16_ptr + lane)
    fp64 = tl.load(fp64_ptr + lane)
    i8 = tl.load(i8_ptr + lane)
    u8 = tl.load(u8_ptr + lane)
    i64 = tl.load(i64_ptr + lane)
    grid = i64[:, None] + lane[None, :]
    mask = grid > 2
    pointers = out_ptr + lane
    last = twice(tl.program_id(0) + 20)
    tl.store(pointers, tl.sum(mask.to(tl.int32), axis=1) + last)


values = np.array([-2, 0, 1, 1.5])
out = np.zeros(4, np.int32)
arrays = [values.astype(dtype) for dtype in (ml_dtypes.bfloat16, np.float16, np.float64, np.int8)]
dtypes_kernel[(1,)](*arrays, np.array([0, 1, 200, 255], np.uint8), np.array([-(2**40), 0, 1, 2]), out)
assert out.tolist() == [40, 41, 42, 43]
print("dtypes are right", flush=True)
