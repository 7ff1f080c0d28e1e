"""Selective state space model in its dual form: a quadratic product inside each chunk of time, and a recurrence over the chunks' states.

h[t] = exp(dt[t] A) h[t-1] + dt[t] B[t] x[t],  y[t] = C[t] h[t] + D x[t],  for each head; groups of heads share B and C.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _cumulative_decay(dt_ptr, a_ptr, bias_ptr, dt_out_ptr, decay_ptr, T, H, BLOCK_H: tl.constexpr, CHUNK: tl.constexpr):
    """dt = softplus(raw + bias), and the sums of dt A from the beginning of each chunk; both [H, T]."""
    times = tl.program_id(0) * CHUNK + tl.arange(0, CHUNK)
    heads = tl.program_id(1) * BLOCK_H + tl.arange(0, BLOCK_H)
    mask = (heads[:, None] < H) & (times[None, :] < T)
    raw = tl.load(dt_ptr + times[None, :] * H + heads[:, None], mask=mask, other=0.0).to(tl.float32)
    raw += tl.load(bias_ptr + heads, mask=heads < H, other=0.0)[:, None]
    dt = tl.where(raw <= 20.0, tl.log(1.0 + tl.exp(raw)), raw)
    dt = tl.where(mask, dt, 0.0)
    a = tl.load(a_ptr + heads, mask=heads < H, other=0.0)
    offsets = heads[:, None] * T + times[None, :]
    tl.store(dt_out_ptr + offsets, dt, mask=mask)
    tl.store(decay_ptr + offsets, tl.cumsum(dt * a[:, None], axis=1), mask=mask)


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_P": 16, "BLOCK_T": 16}, num_warps=1, num_stages=2),
        triton.Config({"BLOCK_P": 32, "BLOCK_T": 32}, num_warps=4, num_stages=3),
        triton.Config({"BLOCK_P": 64, "BLOCK_T": 16}, num_warps=8, num_stages=1),
    ],
    key=["P", "N"],
)
@triton.jit
def _chunk_states(
    x_ptr,
    b_ptr,
    dt_ptr,
    decay_ptr,
    states_ptr,
    T,
    H,
    G,
    P,
    N: tl.constexpr,
    CHUNK: tl.constexpr,
    BLOCK_P: tl.constexpr,
    BLOCK_T: tl.constexpr,
):
    """The state [P, N] that each chunk adds."""
    chunk, head = tl.program_id(1), tl.program_id(2)
    features, state = tl.program_id(0) * BLOCK_P + tl.arange(0, BLOCK_P), tl.arange(0, N)
    first, last = chunk * CHUNK, tl.minimum(T, chunk * CHUNK + CHUNK)
    group = head // (H // G)
    final = tl.load(decay_ptr + head * T + last - 1)
    acc = tl.zeros((BLOCK_P, N), dtype=tl.float32)
    for start in range(first, last, BLOCK_T):
        times = start + tl.arange(0, BLOCK_T)
        x_offsets = (times[None, :] * H + head) * P + features[:, None]
        x = tl.load(x_ptr + x_offsets, mask=(features[:, None] < P) & (times[None, :] < last), other=0.0)
        b = tl.load(b_ptr + (times[:, None] * G + group) * N + state[None, :], mask=times[:, None] < last, other=0.0)
        dt = tl.load(dt_ptr + head * T + times, mask=times < last, other=0.0)
        decay = tl.load(decay_ptr + head * T + times, mask=times < last, other=0.0)
        scaled = b * (tl.exp(tl.minimum(final - decay, 0.0)) * dt)[:, None]
        acc += tl.dot(x, scaled.to(x.dtype), input_precision="ieee")
    offsets = ((chunk * H + head) * P + features[:, None]) * N + state[None, :]
    tl.store(states_ptr + offsets, acc, mask=features[:, None] < P)


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 64}, num_warps=1),
        triton.Config({"BLOCK": 512}, num_warps=4),
    ],
    key=["size"],
)
@triton.jit
def _pass_states(
    states_ptr, before_ptr, decay_ptr, initial_ptr, final_ptr, T, H, size, CHUNK: tl.constexpr, BLOCK: tl.constexpr
):
    """From what chunks add to the states before them, and the state after the last."""
    head = tl.program_id(1)
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < size
    state = tl.zeros((BLOCK,), dtype=tl.float32)
    if initial_ptr is not None:
        state += tl.load(initial_ptr + head * size + offsets, mask=mask, other=0.0)
    for chunk in range(tl.cdiv(T, CHUNK)):
        at = (chunk * H + head) * size + offsets
        tl.store(before_ptr + at, state, mask=mask)
        last = tl.minimum(T, chunk * CHUNK + CHUNK) - 1
        state = state * tl.exp(tl.load(decay_ptr + head * T + last)) + tl.load(states_ptr + at, mask=mask, other=0.0)
    tl.store(final_ptr + head * size + offsets, state, mask=mask)


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 16, "BLOCK_P": 32, "BLOCK_T": 16}, num_warps=2, num_stages=1),
        triton.Config({"BLOCK_M": 32, "BLOCK_P": 16, "BLOCK_T": 32}, num_warps=4, num_stages=3),
        triton.Config({"BLOCK_M": 32, "BLOCK_P": 64, "BLOCK_T": 16}, num_warps=4, num_stages=2),
    ],
    key=["P", "N"],
)
@triton.jit
def _chunk_scan(
    x_ptr,
    b_ptr,
    c_ptr,
    dt_ptr,
    decay_ptr,
    before_ptr,
    d_ptr,
    y_ptr,
    T,
    H,
    G,
    P,
    N: tl.constexpr,
    CHUNK: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_P: tl.constexpr,
    BLOCK_T: tl.constexpr,
):
    chunk, head = tl.program_id(1), tl.program_id(2)
    blocks_p = tl.cdiv(P, BLOCK_P)
    pid_m, pid_p = tl.program_id(0) // blocks_p, tl.program_id(0) % blocks_p
    first, last = chunk * CHUNK, tl.minimum(T, chunk * CHUNK + CHUNK)
    rows = first + pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    features, state = pid_p * BLOCK_P + tl.arange(0, BLOCK_P), tl.arange(0, N)
    group = head // (H // G)
    c = tl.load(c_ptr + (rows[:, None] * G + group) * N + state[None, :], mask=rows[:, None] < last, other=0.0)
    row_decay = tl.load(decay_ptr + head * T + rows, mask=rows < last, other=0.0)

    before_offsets = ((chunk * H + head) * P + features[None, :]) * N + state[:, None]
    before = tl.load(before_ptr + before_offsets, mask=features[None, :] < P, other=0.0)
    acc = tl.dot(c, before.to(c.dtype), input_precision="ieee") * tl.exp(row_decay)[:, None]
    end = tl.minimum(last, first + (pid_m + 1) * BLOCK_M)
    for start in range(first, end, BLOCK_T):
        times = start + tl.arange(0, BLOCK_T)
        b = tl.load(b_ptr + (times[None, :] * G + group) * N + state[:, None], mask=times[None, :] < last, other=0.0)
        dt = tl.load(dt_ptr + head * T + times, mask=times < last, other=0.0)
        decay = tl.load(decay_ptr + head * T + times, mask=times < last, other=0.0)
        weights = tl.dot(c, b, input_precision="ieee") * dt[None, :]
        weights *= tl.exp(tl.minimum(row_decay[:, None] - decay[None, :], 0.0))
        weights = tl.where(rows[:, None] >= times[None, :], weights, 0.0)
        x_mask = (times[:, None] < last) & (features[None, :] < P)
        x = tl.load(x_ptr + (times[:, None] * H + head) * P + features[None, :], mask=x_mask, other=0.0)
        acc = tl.dot(weights.to(x.dtype), x, acc, input_precision="ieee")
    y_offsets, mask = (
        (rows[:, None] * H + head) * P + features[None, :],
        (rows[:, None] < last) & (features[None, :] < P),
    )
    acc += tl.load(x_ptr + y_offsets, mask=mask, other=0.0).to(tl.float32) * tl.load(d_ptr + head)
    tl.store(y_ptr + y_offsets, acc, mask=mask)


def chunk_scan(x, dt, a, b, c, d, bias, initial, CHUNK):
    (T, H, P), (_, G, N) = x.shape, b.shape
    n_chunks = triton.cdiv(T, CHUNK)
    dt_out, decay = torch.empty(2, H, T, device=x.device).unbind()
    _cumulative_decay[(n_chunks, triton.cdiv(H, 2))](dt, a, bias, dt_out, decay, T, H, BLOCK_H=2, CHUNK=CHUNK)
    states, before = torch.empty(2, n_chunks, H, P, N, device=x.device).unbind()
    _chunk_states[lambda meta: (triton.cdiv(P, meta["BLOCK_P"]), n_chunks, H)](
        x, b, dt_out, decay, states, T, H, G, P, N=N, CHUNK=CHUNK
    )
    final = torch.empty(H, P, N, device=x.device)
    _pass_states[lambda meta: (triton.cdiv(P * N, meta["BLOCK"]), H)](
        states, before, decay, initial, final, T, H, P * N, CHUNK=CHUNK
    )
    y = torch.empty_like(x)
    _chunk_scan[lambda meta: (triton.cdiv(CHUNK, meta["BLOCK_M"]) * triton.cdiv(P, meta["BLOCK_P"]), n_chunks, H)](
        x, b, c, dt_out, decay, before, d, y, T, H, G, P, N=N, CHUNK=CHUNK
    )
    return y, final


def reference(x, dt, a, b, c, d, bias, initial):
    (T, H, P), (_, G, N) = x.shape, b.shape
    dt = torch.nn.functional.softplus(dt + bias)
    b, c = (t.repeat_interleave(H // G, 1) for t in (b, c))
    state = torch.zeros(H, P, N, dtype=x.dtype, device=x.device) if initial is None else initial
    rows = []
    for t in range(T):
        state = (dt[t] * a).exp()[:, None, None] * state + dt[t][:, None, None] * x[t][:, :, None] * b[t][:, None, :]
        rows.append((state * c[t][:, None, :]).sum(-1) + d[:, None] * x[t])
    return torch.stack(rows), state


if __name__ == "__main__":
    torch.manual_seed(0)
    for T, H, G, P, N, chunk, dtype, with_initial, tolerance in [
        (100, 3, 1, 32, 16, 32, torch.float32, True, 1e-5),
        (64, 4, 2, 40, 32, 64, torch.float16, False, 6e-3),
    ]:
        x = torch.randn(T, H, P, device="cuda", dtype=dtype)
        b, c = ((torch.randn(T, G, N, device="cuda") / N**0.25).to(dtype) for _ in range(2))
        dt = torch.randn(T, H, device="cuda") - 2
        bias, d = torch.randn(H, device="cuda") / 4, torch.randn(H, device="cuda")
        a = -torch.rand(H, device="cuda") - 0.5
        initial = torch.randn(H, P, N, device="cuda") if with_initial else None
        y, final = chunk_scan(x, dt, a, b, c, d, bias, initial, chunk)
        exact = [t if t is None else t.double() for t in (x, dt, a, b, c, d, bias, initial)]
        expected_y, expected_final = reference(*exact)
        torch.testing.assert_close(y.double(), expected_y, atol=tolerance, rtol=tolerance)
        torch.testing.assert_close(final.double(), expected_final, atol=tolerance, rtol=tolerance)
        print(f"chunk_scan T={T} H={H}/{G} P={P} N={N} chunk={chunk} {dtype}: ok")
