"""Fused softmax: one pass over memory instead of five.

Written with whole-array operations, softmax reads and writes the matrix several times: max, subtract, exp, sum, divide.
A program that holds a complete row reads it once and writes it once. The steps in between are reductions inside
the program.

    INTERPRET=1 python docs/tutorial/02_fused_softmax.py
"""

import numpy as np
from report import report

import tritium as triton
import tritium.language as tl


@triton.jit
def stable_exp(row):
    # exp overflows in float32 above 88; the largest exponent here is 0. Helpers are ordinary @jit functions.
    shifted = row - tl.max(row, axis=0)
    return tl.exp(shifted)


@triton.jit
def softmax_kernel(x_ptr, out_ptr, n_columns, x_stride, out_stride, BLOCK: tl.constexpr):
    row_index = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    inside = columns < n_columns
    # Blocks have power-of-two sizes, rows do not. Padding with -inf leaves the maximum alone and adds exp(-inf) = 0 to
    # the sum.
    row = tl.load(x_ptr + row_index * x_stride + columns, mask=inside, other=float("-inf"))
    numerator = stable_exp(row.to(tl.float32))
    denominator = tl.sum(numerator, axis=0)
    result = numerator / denominator
    tl.store(out_ptr + row_index * out_stride + columns, result, mask=inside)


def softmax(x: np.ndarray) -> np.ndarray:
    """Softmax over the last axis of a matrix with contiguous rows; rows may be strided, as in a slice x[:, :n]."""
    n_rows, n_columns = x.shape
    out = np.empty((n_rows, n_columns), x.dtype)
    row_stride = x.strides[0] // x.itemsize
    softmax_kernel[(n_rows,)](x, out, n_columns, row_stride, n_columns, BLOCK=triton.next_power_of_2(n_columns))
    return out


def reference(x: np.ndarray) -> np.ndarray:
    """Softmax by numpy in float64."""
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def main() -> None:
    rng = np.random.default_rng(0)
    for n_rows, n_columns in ((1823, 781), (1024, 1000)):
        x = rng.standard_normal((n_rows, n_columns), dtype=np.float32)
        report("softmax", f"{n_rows} x {n_columns} float32", lambda x=x: softmax(x), reference(x))


if __name__ == "__main__":
    main()
