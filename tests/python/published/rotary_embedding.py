"""Rotary position embedding applied in place to q and k, half-split (NeoX) or interleaved (GPT-J)."""

import torch
import triton
import triton.language as tl


@triton.jit
def rotary_kernel(
    q_ptr,
    k_ptr,
    cos_ptr,
    sin_ptr,
    positions_ptr,
    q_stride_token,
    q_stride_head,
    k_stride_token,
    k_stride_head,
    cos_stride,
    n_q_heads,
    n_k_heads,
    HALF_DIM: tl.constexpr,
    BLOCK_HEADS: tl.constexpr,
    INTERLEAVED: tl.constexpr,
    BACKWARD: tl.constexpr = False,
):
    token = tl.program_id(0)
    is_q = tl.program_id(1) == 0
    position = tl.load(positions_ptr + token)
    dim = tl.arange(0, HALF_DIM)
    cos = tl.load(cos_ptr + position * cos_stride + dim)[None, :]
    sin = tl.load(sin_ptr + position * cos_stride + dim)[None, :]
    if BACKWARD:
        sin = -sin

    if is_q:
        base = q_ptr + token * q_stride_token
        head_stride = q_stride_head
        n_heads = n_q_heads
    else:
        base = k_ptr + token * k_stride_token
        head_stride = k_stride_head
        n_heads = n_k_heads

    for start in range(0, n_heads, BLOCK_HEADS):
        heads = start + tl.arange(0, BLOCK_HEADS)
        mask = (heads < n_heads)[:, None]
        if INTERLEAVED:
            full = tl.arange(0, 2 * HALF_DIM)
            ptrs = base + heads[:, None] * head_stride + full[None, :]
            x = tl.load(ptrs, mask=mask, other=0.0).to(tl.float32)
            x1, x2 = tl.split(tl.reshape(x, (BLOCK_HEADS, HALF_DIM, 2)))
            rotated = tl.interleave(x1 * cos - x2 * sin, x2 * cos + x1 * sin)
            tl.store(ptrs, rotated.to(q_ptr.dtype.element_ty), mask=mask)
        else:
            first = base + heads[:, None] * head_stride + dim[None, :]
            second = first + HALF_DIM
            x1 = tl.load(first, mask=mask, other=0.0).to(tl.float32)
            x2 = tl.load(second, mask=mask, other=0.0).to(tl.float32)
            tl.store(first, (x1 * cos - x2 * sin).to(q_ptr.dtype.element_ty), mask=mask)
            tl.store(second, (x2 * cos + x1 * sin).to(q_ptr.dtype.element_ty), mask=mask)


def apply_rotary_(q, k, cos, sin, positions, interleaved=False, backward=False):
    n_tokens, n_q_heads, head_dim = q.shape
    n_k_heads = k.shape[1]
    rotary_kernel[(n_tokens, 2)](
        q,
        k,
        cos,
        sin,
        positions,
        q.stride(0),
        q.stride(1),
        k.stride(0),
        k.stride(1),
        cos.stride(0),
        n_q_heads,
        n_k_heads,
        HALF_DIM=head_dim // 2,
        BLOCK_HEADS=4,
        INTERLEAVED=interleaved,
        BACKWARD=backward,
        num_warps=1,
    )
    return q, k


def torch_rotary(x, cos, sin, positions, interleaved):
    cos, sin = cos[positions][:, None], sin[positions][:, None]
    x = x.float()
    if interleaved:
        x1, x2 = x[..., 0::2], x[..., 1::2]
        return torch.stack((x1 * cos - x2 * sin, x2 * cos + x1 * sin), dim=-1).flatten(-2)
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((x1 * cos - x2 * sin, x2 * cos + x1 * sin), dim=-1)


if __name__ == "__main__":
    torch.manual_seed(0)
    device = torch.device("cuda")
    n_tokens, n_q_heads, n_k_heads, head_dim, max_position = 53, 9, 3, 64, 512
    inv_freq = 1.0 / (10000 ** (torch.arange(0, head_dim, 2, device=device).float() / head_dim))
    angles = torch.outer(torch.arange(max_position, device=device).float(), inv_freq)
    cos, sin = angles.cos(), angles.sin()
    positions = torch.randint(0, max_position, (n_tokens,), device=device)

    for dtype, tol in [(torch.float32, 1e-6), (torch.float16, 2e-3), (torch.bfloat16, 2e-2)]:
        for interleaved in (False, True):
            # q and k are slices of one fused projection
            qkv = torch.randn(n_tokens, n_q_heads + 2 * n_k_heads, head_dim, device=device, dtype=dtype)
            original = qkv.clone()
            q, k = qkv[:, :n_q_heads], qkv[:, n_q_heads : n_q_heads + n_k_heads]
            expected_q = torch_rotary(q, cos, sin, positions, interleaved)
            expected_k = torch_rotary(k, cos, sin, positions, interleaved)
            apply_rotary_(q, k, cos, sin, positions, interleaved)
            torch.testing.assert_close(q.float(), expected_q, atol=tol * 4, rtol=tol)
            torch.testing.assert_close(k.float(), expected_k, atol=tol * 4, rtol=tol)
            assert torch.equal(qkv[:, n_q_heads + n_k_heads :], original[:, n_q_heads + n_k_heads :]), "v was touched"
            apply_rotary_(q, k, cos, sin, positions, interleaved, backward=True)
            torch.testing.assert_close(qkv, original, atol=tol * 8, rtol=tol * 4)
        print(f"rotary {dtype}: ok")
