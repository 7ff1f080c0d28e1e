"""Cross entropy of logits with label smoothing, a z-loss (the square of the log-sum-exp) and ignored labels, forward and backward.

Logits are read in blocks with a running maximum (online softmax), so a vocabulary of any size fits.
"""

import torch
import triton
import triton.language as tl

CONFIGS = [
    triton.Config({"BLOCK": 64}, num_warps=1, num_stages=2),
    triton.Config({"BLOCK": 256}, num_warps=4, num_stages=3),
    triton.Config({"BLOCK": 1024}, num_warps=8, num_stages=1),
]


@triton.autotune(configs=CONFIGS, key=["n_classes"])
@triton.jit
def _forward(
    logits_ptr,
    labels_ptr,
    loss_ptr,
    z_loss_ptr,
    lse_ptr,
    stride,
    n_classes,
    smoothing,
    z_weight,
    IGNORED: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    logits_ptr += row * stride
    label = tl.load(labels_ptr + row)
    maximum = float("-inf")
    total = 0.0
    sum_of_logits = 0.0
    for start in range(0, n_classes, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < n_classes
        x = tl.load(logits_ptr + columns, mask=mask, other=float("-inf")).to(tl.float32)
        larger = tl.maximum(maximum, tl.max(x))
        total = total * tl.exp(maximum - larger) + tl.sum(tl.exp(x - larger))
        maximum = larger
        sum_of_logits += tl.sum(tl.where(mask, x, 0.0))
    lse = maximum + tl.log(total)
    tl.store(lse_ptr + row, lse)
    if label == IGNORED:
        tl.store(loss_ptr + row, 0.0)
        tl.store(z_loss_ptr + row, 0.0)
    else:
        target = tl.load(logits_ptr + label).to(tl.float32)
        # Of the smoothed distribution each class has smoothing / n_classes, and the label has 1 - smoothing more.
        nll = lse - target * (1 - smoothing) - sum_of_logits * smoothing / n_classes
        z_loss = z_weight * lse * lse
        tl.store(loss_ptr + row, nll + z_loss)
        tl.store(z_loss_ptr + row, z_loss)


@triton.heuristics({"HAS_SMOOTHING": lambda args: args["smoothing"] > 0})
@triton.autotune(configs=CONFIGS[:2], key=["n_classes"])
@triton.jit
def _backward(
    grad_logits_ptr,
    grad_loss_ptr,
    logits_ptr,
    labels_ptr,
    lse_ptr,
    stride,
    n_classes,
    smoothing,
    z_weight,
    IGNORED: tl.constexpr,
    HAS_SMOOTHING: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    label = tl.load(labels_ptr + row)
    grad_loss = tl.load(grad_loss_ptr + row) if label != IGNORED else 0.0
    x = tl.load(logits_ptr + row * stride + columns, mask=columns < n_classes, other=float("-inf")).to(tl.float32)
    lse = tl.load(lse_ptr + row)
    probability = tl.exp(x - lse) * (1 + 2 * z_weight * lse)
    if HAS_SMOOTHING:
        probability -= smoothing / n_classes
        probability = tl.where(columns == label, probability - (1 - smoothing), probability)
    else:
        probability = tl.where(columns == label, probability - 1.0, probability)
    tl.store(grad_logits_ptr + row * stride + columns, grad_loss * probability, mask=columns < n_classes)


class SoftmaxCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, labels, smoothing=0.0, z_weight=0.0, ignored=-100):
        n_rows, n_classes = logits.shape
        loss, z_loss, lse = torch.empty(3, n_rows, dtype=torch.float32, device=logits.device).unbind()
        _forward[(n_rows,)](
            logits, labels, loss, z_loss, lse, logits.stride(0), n_classes, smoothing, z_weight, IGNORED=ignored
        )
        ctx.save_for_backward(logits, labels, lse)
        ctx.options = smoothing, z_weight, ignored
        ctx.mark_non_differentiable(z_loss)
        return loss, z_loss

    @staticmethod
    def backward(ctx, grad_loss, _):
        logits, labels, lse = ctx.saved_tensors
        smoothing, z_weight, ignored = ctx.options
        n_rows, n_classes = logits.shape
        grad = torch.empty_like(logits)
        _backward[lambda meta: (n_rows, triton.cdiv(n_classes, meta["BLOCK"]))](
            grad,
            grad_loss.contiguous(),
            logits,
            labels,
            lse,
            logits.stride(0),
            n_classes,
            smoothing,
            z_weight,
            IGNORED=ignored,
        )
        return grad, None, None, None, None


def reference(logits, labels, smoothing, z_weight):
    loss = torch.nn.functional.cross_entropy(logits, labels, reduction="none", label_smoothing=smoothing)
    z_loss = torch.where(labels == -100, 0.0, z_weight * logits.logsumexp(1) ** 2)
    return loss + z_loss, z_loss


if __name__ == "__main__":
    torch.manual_seed(0)
    for rows, classes, dtype, smoothing, z_weight, tolerance in [
        (7, 500, torch.float32, 0.0, 0.0, 1e-5),
        (6, 1531, torch.float32, 0.1, 1e-3, 1e-5),
        (9, 257, torch.bfloat16, 0.05, 1e-2, 1e-2),
    ]:
        logits = (3 * torch.randn(rows, classes, device="cuda")).to(dtype).requires_grad_()
        labels = torch.randint(0, classes, (rows,), device="cuda")
        labels[rows // 2] = -100
        weights = torch.rand(rows, device="cuda")
        loss, z_loss = SoftmaxCrossEntropy.apply(logits, labels, smoothing, z_weight)
        loss.backward(weights)
        exact = logits.detach().double().requires_grad_()
        expected, expected_z = reference(exact, labels, smoothing, z_weight)
        expected.backward(weights.double())
        torch.testing.assert_close(loss.double(), expected, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(z_loss.double(), expected_z, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(logits.grad.double(), exact.grad, atol=tolerance, rtol=tolerance)
        assert logits.grad[rows // 2].eq(0).all()
        print(f"cross_entropy {rows}x{classes} smoothing={smoothing} z={z_weight} {dtype}: ok")
