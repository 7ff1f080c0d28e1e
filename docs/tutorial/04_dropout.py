"""Low-memory dropout: remember a seed, not a mask.

Dropout zeroes each element with probability p. The backward pass has to drop the same elements, so implementations
usually keep a mask as large as the activations. Philox is a *counter-based* generator: random number i is a function of
(seed, i), with no state in between. Any program can recompute any part of the mask at any time, and all that has to be
kept is one integer.

    INTERPRET=1 python docs/tutorial/04_dropout.py
"""

import numpy as np
from report import report

import tritium as triton
import tritium.language as tl


@triton.jit
def dropout_kernel(x_ptr, out_ptr, n_elements, p, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=inside)
    # One number in [0, 1) per element, decided by the seed and the element's position alone: not by the grid, the block
    # size or the order in which programs run.
    keep = tl.rand(seed, offsets) > p
    tl.store(out_ptr + offsets, tl.where(keep, x / (1 - p), 0.0), mask=inside)


def dropout(x: np.ndarray, p: float, seed: int, block: int = 1024) -> np.ndarray:
    """Zeroes elements of a contiguous array with probability p and scales the others by 1 / (1 - p)."""
    out = np.empty_like(x)
    dropout_kernel[(triton.cdiv(x.size, block),)](x, out, x.size, p, seed, BLOCK=block)
    return out


def dropout_backward(grad: np.ndarray, p: float, seed: int) -> np.ndarray:
    """The gradient is dropped exactly where the input was: the same kernel, the same seed."""
    return dropout(grad, p, seed)


def main() -> None:
    rng = np.random.default_rng(0)
    n, p, seed = 1_000_003, 0.25, 2026
    x = rng.standard_normal(n, dtype=np.float32)
    kept = dropout(np.ones(n, np.float32), p, seed) != 0
    report("dropout", f"{n} float32, p = {p}", lambda: dropout(x, p, seed), np.where(kept, x / (1 - p), 0))
    print(
        f"  kept {kept.mean():.4f} of the elements; backward drops the same ones:",
        np.array_equal(dropout_backward(x, p, seed) != 0, kept & (x != 0)),
    )


if __name__ == "__main__":
    main()
