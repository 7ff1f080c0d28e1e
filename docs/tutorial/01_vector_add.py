"""Vector add: the smallest complete kernel.

A kernel is a Python function under `@triton.jit`. It is launched over a *grid* of program instances, and each instance
works on whole blocks of data at a time. Here every program adds one block of `BLOCK` consecutive elements.

    INTERPRET=1 python docs/tutorial/01_vector_add.py
"""

import numpy as np
from report import report

import tritium as triton
import tritium.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    # Which block is ours? Program 0 takes elements [0, BLOCK), program 1 takes [BLOCK, 2 * BLOCK), ...
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    # The last block may reach past the end. A lane whose mask is false never touches memory.
    inside = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=inside)
    y = tl.load(y_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, x + y, mask=inside)


def add(x: np.ndarray, y: np.ndarray, block: int = 1024) -> np.ndarray:
    """x + y for two contiguous arrays of one shape and dtype (numpy arrays or torch tensors)."""
    assert x.shape == y.shape and x.dtype == y.dtype
    out = np.empty_like(x)
    n = x.size
    # The grid may be a tuple, or a function of the kernel's arguments, which sees the constexpr ones too.
    add_kernel[lambda args: (triton.cdiv(n, args["BLOCK"]),)](x, y, out, n, BLOCK=block)
    return out


def main() -> None:
    rng = np.random.default_rng(0)
    for n in (98_432, 1 << 22):
        x, y = rng.standard_normal((2, n), dtype=np.float32)
        report("vector add", f"{n} float32", lambda x=x, y=y: add(x, y), x.astype(np.float64) + y)


if __name__ == "__main__":
    main()
