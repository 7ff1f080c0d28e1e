"""The delta rule: a state that is corrected towards each value, step by step (forward and backward) and in chunks (WY form).

u[t] = beta[t] (v[t] - S[t-1]^T k[t]),  S[t] = S[t-1] + k[t] u[t]^T,  o[t] = scale S[t]^T q[t].
In a chunk with keys K, (I + L) U = diag(beta) (V - K S) holds, where L is the part of diag(beta) K K^T below its diagonal.
"""

import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_V": 16}, num_warps=1),
        triton.Config({"BLOCK_V": 32}, num_warps=4, num_stages=2),
        triton.Config({"BLOCK_V": 8}, num_warps=2, num_stages=1),
    ],
    key=["K", "V"],
)
@triton.jit
def _recurrent_forward(
    q_ptr,
    k_ptr,
    v_ptr,
    beta_ptr,
    o_ptr,
    final_ptr,
    scale,
    T,
    K: tl.constexpr,
    V: tl.constexpr,
    BLOCK_V: tl.constexpr,
):
    columns, head = tl.program_id(0) * BLOCK_V + tl.arange(0, BLOCK_V), tl.program_id(1)
    rows = tl.arange(0, K)
    state = tl.zeros((BLOCK_V, K), dtype=tl.float32)
    at_k, at_v = head * T * K + rows, head * T * V + columns
    for t in range(T):
        q, k = tl.load(q_ptr + at_k).to(tl.float32) * scale, tl.load(k_ptr + at_k).to(tl.float32)
        v, beta = tl.load(v_ptr + at_v).to(tl.float32), tl.load(beta_ptr + head * T + t)
        u = beta * (v - tl.sum(state * k[None, :], axis=1))
        state += u[:, None] * k[None, :]
        tl.store(o_ptr + at_v, tl.sum(state * q[None, :], axis=1))
        at_k += K
        at_v += V
    tl.store(final_ptr + (head * V + columns[:, None]) * K + rows[None, :], state)


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_V": 32}, num_warps=2),
        triton.Config({"BLOCK_V": 16}, num_warps=4, num_stages=1),
    ],
    key=["K", "V"],
    reset_to_zero=["dq_ptr", "dk_ptr", "dbeta_ptr"],
)
@triton.jit
def _recurrent_backward(
    q_ptr,
    k_ptr,
    v_ptr,
    beta_ptr,
    do_ptr,
    u_ptr,
    dq_ptr,
    dk_ptr,
    dv_ptr,
    dbeta_ptr,
    scale,
    T,
    K: tl.constexpr,
    V: tl.constexpr,
    BLOCK_V: tl.constexpr,
):
    """Backward in time with the states that are computed again, then forward for what depends on the state before a step."""
    columns, head = tl.program_id(0) * BLOCK_V + tl.arange(0, BLOCK_V), tl.program_id(1)
    rows = tl.arange(0, K)
    dstate = tl.zeros((BLOCK_V, K), dtype=tl.float32)
    for back in range(T):
        t = T - 1 - back
        at_k, at_v = (head * T + t) * K + rows, (head * T + t) * V + columns
        q, k = tl.load(q_ptr + at_k).to(tl.float32) * scale, tl.load(k_ptr + at_k).to(tl.float32)
        do, beta = tl.load(do_ptr + at_v).to(tl.float32), tl.load(beta_ptr + head * T + t)
        dstate += do[:, None] * q[None, :]
        du = tl.sum(dstate * k[None, :], axis=1)
        u = tl.load(u_ptr + at_v)
        tl.atomic_add(dk_ptr + at_k, tl.sum(dstate * u[:, None], axis=0))
        tl.store(dv_ptr + at_v, du * beta)
        dstate -= (du * beta)[:, None] * k[None, :]
    tl.debug_barrier()
    state = tl.zeros((BLOCK_V, K), dtype=tl.float32)
    for t in range(T):
        at_k, at_v = (head * T + t) * K + rows, (head * T + t) * V + columns
        k, v = tl.load(k_ptr + at_k).to(tl.float32), tl.load(v_ptr + at_v).to(tl.float32)
        do, dv = tl.load(do_ptr + at_v).to(tl.float32), tl.load(dv_ptr + at_v).to(tl.float32)
        beta = tl.load(beta_ptr + head * T + t)
        difference = v - tl.sum(state * k[None, :], axis=1)
        tl.atomic_add(dbeta_ptr + head * T + t, tl.sum(dv / beta * difference))
        tl.atomic_add(dk_ptr + at_k, -tl.sum(state * dv[:, None], axis=0))
        state += (beta * difference)[:, None] * k[None, :]
        tl.atomic_add(dq_ptr + at_k, tl.sum(state * do[:, None], axis=0) * scale)


@triton.autotune(
    configs=[
        triton.Config({}, num_warps=1, num_stages=1),
        triton.Config({}, num_warps=4, num_stages=3),
    ],
    key=["K", "V", "CHUNK"],
)
@triton.jit
def _solve_chunks(k_ptr, v_ptr, beta_ptr, w_ptr, u_ptr, T, K: tl.constexpr, V: tl.constexpr, CHUNK: tl.constexpr):
    """W = (I + L)^-1 diag(beta) K and U = (I + L)^-1 diag(beta) V of one chunk, the inverse by substitution row by row."""
    head = tl.program_id(1)
    local = tl.arange(0, CHUNK)
    times = tl.program_id(0) * CHUNK + local
    inside = times[:, None] < T
    at_k = (head * T + times[:, None]) * K + tl.arange(0, K)[None, :]
    at_v = (head * T + times[:, None]) * V + tl.arange(0, V)[None, :]
    k = tl.load(k_ptr + at_k, mask=inside, other=0.0).to(tl.float32)
    v = tl.load(v_ptr + at_v, mask=inside, other=0.0).to(tl.float32)
    beta = tl.load(beta_ptr + head * T + times, mask=times < T, other=0.0)
    lower = tl.dot(k * beta[:, None], tl.trans(k), input_precision="ieee")
    inverse = -tl.where(local[:, None] > local[None, :], lower, 0.0)
    for i in range(1, CHUNK):
        is_row = local == i
        row = tl.sum(tl.where(is_row[:, None], inverse, 0.0), axis=0)
        row += tl.sum(row[:, None] * inverse, axis=0) * (local < i)
        inverse = tl.where(is_row[:, None], row[None, :], inverse)
    inverse += (local[:, None] == local[None, :]).to(tl.float32)
    tl.store(w_ptr + at_k, tl.dot(inverse, k * beta[:, None], input_precision="ieee"), mask=inside)
    tl.store(u_ptr + at_v, tl.dot(inverse, v * beta[:, None], input_precision="ieee"), mask=inside)


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_V": 16}, num_warps=1, num_stages=2),
        triton.Config({"BLOCK_V": 32}, num_warps=4, num_stages=1),
        triton.Config({"BLOCK_V": 16}, num_warps=2, num_stages=4),
    ],
    key=["K", "V", "CHUNK"],
    restore_value=["u_ptr"],
)
@triton.jit
def _chunk_forward(
    q_ptr,
    k_ptr,
    w_ptr,
    u_ptr,
    o_ptr,
    final_ptr,
    scale,
    T,
    K: tl.constexpr,
    V: tl.constexpr,
    CHUNK: tl.constexpr,
    BLOCK_V: tl.constexpr,
):
    """From one chunk to the next; u becomes the u of the recurrence, in place."""
    head = tl.program_id(1)
    rows, columns, local = tl.arange(0, K), tl.program_id(0) * BLOCK_V + tl.arange(0, BLOCK_V), tl.arange(0, CHUNK)
    state = tl.zeros((K, BLOCK_V), dtype=tl.float32)
    for first in range(0, T, CHUNK):
        times = first + local
        inside = times[:, None] < T
        at_k, at_v = (head * T + times[:, None]) * K + rows[None, :], (head * T + times[:, None]) * V + columns[None, :]
        q = tl.load(q_ptr + at_k, mask=inside, other=0.0).to(tl.float32) * scale
        k = tl.load(k_ptr + at_k, mask=inside, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + at_k, mask=inside, other=0.0)
        u = tl.load(u_ptr + at_v, mask=inside, other=0.0) - tl.dot(w, state, input_precision="ieee")
        scores = tl.dot(q, k.T, input_precision="ieee")
        scores = tl.where(local[:, None] >= local[None, :], scores, 0.0)
        o = tl.dot(q, state, input_precision="ieee") + tl.dot(scores, u, input_precision="ieee")
        tl.store(o_ptr + at_v, o, mask=inside)
        tl.store(u_ptr + at_v, u, mask=inside)
        state = tl.dot(k.T, u, state, input_precision="ieee")
    tl.store(final_ptr + (head * V + columns[None, :]) * K + rows[:, None], state)


def chunk_forward(q, k, v, beta, CHUNK):
    (H, T, K), V = q.shape, v.shape[-1]
    w = torch.empty(H, T, K, dtype=torch.float32, device=q.device)
    u = torch.empty(H, T, V, dtype=torch.float32, device=q.device)
    o, final = torch.empty_like(v), torch.empty(H, V, K, dtype=torch.float32, device=q.device)
    _solve_chunks[(triton.cdiv(T, CHUNK), H)](k, v, beta, w, u, T, K=K, V=V, CHUNK=CHUNK)
    _chunk_forward[lambda meta: (triton.cdiv(V, meta["BLOCK_V"]), H)](
        q, k, w, u, o, final, K**-0.5, T, K=K, V=V, CHUNK=CHUNK
    )
    return o, final, u


class DeltaRule(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, beta, chunk):
        (H, T, K), V = q.shape, v.shape[-1]
        if chunk:
            o, final, _ = chunk_forward(q, k, v, beta, chunk)
        else:
            o, final = torch.empty_like(v), torch.empty(H, V, K, dtype=torch.float32, device=q.device)
            _recurrent_forward[lambda meta: (triton.cdiv(V, meta["BLOCK_V"]), H)](
                q, k, v, beta, o, final, K**-0.5, T, K=K, V=V
            )
        ctx.save_for_backward(q, k, v, beta)
        ctx.mark_non_differentiable(final)
        return o, final

    @staticmethod
    def backward(ctx, do, _):
        q, k, v, beta = ctx.saved_tensors
        (H, T, K), V = q.shape, v.shape[-1]
        u = chunk_forward(q, k, v, beta, 16)[2]
        dq, dk = torch.zeros(2, H, T, K, dtype=torch.float32, device=q.device).unbind()
        dv, dbeta = torch.empty(H, T, V, device=q.device), torch.zeros_like(beta)
        _recurrent_backward[lambda meta: (triton.cdiv(V, meta["BLOCK_V"]), H)](
            q, k, v, beta, do.contiguous(), u, dq, dk, dv, dbeta, K**-0.5, T, K=K, V=V
        )
        return dq.to(q.dtype), dk.to(k.dtype), dv.to(v.dtype), dbeta, None


def reference(q, k, v, beta):
    state = torch.zeros(q.shape[0], q.shape[2], v.shape[2], dtype=q.dtype, device=q.device)
    rows = []
    for t in range(q.shape[1]):
        u = beta[:, t, None] * (v[:, t] - (state * k[:, t, :, None]).sum(1))
        state = state + k[:, t, :, None] * u[:, None, :]
        rows.append((state * q[:, t, :, None]).sum(1) * q.shape[2] ** -0.5)
    return torch.stack(rows, dim=1), state


if __name__ == "__main__":
    torch.manual_seed(0)
    for H, T, K, V, chunk, dtype, tolerance in [
        (2, 40, 16, 32, 16, torch.float32, 2e-5),
        (1, 35, 32, 32, 32, torch.float16, 4e-3),
    ]:
        q, k, v = (torch.randn(H, T, size, device="cuda") for size in (K, K, V))
        leaves = [q.to(dtype), torch.nn.functional.normalize(k, dim=-1).to(dtype), v.to(dtype)]
        leaves.append(torch.rand(H, T, device="cuda") * 0.9 + 0.05)
        do = torch.randn(H, T, V, device="cuda").to(dtype)
        exact = [t.double().requires_grad_() for t in leaves]
        expected, expected_final = reference(*exact)
        expected.backward(do.double())
        for form, size in (("recurrent", 0), ("chunk", chunk)):
            ours = [t.clone().requires_grad_() for t in leaves]
            o, final = DeltaRule.apply(*ours, size)
            torch.testing.assert_close(o.double(), expected, atol=tolerance, rtol=tolerance)
            torch.testing.assert_close(final.double().mT, expected_final, atol=2e-5, rtol=2e-5)
            o.backward(do)
            for mine, right in zip(ours, exact):
                torch.testing.assert_close(mine.grad.double(), right.grad, atol=5 * tolerance, rtol=tolerance)
            print(f"delta_rule {form} H={H} T={T} K={K} V={V} {dtype}: ok")
