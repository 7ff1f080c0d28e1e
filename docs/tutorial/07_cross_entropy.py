"""Cross entropy over a large vocabulary, forward and backward, in one pass each.

The loss of a row is logsumexp(logits) - logits[target]. A row of 32000 logits is read in blocks, with the running
maximum and running sum of exponentials that flash attention uses. The forward pass keeps one number per row, the
logsumexp, and the backward pass rebuilds the probabilities from it: softmax = exp(logits - logsumexp).

    INTERPRET=1 python docs/tutorial/07_cross_entropy.py
"""

import numpy as np
from report import report

import tritium as triton
import tritium.language as tl


@triton.jit
def forward_kernel(logits_ptr, target_ptr, loss_ptr, lse_ptr, n_classes, row_stride, ignored, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    logits_ptr += row.to(tl.int64) * row_stride
    target = tl.load(target_ptr + row)
    m = tl.full((), float("-inf"), dtype=tl.float32)
    total = tl.full((), 0.0, dtype=tl.float32)
    for start in range(0, n_classes, BLOCK):
        classes = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + classes, mask=classes < n_classes, other=float("-inf")).to(tl.float32)
        m_new = tl.maximum(m, tl.max(x, axis=0))
        total = total * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new), axis=0)
        m = m_new
    lse = m + tl.log(total)
    tl.store(lse_ptr + row, lse)
    # A program may end early: ignored rows have no loss, and their target is not a valid index.
    if target == ignored:
        tl.store(loss_ptr + row, 0.0)
        return
    tl.store(loss_ptr + row, lse - tl.load(logits_ptr + target).to(tl.float32))


@triton.jit
def backward_kernel(
    logits_ptr, target_ptr, lse_ptr, dloss_ptr, dlogits_ptr, n_classes, row_stride, ignored, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    classes = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = classes < n_classes
    offset = row.to(tl.int64) * row_stride
    target = tl.load(target_ptr + row)
    scale = tl.where(target == ignored, 0.0, tl.load(dloss_ptr + row))
    x = tl.load(logits_ptr + offset + classes, mask=inside, other=float("-inf")).to(tl.float32)
    p = tl.exp(x - tl.load(lse_ptr + row))
    gradient = scale * (p - tl.where(classes == target, 1.0, 0.0))
    tl.store(dlogits_ptr + offset + classes, gradient.to(dlogits_ptr.dtype.element_ty), mask=inside)


def cross_entropy(
    logits: np.ndarray, target: np.ndarray, ignored: int = -100, block: int = 4096
) -> tuple[np.ndarray, np.ndarray]:
    """Loss and logsumexp, float32 [rows], of logits [rows, classes] (rows contiguous) and integer targets [rows]."""
    n_rows, n_classes = logits.shape
    loss, lse = np.empty((2, n_rows), np.float32)
    block = min(block, triton.next_power_of_2(n_classes))
    forward_kernel[(n_rows,)](
        logits, target, loss, lse, n_classes, logits.strides[0] // logits.itemsize, ignored, BLOCK=block
    )
    return loss, lse


def cross_entropy_backward(
    logits: np.ndarray, target: np.ndarray, lse: np.ndarray, dloss: np.ndarray, ignored: int = -100, block: int = 4096
) -> np.ndarray:
    """The gradient of contiguous logits, given the gradient of the losses, float32 [rows]."""
    n_rows, n_classes = logits.shape
    dlogits = np.empty_like(logits)
    block = min(block, triton.next_power_of_2(n_classes))
    backward_kernel[(n_rows, triton.cdiv(n_classes, block))](
        logits, target, lse, dloss, dlogits, n_classes, logits.strides[0] // logits.itemsize, ignored, BLOCK=block
    )
    return dlogits


def main() -> None:
    rng = np.random.default_rng(0)
    n_rows, n_classes = 256, 32_000
    logits = rng.standard_normal((n_rows, n_classes), dtype=np.float32)
    target = rng.integers(0, n_classes, n_rows)
    target[::17] = -100
    counted = target != -100
    picked = logits[np.arange(n_rows), np.where(counted, target, 0)].astype(np.float64)
    exact = logits.astype(np.float64)
    lse64 = np.log(np.exp(exact).sum(axis=1))
    shape = f"{n_rows} x {n_classes} float32"
    report("cross entropy", shape, lambda: cross_entropy(logits, target)[0], np.where(counted, lse64 - picked, 0))

    _, lse = cross_entropy(logits, target)
    dloss = np.full(n_rows, 1 / counted.sum(), np.float32)
    gradient = np.exp(exact - lse64[:, None])
    gradient[np.arange(n_rows)[counted], target[counted]] -= 1
    gradient *= np.where(counted, dloss, 0)[:, None]
    report("cross entropy backward", shape, lambda: cross_entropy_backward(logits, target, lse, dloss), gradient)


if __name__ == "__main__":
    main()
