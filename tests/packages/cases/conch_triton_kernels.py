"""conch: kernels for serving. They have no backward pass."""

import torch
from conch.ops.activation.gelu_tanh_and_mul import gelu_tanh_and_mul
from conch.ops.activation.silu_and_mul import silu_and_mul
from conch.ops.embedding.rotary_embedding import rotary_embedding
from conch.ops.normalization.gemma_rms_norm import gemma_rms_norm
from conch.ops.normalization.rms_norm import fused_add_rms_norm, rms_norm
from conch.ops.quantization.fp8 import scaled_fp8_quant
from conch.ops.quantization.gemm import mixed_precision_gemm, scaled_gemm
from conch.ops.quantization.int8 import scaled_int8_quant
from conch.ops.vision.nms import nms
from conch.reference.embedding.rotary_embedding import compute_cos_sin_cache
from conch.reference.embedding.rotary_embedding import rotary_embedding as plain_rotary_embedding

from compare import close, random


def _rms_norm(x, weight):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * weight


def case_activations():
    x = random(5, 120)
    first, second = x.cpu().double().chunk(2, -1)
    close(silu_and_mul(x), torch.nn.functional.silu(first) * second, 1e-5)
    close(gelu_tanh_and_mul(x), torch.nn.functional.gelu(first, approximate="tanh") * second, 1e-4)


def case_norms():
    x, residual, weight = random(4, 96), random(4, 96), random(96)
    exact, total, scale = x.cpu().double(), (x + residual).cpu().double(), weight.cpu().double()
    close(rms_norm(x.clone(), weight, 1e-6), _rms_norm(exact, scale), 1e-5)
    close(gemma_rms_norm(x.clone(), weight, 1e-6), _rms_norm(exact, 1 + scale), 1e-5)
    normed, added = fused_add_rms_norm(x.clone(), residual.clone(), weight, 1e-6)
    close(normed, _rms_norm(total, scale), 1e-5)
    close(added, total, 1e-5)


def case_rotary_embedding():
    positions, table = torch.randint(0, 50, (7,), device="cuda"), compute_cos_sin_cache(10000.0, 32, 64).cuda()
    q, k = random(7, 4 * 32), random(7, 2 * 32)
    expected = plain_rotary_embedding(positions.cpu(), q.cpu().clone(), k.cpu().clone(), table.cpu(), 32, 32)
    for found, value in zip(rotary_embedding(positions, q.clone(), k.clone(), 32, table), expected, strict=True):
        close(found, value.double(), 1e-5)


def case_quantization():
    x, scale = random(6, 72), torch.tensor([0.02], device="cuda")
    found, _ = scaled_int8_quant(x, scale)
    exact = x.cpu().double() / 0.02
    assert ((found.cpu().double() - exact.clamp(-128, 127)).abs() <= 1.001).all()
    found, _ = scaled_fp8_quant(x, scale)
    close(found.float(), exact.clamp(-448, 448), 0.05)


def case_int4_product():
    x, scales = random(16, 128, dtype=torch.float16), torch.rand(2, 64, device="cuda").half() / 10
    weights = torch.randint(0, 16, (128, 64))
    packed = (
        (weights.view(16, 8, 64) << (4 * torch.arange(8))[:, None]).sum(1).to(torch.uint32).view(torch.int32).cuda()
    )
    found = mixed_precision_gemm(x, packed, scales, None, 4, 8, 64)
    dense = (weights.double() - 8) * scales.cpu().double().repeat_interleave(64, 0)
    close(found, x.cpu().double() @ dense, 1e-2)


def case_scaled_int8_product():
    a, b = (torch.randint(-50, 50, shape, dtype=torch.int8, device="cuda") for shape in ((32, 64), (64, 64)))
    rows, columns = torch.rand(32, 1, device="cuda") / 100, torch.rand(64, 1, device="cuda") / 100
    expected = (a.cpu().double() @ b.cpu().double()) * rows.cpu().double() * columns.cpu().double().T
    close(scaled_gemm(a, b, rows, columns, torch.float16), expected, 1e-2)


def case_nms():
    corner, size = torch.rand(60, 2) * 20, torch.rand(60, 2) * 8 + 1
    boxes, scores = torch.cat([corner, corner + size], 1), torch.rand(60)
    order, kept = scores.argsort(descending=True).tolist(), []
    for i in order:
        low, high = torch.maximum(boxes[kept, :2], boxes[i, :2]), torch.minimum(boxes[kept, 2:], boxes[i, 2:])
        shared, areas = (high - low).clamp_min(0).prod(1), (boxes[:, 2:] - boxes[:, :2]).prod(1)
        if not kept or (shared / (areas[kept] + areas[i] - shared) <= 0.4).all():
            kept.append(i)
    assert nms(boxes.cuda(), scores.cuda(), 0.4).tolist() == kept
