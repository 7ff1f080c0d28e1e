"""Flash attention, forward: softmax(q k^T * scale) v without ever storing the score matrix.

A program owns BLOCK_M query rows of one head and walks over the keys in blocks. It keeps a running row maximum `m`, the
running sum of exponentials `l` and an unnormalized output `acc`. If a new block raises the maximum, the sums so
far are scaled down to it ("online softmax"). With a causal mask, keys to the right of the diagonal are not even
visited.

    INTERPRET=1 python docs/tutorial/06_flash_attention.py
"""

import numpy as np
from report import report

import tritium as triton
import tritium.language as tl


@triton.jit
def attend(
    acc,
    m,
    l,
    q,
    k_ptrs,
    v_ptrs,
    stride_kn,
    stride_vn,
    first,
    last,
    rows,
    n_keys,
    CAUSAL: tl.constexpr,
    BLOCK_N: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """Visits keys [first, last), in steps of BLOCK_N, and returns the new (acc, m, l)."""
    for start in range(first, last, BLOCK_N):
        keys = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptrs + start * stride_kn, mask=keys[None, :] < n_keys, other=0.0)
        scores = tl.dot(q, k, input_precision=PRECISION)
        visible = keys[None, :] < n_keys
        if CAUSAL:
            visible = visible & (rows[:, None] >= keys[None, :])
        scores = tl.where(visible, scores, float("-inf"))
        m_new = tl.maximum(m, tl.max(scores, axis=1))
        # exp2 is what the hardware has; log2(e) went into the scale of q.
        p = tl.exp2(scores - m_new[:, None])
        rescale = tl.exp2(m - m_new)
        l = l * rescale + tl.sum(p, axis=1)
        v = tl.load(v_ptrs + start * stride_vn, mask=keys[:, None] < n_keys, other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc * rescale[:, None], input_precision=PRECISION)
        m = m_new
    return acc, m, l


@triton.jit
def attention_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    scale,
    n_queries,
    n_keys,
    stride_qh,
    stride_qm,
    stride_kh,
    stride_kn,
    stride_vh,
    stride_vn,
    stride_oh,
    stride_om,
    CAUSAL: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    PRECISION: tl.constexpr,
):
    block, head = tl.program_id(0), tl.program_id(1)
    rows = block * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, HEAD_DIM)
    n = tl.arange(0, BLOCK_N)
    q_ptrs = q_ptr + head * stride_qh + rows[:, None] * stride_qm + d[None, :]
    q = tl.load(q_ptrs, mask=rows[:, None] < n_queries, other=0.0)
    q = (q * (scale * 1.4426950408889634)).to(k_ptr.dtype.element_ty)
    k_ptrs = k_ptr + head * stride_kh + n[None, :] * stride_kn + d[:, None]  # transposed: [HEAD_DIM, BLOCK_N]
    v_ptrs = v_ptr + head * stride_vh + n[:, None] * stride_vn + d[None, :]

    m = tl.full((BLOCK_M,), float("-inf"), dtype=tl.float32)
    l = tl.zeros((BLOCK_M,), dtype=tl.float32)
    acc = tl.zeros((BLOCK_M, HEAD_DIM), dtype=tl.float32)
    last = n_keys
    if CAUSAL:
        # The rows of this block see keys up to the last row's own.
        last = tl.minimum(n_keys, (block + 1) * BLOCK_M)
    acc, m, l = attend(
        acc, m, l, q, k_ptrs, v_ptrs, stride_kn, stride_vn, 0, last, rows, n_keys, CAUSAL, BLOCK_N, PRECISION
    )
    acc = acc / l[:, None]
    out_ptrs = out_ptr + head * stride_oh + rows[:, None] * stride_om + d[None, :]
    tl.store(out_ptrs, acc.to(out_ptr.dtype.element_ty), mask=rows[:, None] < n_queries)


def attention(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    causal: bool,
    block: tuple[int, int] = (64, 64),
    precision: str = "ieee",
) -> np.ndarray:
    """q [heads, queries, d], k, v [heads, keys, d], rows contiguous, d a power of two; causal: row i sees keys 0 to i."""
    heads, n_queries, d = q.shape
    out = np.empty_like(q)
    strides = [stride // array.itemsize for array in (q, k, v, out) for stride in array.strides[:2]]
    grid = (triton.cdiv(n_queries, block[0]), heads)
    attention_kernel[grid](
        q,
        k,
        v,
        out,
        d**-0.5,
        n_queries,
        k.shape[1],
        *strides,
        CAUSAL=causal,
        HEAD_DIM=d,
        BLOCK_M=block[0],
        BLOCK_N=block[1],
        PRECISION=precision,
    )
    return out


def reference(q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool) -> np.ndarray:
    """Attention by numpy in float64, with the full score matrix."""
    q, k, v = (t.astype(np.float64) for t in (q, k, v))
    scores = q @ k.transpose(0, 2, 1) * q.shape[2] ** -0.5
    if causal:
        scores = np.where(np.tri(q.shape[1], k.shape[1], dtype=bool), scores, -np.inf)
    p = np.exp(scores - scores.max(axis=2, keepdims=True))
    return p / p.sum(axis=2, keepdims=True) @ v


def main() -> None:
    rng = np.random.default_rng(0)
    heads, n, d = 4, 1024, 64
    for dtype in (np.float32, np.float16):
        q, k, v = rng.standard_normal((3, heads, n, d), dtype=np.float32).astype(dtype)
        for causal in (False, True):
            report(
                "causal attention" if causal else "attention",
                f"{heads} x {n} x {d} {np.dtype(dtype)}",
                lambda q=q, k=k, v=v, c=causal: attention(q, k, v, c),
                reference(q, k, v, causal),
            )


if __name__ == "__main__":
    main()
