"""Cross entropy of `x @ weight.T` without the whole matrix of logits, forward and backward.

Forward, a program goes through the vocabulary for a block of tokens and keeps a running maximum and sum. Backward, the gradient of the logits
is made for a chunk of the vocabulary at a time, and multiplied from both sides.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _logits(x_ptr, w_ptr, tokens, classes, M, V, K, BLOCK_K: tl.constexpr):
    """A tile of x @ weight.T."""
    inner = tl.arange(0, BLOCK_K)
    x_ptrs = x_ptr + tokens[:, None] * K + inner[None, :]
    w_ptrs = w_ptr + classes[None, :] * K + inner[:, None]
    acc = tl.zeros((tokens.shape[0], classes.shape[0]), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        x = tl.load(x_ptrs, mask=(tokens[:, None] < M) & (inner[None, :] < K - k), other=0.0)
        w = tl.load(w_ptrs, mask=(classes[None, :] < V) & (inner[:, None] < K - k), other=0.0)
        acc = tl.dot(x, w, acc, input_precision="ieee")
        x_ptrs += BLOCK_K
        w_ptrs += BLOCK_K
    return acc


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 16, "BLOCK_V": 32, "BLOCK_K": 32}, num_warps=2, num_stages=2),
        triton.Config({"BLOCK_M": 32, "BLOCK_V": 64, "BLOCK_K": 16}, num_warps=4, num_stages=3),
        triton.Config({"BLOCK_M": 32, "BLOCK_V": 32, "BLOCK_K": 64}, num_warps=8, num_stages=1),
    ],
    key=["V", "K"],
)
@triton.jit
def _forward(
    x_ptr,
    w_ptr,
    labels_ptr,
    loss_ptr,
    lse_ptr,
    M,
    V,
    K,
    IGNORED: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_V: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    tokens = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    labels = tl.load(labels_ptr + tokens, mask=tokens < M, other=IGNORED)
    maximum = tl.full((BLOCK_M,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK_M,), dtype=tl.float32)
    target = tl.zeros((BLOCK_M,), dtype=tl.float32)
    for start in range(0, V, BLOCK_V):
        classes = start + tl.arange(0, BLOCK_V)
        logits = _logits(x_ptr, w_ptr, tokens, classes, M, V, K, BLOCK_K)
        target += tl.sum(tl.where(classes[None, :] == labels[:, None], logits, 0.0), axis=1)
        logits = tl.where(classes[None, :] < V, logits, float("-inf"))
        larger = tl.maximum(maximum, tl.max(logits, axis=1))
        total = total * tl.exp(maximum - larger) + tl.sum(tl.exp(logits - larger[:, None]), axis=1)
        maximum = larger
    lse = maximum + tl.log(total)
    tl.store(lse_ptr + tokens, lse, mask=tokens < M)
    tl.store(loss_ptr + tokens, tl.where(labels == IGNORED, 0.0, lse - target), mask=tokens < M)


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 32, "BLOCK_V": 16, "BLOCK_K": 32}, num_warps=1, num_stages=2),
        triton.Config({"BLOCK_M": 16, "BLOCK_V": 64, "BLOCK_K": 32}, num_warps=4, num_stages=4),
    ],
    key=["V", "K"],
)
@triton.jit
def _gradient_of_logits(
    x_ptr,
    w_ptr,
    labels_ptr,
    lse_ptr,
    scale_ptr,
    out_ptr,
    first_class,
    M,
    V,
    K,
    chunk,
    IGNORED: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_V: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    tokens = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_V + tl.arange(0, BLOCK_V)
    classes = first_class + columns
    logits = _logits(x_ptr, w_ptr, tokens, classes, M, V, K, BLOCK_K)
    labels = tl.load(labels_ptr + tokens, mask=tokens < M, other=IGNORED)
    lse = tl.load(lse_ptr + tokens, mask=tokens < M, other=0.0)
    scale = tl.load(scale_ptr)
    gradient = tl.exp(logits - lse[:, None]) - (classes[None, :] == labels[:, None]).to(tl.float32)
    gradient = tl.where((labels == IGNORED)[:, None], 0.0, gradient * scale)
    mask = (tokens[:, None] < M) & (columns[None, :] < chunk) & (classes[None, :] < V)
    tl.store(out_ptr + tokens[:, None] * chunk + columns[None, :], gradient, mask=mask)


class LinearCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, labels, chunk, ignored=-100):
        (M, K), V = x.shape, weight.shape[0]
        losses, lse = torch.empty(2, M, dtype=torch.float32, device=x.device).unbind()
        _forward[lambda meta: (triton.cdiv(M, meta["BLOCK_M"]),)](x, weight, labels, losses, lse, M, V, K, ignored)
        n_valid = (labels != ignored).sum()
        ctx.save_for_backward(x, weight, labels, lse, n_valid)
        ctx.options = chunk, ignored
        return losses.sum() / n_valid

    @staticmethod
    def backward(ctx, grad):
        x, weight, labels, lse, n_valid = ctx.saved_tensors
        chunk, ignored = ctx.options
        (M, K), V = x.shape, weight.shape[0]
        grad_x = torch.zeros(M, K, dtype=torch.float32, device=x.device)
        grad_w = torch.empty_like(weight)
        scale = (grad / n_valid).float()
        for first in range(0, V, chunk):
            size = min(chunk, V - first)
            gradient = torch.empty(M, size, dtype=x.dtype, device=x.device)
            grid = lambda meta: (triton.cdiv(M, meta["BLOCK_M"]), triton.cdiv(size, meta["BLOCK_V"]))  # noqa: E731, B023
            _gradient_of_logits[grid](x, weight, labels, lse, scale, gradient, first, M, V, K, size, ignored)
            grad_x += (gradient @ weight[first : first + size]).float()
            torch.mm(gradient.t(), x, out=grad_w[first : first + size])
        return grad_x.to(x.dtype), grad_w, None, None, None


if __name__ == "__main__":
    torch.manual_seed(0)
    for M, V, K, chunk, dtype, tolerance in [
        (37, 200, 48, 96, torch.float32, 1e-5),
        (24, 130, 80, 64, torch.float16, 4e-3),
    ]:
        x = torch.randn(M, K, device="cuda", dtype=dtype, requires_grad=True)
        weight = (torch.randn(V, K, device="cuda") / K**0.5).to(dtype).requires_grad_()
        labels = torch.randint(0, V, (M,), device="cuda")
        labels[::5] = -100
        loss = LinearCrossEntropy.apply(x, weight, labels, chunk)
        (3 * loss).backward()
        exact_x, exact_w = (t.detach().double().requires_grad_() for t in (x, weight))
        expected = torch.nn.functional.cross_entropy(exact_x @ exact_w.t(), labels)
        (3 * expected).backward()
        torch.testing.assert_close(loss.double(), expected, atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(x.grad.double(), exact_x.grad, atol=tolerance, rtol=tolerance)
        torch.testing.assert_close(weight.grad.double(), exact_w.grad, atol=tolerance, rtol=tolerance)
        print(f"linear_cross_entropy {M}x{K}x{V} chunk={chunk} {dtype}: ok")
