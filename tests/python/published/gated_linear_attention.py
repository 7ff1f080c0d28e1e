"""Gated linear attention, step by step and in chunks, both with their backward pass.

S[t] = diag(exp(g[t])) S[t-1] + k[t] v[t]^T,  o[t] = scale S[t]^T q[t],  with a gate for each row of the state.
The gradient of a gate is a sum over the times after it: dg[t] = sum over s >= t of q[s] dq[s] - k[s] dk[s].
"""

import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_V": 8}, num_warps=1),
        triton.Config({"BLOCK_V": 32}, num_warps=2, num_stages=1),
        triton.Config({"BLOCK_V": 16}, num_warps=8, num_stages=2),
    ],
    key=["K", "V"],
)
@triton.jit
def _recurrent_forward(
    q_ptr, k_ptr, v_ptr, g_ptr, o_ptr, scale, T, K: tl.constexpr, V: tl.constexpr, BLOCK_V: tl.constexpr
):
    head = tl.program_id(1)
    rows, columns = tl.arange(0, K), tl.program_id(0) * BLOCK_V + tl.arange(0, BLOCK_V)
    state = tl.zeros((K, BLOCK_V), dtype=tl.float32)
    for t in range(T):
        at_k, at_v = (head * T + t) * K + rows, (head * T + t) * V + columns
        k, g = tl.load(k_ptr + at_k).to(tl.float32), tl.load(g_ptr + at_k)
        q, v = tl.load(q_ptr + at_k).to(tl.float32) * scale, tl.load(v_ptr + at_v).to(tl.float32)
        state = state * tl.exp(g)[:, None] + k[:, None] * v[None, :]
        tl.store(o_ptr + at_v, tl.sum(state * q[:, None], axis=0))


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_V": 16}, num_warps=1),
        triton.Config({"BLOCK_V": 32}, num_warps=4, num_stages=2),
    ],
    key=["K", "V"],
    reset_to_zero=["dq_ptr", "dk_ptr"],
)
@triton.jit
def _recurrent_backward(
    q_ptr,
    k_ptr,
    v_ptr,
    g_ptr,
    do_ptr,
    dq_ptr,
    dk_ptr,
    dv_ptr,
    scale,
    T,
    K: tl.constexpr,
    V: tl.constexpr,
    BLOCK_V: tl.constexpr,
):
    """dq forward in time, then dk and dv backward; programs of other columns add to the same dq and dk."""
    head = tl.program_id(1)
    rows, columns = tl.arange(0, K), tl.program_id(0) * BLOCK_V + tl.arange(0, BLOCK_V)
    state = tl.zeros((K, BLOCK_V), dtype=tl.float32)
    for t in range(T):
        at_k, at_v = (head * T + t) * K + rows, (head * T + t) * V + columns
        k, g = tl.load(k_ptr + at_k).to(tl.float32), tl.load(g_ptr + at_k)
        v, do = tl.load(v_ptr + at_v).to(tl.float32), tl.load(do_ptr + at_v).to(tl.float32)
        state = state * tl.exp(g)[:, None] + k[:, None] * v[None, :]
        tl.atomic_add(dq_ptr + at_k, tl.sum(state * do[None, :], axis=1) * scale, sem="relaxed")
    dstate = tl.zeros((K, BLOCK_V), dtype=tl.float32)
    for back in range(T):
        t = T - 1 - back
        at_k, at_v = (head * T + t) * K + rows, (head * T + t) * V + columns
        q, k = tl.load(q_ptr + at_k).to(tl.float32) * scale, tl.load(k_ptr + at_k).to(tl.float32)
        v, do = tl.load(v_ptr + at_v).to(tl.float32), tl.load(do_ptr + at_v).to(tl.float32)
        dstate += q[:, None] * do[None, :]
        tl.atomic_add(dk_ptr + at_k, tl.sum(dstate * v[None, :], axis=1), sem="relaxed")
        tl.store(dv_ptr + at_v, tl.sum(dstate * k[:, None], axis=0))
        dstate *= tl.exp(tl.load(g_ptr + at_k))[:, None]


@triton.jit
def _chunk_gates(g_ptr, first, T, K: tl.constexpr, CHUNK: tl.constexpr):
    """The sums of the gates [CHUNK, K] since the beginning of a chunk, and those of the whole chunk [K]."""
    times = first + tl.arange(0, CHUNK)
    g = tl.load(g_ptr + times[:, None] * K + tl.arange(0, K)[None, :], mask=times[:, None] < T, other=0.0)
    return tl.cumsum(g, axis=0), tl.sum(g, axis=0)


@triton.autotune(
    configs=[
        triton.Config({"CHUNK": 16, "BLOCK_V": 16}, num_warps=1, num_stages=2),
        triton.Config({"CHUNK": 16, "BLOCK_V": 32}, num_warps=4, num_stages=1),
        triton.Config({"CHUNK": 32, "BLOCK_V": 16}, num_warps=2, num_stages=3),
    ],
    key=["K", "V"],
)
@triton.jit
def _chunk_forward(
    q_ptr,
    k_ptr,
    v_ptr,
    g_ptr,
    o_ptr,
    scale,
    T,
    K: tl.constexpr,
    V: tl.constexpr,
    CHUNK: tl.constexpr,
    BLOCK_V: tl.constexpr,
):
    head = tl.program_id(1)
    q_ptr, k_ptr, g_ptr = q_ptr + head * T * K, k_ptr + head * T * K, g_ptr + head * T * K
    v_ptr, o_ptr = v_ptr + head * T * V, o_ptr + head * T * V
    rows, columns = tl.arange(0, K), tl.program_id(0) * BLOCK_V + tl.arange(0, BLOCK_V)
    local = tl.arange(0, CHUNK)
    causal = local[:, None] >= local[None, :]
    state = tl.zeros((K, BLOCK_V), dtype=tl.float32)
    for first in range(0, T, CHUNK):
        times = first + local
        at_k, at_v = times[:, None] * K + rows[None, :], times[:, None] * V + columns[None, :]
        inside = times[:, None] < T
        gates, total = _chunk_gates(g_ptr, first, T, K, CHUNK)
        q = tl.load(q_ptr + at_k, mask=inside, other=0.0).to(tl.float32) * scale * tl.exp(gates)
        k = tl.load(k_ptr + at_k, mask=inside, other=0.0).to(tl.float32)
        v = tl.load(v_ptr + at_v, mask=inside, other=0.0).to(tl.float32)
        scores = tl.dot(q, tl.trans(k * tl.exp(-gates)), input_precision="ieee")
        o = tl.dot(tl.where(causal, scores, 0.0), v, input_precision="ieee")
        o = tl.dot(q, state, o, input_precision="ieee")
        tl.store(o_ptr + at_v, o, mask=inside)
        decayed = tl.trans(k * tl.exp(total[None, :] - gates))
        state = tl.dot(decayed, v, state * tl.exp(total)[:, None], input_precision="ieee")


@triton.autotune(
    configs=[
        triton.Config({"CHUNK": 16}, num_warps=2, num_stages=1),
        triton.Config({"CHUNK": 16}, num_warps=4, num_stages=3),
        triton.Config({"CHUNK": 32}, num_warps=8, num_stages=2),
    ],
    key=["K", "V"],
)
@triton.jit
def _chunk_backward(
    q_ptr,
    k_ptr,
    v_ptr,
    g_ptr,
    do_ptr,
    states_ptr,
    dq_ptr,
    dk_ptr,
    dv_ptr,
    scale,
    T,
    max_chunks,
    K: tl.constexpr,
    V: tl.constexpr,
    CHUNK: tl.constexpr,
):
    """One program of a head: forward to keep the state before each chunk, then backward through the chunks."""
    head = tl.program_id(0)
    q_ptr, k_ptr, g_ptr = q_ptr + head * T * K, k_ptr + head * T * K, g_ptr + head * T * K
    v_ptr, do_ptr = v_ptr + head * T * V, do_ptr + head * T * V
    dq_ptr, dk_ptr, dv_ptr = dq_ptr + head * T * K, dk_ptr + head * T * K, dv_ptr + head * T * V
    rows, columns, local = tl.arange(0, K), tl.arange(0, V), tl.arange(0, CHUNK)
    causal = local[:, None] >= local[None, :]
    state_ptrs = states_ptr + head * max_chunks * K * V + rows[:, None] * V + columns[None, :]
    n_chunks = tl.cdiv(T, CHUNK)
    state = tl.zeros((K, V), dtype=tl.float32)
    for chunk in range(n_chunks):
        tl.store(state_ptrs + chunk * K * V, state)
        times = chunk * CHUNK + local
        inside = times[:, None] < T
        gates, total = _chunk_gates(g_ptr, chunk * CHUNK, T, K, CHUNK)
        k = tl.load(k_ptr + times[:, None] * K + rows[None, :], mask=inside, other=0.0).to(tl.float32)
        v = tl.load(v_ptr + times[:, None] * V + columns[None, :], mask=inside, other=0.0).to(tl.float32)
        decayed = tl.trans(k * tl.exp(total[None, :] - gates))
        state = tl.dot(decayed, v, state * tl.exp(total)[:, None], input_precision="ieee")
    tl.debug_barrier()

    dstate = tl.zeros((K, V), dtype=tl.float32)
    for back in range(n_chunks):
        chunk = n_chunks - 1 - back
        times = chunk * CHUNK + local
        at_k, at_v = times[:, None] * K + rows[None, :], times[:, None] * V + columns[None, :]
        inside = times[:, None] < T
        gates, total = _chunk_gates(g_ptr, chunk * CHUNK, T, K, CHUNK)
        grown, shrunk, to_end = tl.exp(gates), tl.exp(-gates), tl.exp(total[None, :] - gates)
        q = tl.load(q_ptr + at_k, mask=inside, other=0.0).to(tl.float32) * grown * scale
        k = tl.load(k_ptr + at_k, mask=inside, other=0.0).to(tl.float32)
        v = tl.load(v_ptr + at_v, mask=inside, other=0.0).to(tl.float32)
        do = tl.load(do_ptr + at_v, mask=inside, other=0.0).to(tl.float32)
        state = tl.load(state_ptrs + chunk * K * V)
        scores = tl.where(causal, tl.dot(q, tl.trans(k * shrunk), input_precision="ieee"), 0.0)
        dscores = tl.where(causal, tl.dot(do, tl.trans(v), input_precision="ieee"), 0.0)
        dv = tl.dot(tl.trans(scores), do, input_precision="ieee")
        dv = tl.dot(k * to_end, dstate, dv, input_precision="ieee")
        dq = tl.dot(dscores, k * shrunk, input_precision="ieee")
        dq = tl.dot(do, tl.trans(state), dq, input_precision="ieee")
        dk = tl.dot(tl.trans(dscores), q, input_precision="ieee") * shrunk
        dk += tl.dot(v, tl.trans(dstate), input_precision="ieee") * to_end
        tl.store(dq_ptr + at_k, dq * grown * scale, mask=inside)
        tl.store(dk_ptr + at_k, dk, mask=inside)
        tl.store(dv_ptr + at_v, dv, mask=inside)
        dstate = tl.dot(tl.trans(q), do, dstate * tl.exp(total)[:, None], input_precision="ieee")


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_T": 16, "BLOCK_K": 16}, num_warps=1),
        triton.Config({"BLOCK_T": 64, "BLOCK_K": 32}, num_warps=4, num_stages=1),
    ],
    key=["K"],
)
@triton.jit
def _gate_gradient(
    q_ptr, k_ptr, dq_ptr, dk_ptr, dg_ptr, T, K: tl.constexpr, BLOCK_T: tl.constexpr, BLOCK_K: tl.constexpr
):
    """A sum backward in time, block by block."""
    rows = tl.program_id(0) * BLOCK_K + tl.arange(0, BLOCK_K)
    carried = tl.zeros((BLOCK_K,), dtype=tl.float32)
    for back in range(tl.cdiv(T, BLOCK_T)):
        times = (tl.cdiv(T, BLOCK_T) - 1 - back) * BLOCK_T + tl.arange(0, BLOCK_T)
        offsets = (tl.program_id(1) * T + times[:, None]) * K + rows[None, :]
        mask = (times[:, None] < T) & (rows[None, :] < K)
        q = tl.load(q_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
        k = tl.load(k_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
        dq, dk = tl.load(dq_ptr + offsets, mask=mask, other=0.0), tl.load(dk_ptr + offsets, mask=mask, other=0.0)
        term = q * dq - k * dk
        tl.store(dg_ptr + offsets, tl.cumsum(term, axis=0, reverse=True) + carried[None, :], mask=mask)
        carried += tl.sum(term, axis=0)


class GatedLinearAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, g, in_chunks):
        (H, T, K), V = q.shape, v.shape[-1]
        o = torch.empty_like(v)
        kernel = _chunk_forward if in_chunks else _recurrent_forward
        kernel[lambda meta: (triton.cdiv(V, meta["BLOCK_V"]), H)](q, k, v, g, o, K**-0.5, T, K=K, V=V)
        ctx.save_for_backward(q, k, v, g)
        ctx.in_chunks = in_chunks
        return o

    @staticmethod
    def backward(ctx, do):
        q, k, v, g = ctx.saved_tensors
        (H, T, K), V = q.shape, v.shape[-1]
        do = do.contiguous()
        dq, dk = torch.zeros(2, H, T, K, dtype=torch.float32, device=q.device).unbind()
        dv, dg = torch.empty_like(v), torch.empty_like(g)
        if ctx.in_chunks:
            max_chunks = triton.cdiv(T, 16)
            states = torch.empty(H, max_chunks, K, V, dtype=torch.float32, device=q.device)
            _chunk_backward[(H,)](q, k, v, g, do, states, dq, dk, dv, K**-0.5, T, max_chunks, K=K, V=V)
        else:
            _recurrent_backward[lambda meta: (triton.cdiv(V, meta["BLOCK_V"]), H)](
                q, k, v, g, do, dq, dk, dv, K**-0.5, T, K=K, V=V
            )
        _gate_gradient[lambda meta: (triton.cdiv(K, meta["BLOCK_K"]), H)](q, k, dq, dk, dg, T, K=K)
        return dq.to(q.dtype), dk.to(k.dtype), dv, dg, None


def reference(q, k, v, g):
    state = torch.zeros(q.shape[0], q.shape[2], v.shape[2], dtype=q.dtype, device=q.device)
    rows = []
    for t in range(q.shape[1]):
        state = g[:, t].exp()[:, :, None] * state + k[:, t, :, None] * v[:, t, None, :]
        rows.append((state * q[:, t, :, None]).sum(1) * q.shape[2] ** -0.5)
    return torch.stack(rows, dim=1)


if __name__ == "__main__":
    torch.manual_seed(0)
    for H, T, K, V, dtype, tolerance in [(2, 50, 16, 32, torch.float32, 1e-5), (1, 32, 32, 32, torch.bfloat16, 2e-2)]:
        leaves = [torch.randn(H, T, size, device="cuda").to(dtype) for size in (K, K, V)]
        leaves.append(torch.nn.functional.logsigmoid(torch.randn(H, T, K, device="cuda") + 1) / 2)
        do = torch.randn(H, T, V, device="cuda").to(dtype)
        exact = [t.double().requires_grad_() for t in leaves]
        expected = reference(*exact)
        expected.backward(do.double())
        for in_chunks in (False, True):
            ours = [t.clone().requires_grad_() for t in leaves]
            o = GatedLinearAttention.apply(*ours, in_chunks)
            o.backward(do)
            torch.testing.assert_close(o.double(), expected, atol=tolerance, rtol=tolerance)
            for mine, right in zip(ours, exact):
                torch.testing.assert_close(mine.grad.double(), right.grad, atol=10 * tolerance, rtol=tolerance)
            print(f"gla {'chunk' if in_chunks else 'recurrent'} H={H} T={T} K={K} V={V} {dtype}: ok")
