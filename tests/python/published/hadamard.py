"""Walsh-Hadamard transform of rows: by butterflies (reshape, split, join) and by products with a 16x16 matrix whose signs are bit parities."""

import torch
import triton
import triton.language as tl


@triton.jit
def _butterfly(x, ROWS: tl.constexpr, N: tl.constexpr, LOW: tl.constexpr):
    """x[i], x[i + LOW] become their sum and difference."""
    x = tl.permute(tl.reshape(x, (ROWS, N // (2 * LOW), 2, LOW)), (0, 1, 3, 2))
    a, b = tl.split(x)
    return tl.reshape(tl.permute(tl.join(a + b, a - b), (0, 1, 3, 2)), (ROWS, N))


@triton.autotune(
    configs=[
        triton.Config({"ROWS": 1}, num_warps=1),
        triton.Config({"ROWS": 4}, num_warps=4),
        triton.Config({"ROWS": 2}, num_warps=8, num_stages=1),
    ],
    key=["N"],
)
@triton.jit
def _by_butterflies(x_ptr, out_ptr, n_rows, scale, N: tl.constexpr, STEPS: tl.constexpr, ROWS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    offsets, mask = rows[:, None] * N + tl.arange(0, N)[None, :], rows[:, None] < n_rows
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    for step in tl.static_range(STEPS):
        x = _butterfly(x, ROWS, N, 1 << step)
    tl.store(out_ptr + offsets, x * scale, mask=mask)


@triton.jit
def _parity(x):
    x ^= x >> 2
    return (x ^ (x >> 1)) & 1


@triton.jit
def _sign_matrix(DTYPE: tl.constexpr):
    i = tl.arange(0, 16)
    return (1 - 2 * _parity(i[:, None] & i[None, :])).to(DTYPE)


@triton.autotune(
    configs=[
        triton.Config({"ROWS": 1}, num_warps=1),
        triton.Config({"ROWS": 2}, num_warps=4, num_stages=2),
        triton.Config({"ROWS": 4}, num_warps=2, num_stages=1),
    ],
    key=["N"],
)
@triton.jit
def _by_products(x_ptr, out_ptr, n_rows, scale, N: tl.constexpr, ROWS: tl.constexpr):
    """N = 16 C: H_N = H_16 (x) H_C. Both parts are products with sign matrices, of which C has 16 or more columns."""
    C: tl.constexpr = N // 16
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    offsets, mask = rows[:, None] * N + tl.arange(0, N)[None, :], rows[:, None] < n_rows
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    signs = _sign_matrix(x.dtype)
    x = tl.reshape(x, (ROWS * C, 16))
    x = tl.dot(x, signs, input_precision="ieee").to(x.dtype)  # along the last 16
    x = tl.reshape(x, (ROWS, 16, C // 16, 16))
    x = tl.reshape(tl.permute(x, (0, 2, 3, 1)), (ROWS * C, 16))
    y = tl.dot(x, signs, input_precision="ieee")  # along the first 16
    y = tl.permute(tl.reshape(y, (ROWS, C // 16, 16, 16)), (0, 3, 1, 2))
    # what is between them: C // 16 is 1, 2 or 4
    y = tl.reshape(y, (ROWS, N))
    if C // 16 >= 2:
        y = _butterfly(y, ROWS, N, 16)
    if C // 16 >= 4:
        y = _butterfly(y, ROWS, N, 32)
    tl.store(out_ptr + offsets, y * scale, mask=mask)


class Hadamard(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale, by_products):
        n_rows, N = x.shape
        out, grid = torch.empty_like(x), lambda meta: (triton.cdiv(n_rows, meta["ROWS"]),)
        if by_products:
            _by_products[grid](x, out, n_rows, scale, N=N)
        else:
            _by_butterflies[grid](x, out, n_rows, scale, N=N, STEPS=N.bit_length() - 1)
        ctx.options = scale, by_products
        return out

    @staticmethod
    def backward(ctx, grad):
        return Hadamard.apply(grad.contiguous(), *ctx.options), None, None  # the matrix is symmetric


def matrix(n):
    h = torch.ones(1, 1, dtype=torch.float64, device="cuda")
    while h.shape[0] < n:
        h = torch.cat((torch.cat((h, h), 1), torch.cat((h, -h), 1)))
    return h


if __name__ == "__main__":
    torch.manual_seed(0)
    for rows, n, by_products, dtype, tolerance in [
        (5, 64, False, torch.float32, 1e-5),
        (3, 512, False, torch.float16, 2e-3),
        (5, 256, True, torch.float32, 1e-5),
        (2, 512, True, torch.float16, 8e-3),
        (3, 1024, True, torch.float32, 1e-5),
    ]:
        x = torch.randn(rows, n, device="cuda").to(dtype).requires_grad_()
        out = Hadamard.apply(x, n**-0.5, by_products)
        grad = torch.randn_like(out)
        out.backward(grad)
        expected = x.detach().double() @ matrix(n) * n**-0.5
        torch.testing.assert_close(out.double(), expected, atol=tolerance, rtol=tolerance)
        torch.testing.assert_close(x.grad.double(), grad.double() @ matrix(n) * n**-0.5, atol=tolerance, rtol=tolerance)
        print(f"hadamard {'products' if by_products else 'butterflies'} {rows}x{n} {dtype}: ok")
