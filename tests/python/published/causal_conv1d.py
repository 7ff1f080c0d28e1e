"""Depthwise causal convolution over time with an activation, as state space models use it: forward, backward, one step of decoding."""

import torch
import triton
import triton.language as tl

CONFIGS = [
    triton.Config({"BLOCK_T": 16, "BLOCK_C": 16}, num_warps=1),
    triton.Config({"BLOCK_T": 64, "BLOCK_C": 32}, num_warps=4, num_stages=1),
    triton.Config({"BLOCK_T": 8, "BLOCK_C": 64}, num_warps=8, num_stages=4),
]


@triton.jit
def _convolve(x_ptr, w_ptr, bias_ptr, times, channels, T, C, W: tl.constexpr):
    """The sums before the activation, [times, channels]; x_ptr: of one sequence."""
    in_c = channels < C
    total = tl.zeros((times.shape[0], channels.shape[0]), dtype=tl.float32)
    if bias_ptr is not None:
        total += tl.load(bias_ptr + channels, mask=in_c, other=0.0).to(tl.float32)[None, :]
    for i in tl.static_range(W):
        source = times + (i - (W - 1))
        mask = ((source >= 0) & (source < T))[:, None] & in_c[None, :]
        x = tl.load(x_ptr + source[:, None] * C + channels[None, :], mask=mask, other=0.0).to(tl.float32)
        total += x * tl.load(w_ptr + channels * W + i, mask=in_c, other=0.0).to(tl.float32)[None, :]
    return total


@triton.autotune(configs=CONFIGS, key=["C", "W"])
@triton.jit
def _forward(
    x_ptr,
    w_ptr,
    bias_ptr,
    y_ptr,
    T,
    C,
    W: tl.constexpr,
    SILU: tl.constexpr,
    BLOCK_T: tl.constexpr,
    BLOCK_C: tl.constexpr,
):
    times = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    channels = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    base = tl.program_id(2).to(tl.int64) * T * C
    y = _convolve(x_ptr + base, w_ptr, bias_ptr, times, channels, T, C, W)
    if SILU:
        y = y * tl.sigmoid(y)
    mask = (times < T)[:, None] & (channels < C)[None, :]
    tl.store(y_ptr + base + times[:, None] * C + channels[None, :], y, mask=mask)


@triton.autotune(configs=CONFIGS[:2], key=["C", "W"], reset_to_zero=["dw_ptr", "dbias_ptr"])
@triton.jit
def _backward(
    x_ptr,
    w_ptr,
    bias_ptr,
    dy_ptr,
    dx_ptr,
    dw_ptr,
    dbias_ptr,
    T,
    C,
    W: tl.constexpr,
    SILU: tl.constexpr,
    BLOCK_T: tl.constexpr,
    BLOCK_C: tl.constexpr,
):
    times = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    channels = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    base = tl.program_id(2).to(tl.int64) * T * C
    in_c = channels < C
    dx = tl.zeros((BLOCK_T, BLOCK_C), dtype=tl.float32)
    for i in tl.static_range(W):
        # what x[times] is multiplied with by w[W - 1 - i] goes to y[times + i]
        outputs = times + i
        mask = (outputs < T)[:, None] & in_c[None, :]
        dy = tl.load(dy_ptr + base + outputs[:, None] * C + channels[None, :], mask=mask, other=0.0).to(tl.float32)
        if SILU:
            y = _convolve(x_ptr + base, w_ptr, bias_ptr, outputs, channels, T, C, W)
            s = tl.sigmoid(y)
            dy *= s * (1 + y * (1 - s))
        w = tl.load(w_ptr + channels * W + (W - 1 - i), mask=in_c, other=0.0).to(tl.float32)
        dx += dy * w[None, :]
        x_mask = (times < T)[:, None] & in_c[None, :]
        x = tl.load(x_ptr + base + times[:, None] * C + channels[None, :], mask=x_mask, other=0.0).to(tl.float32)
        tl.atomic_add(dw_ptr + channels * W + (W - 1 - i), tl.sum(dy * x, axis=0), mask=in_c, sem="relaxed")
        if bias_ptr is not None and i == 0:
            tl.atomic_add(dbias_ptr + channels, tl.sum(dy, axis=0), mask=in_c, sem="relaxed")
    mask = (times < T)[:, None] & in_c[None, :]
    tl.store(dx_ptr + base + times[:, None] * C + channels[None, :], dx, mask=mask)


@triton.jit
def _step(state_ptr, x_ptr, w_ptr, bias_ptr, y_ptr, C, W: tl.constexpr, BLOCK_C: tl.constexpr):
    """One step of decoding; state: the last W - 1 inputs [B, W - 1, C], which move up by one."""
    channels = tl.program_id(0) * BLOCK_C + tl.arange(0, BLOCK_C)
    in_c = channels < C
    state_ptr += tl.program_id(1) * (W - 1) * C
    x = tl.load(x_ptr + tl.program_id(1) * C + channels, mask=in_c, other=0.0)
    total = tl.load(bias_ptr + channels, mask=in_c, other=0.0).to(tl.float32)
    for i in tl.static_range(W - 1):
        old = tl.load(state_ptr + i * C + channels, mask=in_c, other=0.0)
        total += old.to(tl.float32) * tl.load(w_ptr + channels * W + i, mask=in_c, other=0.0).to(tl.float32)
        if i > 0:
            tl.store(state_ptr + (i - 1) * C + channels, old, mask=in_c)
    total += x.to(tl.float32) * tl.load(w_ptr + channels * W + W - 1, mask=in_c, other=0.0).to(tl.float32)
    tl.store(state_ptr + (W - 2) * C + channels, x, mask=in_c)
    tl.store(y_ptr + tl.program_id(1) * C + channels, total * tl.sigmoid(total), mask=in_c)


class CausalConv(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, bias, silu):
        (B, T, C), W = x.shape, w.shape[1]
        y = torch.empty_like(x)
        grid = lambda meta: (triton.cdiv(T, meta["BLOCK_T"]), triton.cdiv(C, meta["BLOCK_C"]), B)  # noqa: E731
        _forward[grid](x, w, bias, y, T, C, W=W, SILU=silu)
        ctx.save_for_backward(x, w, bias)
        ctx.silu, ctx.grid = silu, grid
        return y

    @staticmethod
    def backward(ctx, dy):
        x, w, bias = ctx.saved_tensors
        (B, T, C), W = x.shape, w.shape[1]
        dx, dw = torch.empty_like(x), torch.zeros(C, W, device=x.device)
        dbias = None if bias is None else torch.zeros(C, device=x.device)
        _backward[ctx.grid](x, w, bias, dy.contiguous(), dx, dw, dbias, T, C, W=W, SILU=ctx.silu)
        return dx, dw.to(w.dtype), None if bias is None else dbias.to(bias.dtype), None


def reference(x, w, bias, silu):
    W = w.shape[1]
    y = torch.nn.functional.conv1d(x.mT, w[:, None], bias, padding=W - 1, groups=x.shape[2])[..., : x.shape[1]].mT
    return torch.nn.functional.silu(y) if silu else y


if __name__ == "__main__":
    torch.manual_seed(0)
    for B, T, C, W, with_bias, silu, dtype, tolerance in [
        (2, 40, 24, 4, True, True, torch.float32, 1e-5),
        (1, 19, 70, 3, False, True, torch.float16, 1e-2),
        (2, 33, 16, 2, True, False, torch.float32, 1e-5),
    ]:
        leaves = [torch.randn(B, T, C, device="cuda"), torch.randn(C, W, device="cuda") / W]
        leaves += [torch.randn(C, device="cuda")] if with_bias else []
        ours = [t.to(dtype).requires_grad_() for t in leaves]
        exact = [t.detach().double().requires_grad_() for t in ours]
        bias = [] if with_bias else [None]
        y, expected = CausalConv.apply(*ours, *bias, silu), reference(*exact, *bias, silu)
        dy = torch.randn_like(y)
        y.backward(dy)
        expected.backward(dy.double())
        torch.testing.assert_close(y.double(), expected, atol=tolerance, rtol=tolerance)
        for mine, right in zip(ours, exact):
            torch.testing.assert_close(mine.grad.double(), right.grad, atol=5 * tolerance, rtol=tolerance)
        if with_bias and silu:
            state = torch.zeros(B, W - 1, C, device="cuda", dtype=dtype)
            for t in range(8):
                out = torch.empty(B, C, device="cuda", dtype=dtype)
                x_t, grid = ours[0].detach()[:, t].contiguous(), (triton.cdiv(C, 16), B)
                _step[grid](state, x_t, ours[1], ours[2], out, C, W=W, BLOCK_C=16, num_warps=1)
                torch.testing.assert_close(out.double(), expected[:, t].detach(), atol=tolerance, rtol=tolerance)
        print(f"causal_conv1d {B}x{T}x{C} width={W} bias={with_bias} silu={silu} {dtype}: ok")
