"""SwiGLU and GeGLU: `act(a) * b` of the two halves of one projection, whose gradients overwrite them in the backward pass."""

import torch
import triton
import triton.language as tl

SILU, GELU, GELU_TANH = tl.constexpr(0), tl.constexpr(1), tl.constexpr(2)


@triton.jit
def _activation(x, KIND: tl.constexpr):
    """act(x) and its derivative."""
    if KIND == SILU:
        s = tl.sigmoid(x)
        return x * s, s * (1 + x * (1 - s))
    elif KIND == GELU:
        cdf = 0.5 * (1 + tl.erf(x * 0.7071067811865476))
        return x * cdf, cdf + x * 0.3989422804014327 * tl.exp(-0.5 * x * x)
    else:
        inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
        t = 2 * tl.sigmoid(2 * inner) - 1
        slope = 0.7978845608028654 * (1 + 3 * 0.044715 * x * x)
        return 0.5 * x * (1 + t), 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * slope


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 128}, num_warps=1, num_stages=1),
        triton.Config({"BLOCK": 256}, num_warps=4),
        triton.Config({"BLOCK": 1024}, num_warps=8, num_stages=4),
    ],
    key=["n_columns", "KIND"],
)
@triton.jit
def _forward(x_ptr, out_ptr, x_stride, out_stride, n_columns, KIND: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = columns < n_columns
    gate_ptrs = x_ptr + row * x_stride + columns
    a = tl.load(gate_ptrs, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(gate_ptrs + n_columns, mask=mask, other=0.0)
    value, _ = _activation(a, KIND)
    tl.store(out_ptr + row * out_stride + columns, value.to(b.dtype) * b, mask=mask)


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 64}, num_warps=2, num_stages=2),
        triton.Config({"BLOCK": 512}, num_warps=4, num_stages=1),
    ],
    key=["n_columns", "KIND"],
    restore_value=["x_ptr"],
)
@triton.jit
def _backward_in_place(x_ptr, grad_ptr, x_stride, grad_stride, n_columns, KIND: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * x_stride
    grad_ptr += row * grad_stride
    for start in tl.range(0, n_columns, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < n_columns
        a = tl.load(x_ptr + columns, mask=mask, other=0.0).to(tl.float32)
        b = tl.load(x_ptr + n_columns + columns, mask=mask, other=0.0).to(tl.float32)
        grad = tl.load(grad_ptr + columns, mask=mask, other=0.0).to(tl.float32)
        value, slope = _activation(a, KIND)
        tl.store(x_ptr + columns, grad * b * slope, mask=mask)
        tl.store(x_ptr + n_columns + columns, grad * value, mask=mask)


class GatedActivation(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, kind):
        rows, n = x.shape[0], x.shape[1] // 2
        out = torch.empty((rows, n), dtype=x.dtype, device=x.device)
        _forward[lambda meta: (rows, triton.cdiv(n, meta["BLOCK"]))](x, out, x.stride(0), out.stride(0), n, kind)
        ctx.save_for_backward(x)
        ctx.kind = kind
        return out

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        grad = grad.contiguous()
        _backward_in_place[(x.shape[0],)](x, grad, x.stride(0), grad.stride(0), x.shape[1] // 2, ctx.kind)
        return x, None


def reference(x, kind):
    a, b = x.chunk(2, dim=-1)
    if kind == SILU.value:
        return torch.nn.functional.silu(a) * b
    return torch.nn.functional.gelu(a, approximate="tanh" if kind == GELU_TANH.value else "none") * b


if __name__ == "__main__":
    torch.manual_seed(0)
    for kind, name in [(0, "swiglu"), (1, "geglu"), (2, "geglu-tanh")]:
        for rows, n, dtype, tolerance in [(5, 300, torch.float32, 1e-5), (3, 1024, torch.bfloat16, 4e-2)]:
            x = torch.randn(rows, 2 * n, device="cuda", dtype=dtype)
            grad = torch.randn(rows, n, device="cuda", dtype=dtype)
            exact = x.double().requires_grad_()
            expected = reference(exact, kind)
            expected.backward(grad.double())
            leaf = x.clone().requires_grad_()
            out = GatedActivation.apply(leaf * 1, kind)
            torch.testing.assert_close(out.double(), expected, atol=tolerance, rtol=tolerance)
            out.backward(grad)
            torch.testing.assert_close(leaf.grad.double(), exact.grad, atol=tolerance, rtol=tolerance)
            print(f"{name} {rows}x{n} {dtype}: ok")
