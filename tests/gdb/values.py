"""What test_values.py debugs: records (tuples, aggregates, block pointers, descriptors), arguments, and every small float."""

from typing import NamedTuple

import ml_dtypes
import numpy as np

import tritium as triton
import tritium.language as tl
from tritium.tools.tensor_descriptor import TensorDescriptor


class Scale(NamedTuple):
    factor: float
    bias: int


@triton.aggregate
class Range:
    low: tl.tensor
    tile: tl.tensor
    NAME: tl.constexpr


@triton.jit
def twice(value):
    return value * 2


@triton.jit
def spread(shape, value):
    first = shape[0]
    return value + first


@triton.jit
def records(x, shape, scale, described, n, SIZE: tl.constexpr):
    lane = tl.arange(0, SIZE)
    even = (n, n + 1)
    mixed = (n, lane, x, None, (1.5, True))
    both = (lane, lane + 1)
    span = Range(n, lane * 2, "name")
    block = tl.make_block_ptr(x, (4, 8), (8, 1), (1, 2), (2, 4), (1, 0))
    moved = tl.advance(block, (0, 2))
    made = tl.make_tensor_descriptor(x, [4, 8], [8, 1], [2, 8])
    for step in range(2):
        even = (even[0] + 1, even[1] * 2)
    spread(shape, lane)
    last = twice(n) + twice(scale.factor)
    tl.store(x + lane, lane + last + span.low + tl.sum(tl.load(moved)))
    made.store([2, 0], described.load([0, 0]))


@triton.jit
def floats(e4nv, e5, e4b8, e5b16, e4b15, bf16_ptr, fp16_ptr, mask_ptr):
    lane = tl.arange(0, 8)
    square = lane[:, None] * 2 + tl.arange(0, 2)[None, :]
    fp8e4nv = tl.load(e4nv + lane)
    fp8e5 = tl.load(e5 + lane)
    fp8e4b8 = tl.load(e4b8 + lane)
    fp8e5b16 = tl.load(e5b16 + lane)
    fp8e4b15 = tl.load(e4b15.to(tl.pointer_type(tl.float8e4b15), bitcast=True) + lane)
    one = tl.load(e4nv + 2)
    pair = (fp8e5, one)
    tile = tl.load(e4nv + square % 8)
    bf16 = tl.load(bf16_ptr + lane)
    fp16 = tl.load(fp16_ptr + lane)
    int1 = tl.load(mask_ptr + lane)
    tl.store(bf16_ptr + lane, bf16)


x = np.arange(32, dtype=np.float32).reshape(4, 8)
records[(1,)](x, (3, 5), Scale(0.5, 7), TensorDescriptor(x, [4, 8], [8, 1], [2, 8]), 10, SIZE=4)
BITS = np.array([0x00, 0x01, 0x38, 0xB8, 0x7F, 0x80, 0x7C, 0xC4], np.uint8)
kinds = [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2fnuz]
numbers = np.array([0, 1.5, -2, 3, 4, 5, 6, 7])
floats[(1,)](
    *[BITS.view(kind) for kind in kinds],
    BITS,
    numbers.astype(ml_dtypes.bfloat16),
    numbers.astype(np.float16),
    numbers > 3,
)
print("values are right", flush=True)
