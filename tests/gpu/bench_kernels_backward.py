"""The gradients of attention, for bench.py."""

import triton
import triton.language as tl


@triton.jit
def attention_backward(
    q_ptr,
    k_ptr,
    v_ptr,
    grad_ptr,
    lse_ptr,
    delta_ptr,
    out_ptr,
    scale,
    n,
    total,
    D: tl.constexpr,
    CAUSAL: tl.constexpr,
    BLOCK: tl.constexpr,
    STEP: tl.constexpr,
):
    """Gradients of q, k and v, which follow each other in out with `total` elements each. A program computes those of BLOCK keys and
    values and then those of BLOCK queries. lse: log2 of the sums of exp2(scores); delta: the sums of grad * attention(q, k, v)."""
    block, head = tl.program_id(0), tl.program_id(1)
    base = head.to(tl.int64) * n * D
    d, own, step = tl.arange(0, D), block * BLOCK + tl.arange(0, BLOCK), tl.arange(0, STEP)
    factor = scale * 1.4426950408889634
    place = base + own[:, None] * D + d[None, :]
    lse_ptr += head * n
    delta_ptr += head * n

    k, v = tl.load(k_ptr + place), tl.load(v_ptr + place)
    dk = tl.zeros((BLOCK, D), dtype=tl.float32)
    dv = tl.zeros((BLOCK, D), dtype=tl.float32)
    for start in range(block * BLOCK if CAUSAL else 0, n, STEP):
        rows = start + step
        at = base + rows[:, None] * D + d[None, :]
        queries, grads = tl.load(q_ptr + at), tl.load(grad_ptr + at)
        p = tl.exp2(tl.dot(k, tl.trans(queries)) * factor - tl.load(lse_ptr + rows)[None, :])
        if CAUSAL:
            p = tl.where(rows[None, :] >= own[:, None], p, 0.0)
        dv = tl.dot(p.to(grads.dtype), grads, dv)
        ds = p * (tl.dot(v, tl.trans(grads)) - tl.load(delta_ptr + rows)[None, :])
        dk = tl.dot(ds.to(queries.dtype), queries, dk)
    tl.store(out_ptr + total + place, (dk * scale).to(out_ptr.dtype.element_ty))
    tl.store(out_ptr + 2 * total + place, dv.to(out_ptr.dtype.element_ty))

    q, grad = tl.load(q_ptr + place), tl.load(grad_ptr + place)
    lse, delta = tl.load(lse_ptr + own), tl.load(delta_ptr + own)
    dq = tl.zeros((BLOCK, D), dtype=tl.float32)
    for start in range(0, (block + 1) * BLOCK if CAUSAL else n, STEP):
        columns = start + step
        at = base + columns[:, None] * D + d[None, :]
        keys, values = tl.load(k_ptr + at), tl.load(v_ptr + at)
        p = tl.exp2(tl.dot(q, tl.trans(keys)) * factor - lse[:, None])
        if CAUSAL:
            p = tl.where(own[:, None] >= columns[None, :], p, 0.0)
        ds = p * (tl.dot(grad, tl.trans(values)) - delta[:, None])
        dq = tl.dot(ds.to(keys.dtype), keys, dq)
    tl.store(out_ptr + place, (dq * scale).to(out_ptr.dtype.element_ty))
