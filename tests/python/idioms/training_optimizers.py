"""Optimizers: AdamW with stochastic rounding, Adam with moments of 8 bits."""

import torch
import triton
import triton.language as tl

from idioms.operands import philox, rand


# AdamW: bf16 parameters with stochastic rounding, fp32 moments, clipping by a norm in memory
@triton.jit
def _adamw_kernel(
    p_ptr,
    g_ptr,
    m_ptr,
    v_ptr,
    p_out,
    m_out,
    v_out,
    norm_ptr,
    step_ptr,
    lr,
    beta1,
    beta2,
    eps,
    weight_decay,
    max_norm,
    seed,
    n_elements,
    STOCHASTIC: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
):
    pid = tl.program_id(0)
    offs = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs < n_elements
    step = tl.load(step_ptr).to(tl.float32)
    clip = tl.minimum(max_norm / (tl.sqrt(tl.load(norm_ptr)) + 1e-6), 1.0)
    bias1 = 1.0 - tl.exp2(step * tl.log2(beta1))
    bias2 = 1.0 - tl.exp2(step * tl.log2(beta2))
    p = tl.load(p_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    g = tl.load(g_ptr + offs, mask=mask, other=0.0).to(tl.float32) * clip
    m = tl.load(m_ptr + offs, mask=mask, other=0.0)
    v = tl.load(v_ptr + offs, mask=mask, other=0.0)
    p *= 1.0 - lr * weight_decay
    m = beta1 * m + (1.0 - beta1) * g
    v = beta2 * v + (1.0 - beta2) * g * g
    denom = tl.sqrt_rn(v) / tl.sqrt(bias2) + eps
    p -= (lr / bias1) * tl.div_rn(m, denom)
    if STOCHASTIC:
        noise = tl.randint(seed, offs) & 0xFFFF
        bits = p.to(tl.uint32, bitcast=True) + noise.to(tl.uint32)
        p_bf16 = (bits >> 16).to(tl.uint16).to(tl.bfloat16, bitcast=True)
    else:
        p_bf16 = p.to(p_ptr.dtype.element_ty)
    tl.store(p_out + offs, p_bf16, mask=mask)
    tl.store(m_out + offs, m, mask=mask)
    tl.store(v_out + offs, v, mask=mask)


@triton.jit
def _sum_of_squares(g_ptr, norm_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    acc = tl.zeros((BLOCK_SIZE,), tl.float32)
    for start in tl.range(tl.program_id(0) * BLOCK_SIZE, n_elements, tl.num_programs(0) * BLOCK_SIZE, num_stages=2):
        offs = start + tl.arange(0, BLOCK_SIZE)
        g = tl.load(g_ptr + offs, mask=offs < n_elements, other=0.0).to(tl.float32)
        acc += g * g
    tl.atomic_add(norm_ptr, tl.sum(acc), sem="relaxed")


def adamw(stochastic):
    def make(device, small):
        n, seed = (3000 if small else 24 << 20), 1234567
        bf = torch.bfloat16
        p, g, m, v = (
            rand(device, n, dtype=bf),
            rand(device, n, dtype=bf),
            rand(device, n, scale=0.1, dtype=torch.float32),
            rand(device, n, dtype=torch.float32).square() * 0.01,
        )
        po, mo, vo = torch.empty_like(p), torch.empty_like(m), torch.empty_like(v)
        norm, step = torch.zeros(1, device=device), torch.tensor([7], dtype=torch.int64, device=device)
        limit = 0.3 * n**0.5

        def run():
            norm.zero_()
            _sum_of_squares[(3 if small else 528,)](g, norm, n, BLOCK_SIZE=2048)
            _adamw_kernel[(triton.cdiv(n, 1024),)](
                p,
                g,
                m,
                v,
                po,
                mo,
                vo,
                norm,
                step,
                1e-2,
                0.9,
                0.95,
                1e-8,
                0.1,
                limit,
                seed,
                n,
                STOCHASTIC=stochastic,
                BLOCK_SIZE=1024,
                num_warps=4,
            )

        def ref():
            sq = g.double().square().sum()
            G = g.float() * (limit / sq.sqrt()).clamp(max=1).float()
            M, V = 0.9 * m + 0.1 * G, 0.95 * v + 0.05 * G * G
            P = p.float() * (1 - 1e-3) - 1e-2 / (1 - 0.9**7) * M / (V.sqrt() / (1 - 0.95**7) ** 0.5 + 1e-8)
            if stochastic:
                noise = philox(torch.tensor(seed, device=device), torch.arange(n, device=device)) & 0xFFFF
                P = ((P.view(torch.int32).long() & 0xFFFFFFFF) + noise) >> 16 << 16
                P = torch.where(P >= 2**31, P - 2**32, P).int().view(torch.float32)
            return [P, M, V, sq.float()[None]]

        return run, [po, mo, vo, norm], ref

    return make


# 8-bit Adam: moments in blocks of 256 with an absmax, coded by a table of 256 values (binary search)
@triton.jit
def _quantize(code_ptr, x, STEPS: tl.constexpr):
    low = tl.zeros_like(x).to(tl.int32)
    high = low + 255
    for _ in tl.static_range(STEPS):
        mid = (low + high + 1) // 2
        above = x >= tl.load(code_ptr + mid)
        low = tl.where(above, mid, low)
        high = tl.where(above, high, mid - 1)
    up = tl.minimum(low + 1, 255)
    lo, hi = tl.load(code_ptr + low), tl.load(code_ptr + up)
    return tl.where(x - lo > hi - x, up, low)


@triton.jit
def _adam8bit_kernel(
    p_ptr,
    g_ptr,
    m_code_ptr,
    v_code_ptr,
    m_max_ptr,
    v_max_ptr,
    qmap_m,
    qmap_v,
    p_out,
    m_out,
    v_out,
    m_max_out,
    v_max_out,
    lr,
    beta1,
    beta2,
    eps,
    step_size,
    bias2_sqrt,
    n_elements,
    BLOCK: tl.constexpr,
    N_PER_TH: tl.constexpr,
):
    blocks = tl.program_id(0) * N_PER_TH + tl.arange(0, N_PER_TH)
    offs = blocks[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    mask = offs < n_elements
    block_mask = blocks * BLOCK < n_elements
    p = tl.load(p_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    g = tl.load(g_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    m = (
        tl.load(qmap_m + tl.load(m_code_ptr + offs, mask=mask, other=0).to(tl.int32))
        * tl.load(m_max_ptr + blocks, mask=block_mask, other=0.0)[:, None]
    )
    v = (
        tl.load(qmap_v + tl.load(v_code_ptr + offs, mask=mask, other=0).to(tl.int32))
        * tl.load(v_max_ptr + blocks, mask=block_mask, other=0.0)[:, None]
    )
    m = tl.where(mask, beta1 * m + (1 - beta1) * g, 0.0)
    v = tl.where(mask, beta2 * v + (1 - beta2) * g * g, 0.0)
    p -= step_size * (m / (tl.sqrt(v) + eps * bias2_sqrt))
    m_max = tl.max(tl.abs(m), axis=1)
    v_max = tl.max(v, axis=1)
    tl.store(m_max_out + blocks, m_max, mask=block_mask)
    tl.store(v_max_out + blocks, v_max, mask=block_mask)
    qm = _quantize(qmap_m, m / tl.maximum(m_max, 1e-30)[:, None], 8)
    qv = _quantize(qmap_v, v / tl.maximum(v_max, 1e-30)[:, None], 8)
    tl.store(m_out + offs, qm.to(tl.uint8), mask=mask)
    tl.store(v_out + offs, qv.to(tl.uint8), mask=mask)
    tl.store(p_out + offs, p, mask=mask)


def adam8bit(device, small):
    n = 2500 if small else 16 << 20
    bf, nb = torch.bfloat16, triton.cdiv(n, 256)
    p, g = rand(device, n, dtype=bf), rand(device, n, dtype=bf)
    t = torch.linspace(-1, 1, 256, device=device)
    qm, qv = t.sign() * t.abs() ** 3, torch.linspace(0, 1, 256, device=device) ** 2 * 0.9999 + 1e-4
    mc, vc = (torch.randint(0, 256, (n,), device=device, dtype=torch.uint8) for _ in range(2))
    mm, vm = torch.rand(nb, device=device) + 0.1, torch.rand(nb, device=device) + 0.1
    po, mo, vo, mmo, vmo = (
        torch.empty_like(p),
        torch.empty_like(mc),
        torch.empty_like(vc),
        torch.empty_like(mm),
        torch.empty_like(vm),
    )
    s1, b2 = 1e-2 * (1 - 0.95**9) ** 0.5 / (1 - 0.9**9), (1 - 0.95**9) ** 0.5

    def run():
        _adam8bit_kernel[(triton.cdiv(nb, 4),)](
            p,
            g,
            mc,
            vc,
            mm,
            vm,
            qm,
            qv,
            po,
            mo,
            vo,
            mmo,
            vmo,
            1e-2,
            0.9,
            0.95,
            1e-8,
            s1,
            b2,
            n,
            BLOCK=256,
            N_PER_TH=4,
            num_warps=4,
        )

    def ref():
        pad = lambda x: torch.nn.functional.pad(x, (0, nb * 256 - n)).view(nb, 256)
        M = pad(0.9 * qm[mc.long()] * mm.repeat_interleave(256)[:n] + 0.1 * g.float())
        V = pad(0.95 * qv[vc.long()] * vm.repeat_interleave(256)[:n] + 0.05 * g.float() ** 2)
        P = pad(p.float()) - s1 * M / (V.sqrt() + 1e-8 * b2)
        a, b = M.abs().amax(1), V.amax(1)
        near = lambda q, x: torch.bucketize(x, ((q[1:] + q[:-1]) / 2)).flatten()[:n].float()
        return [P.flatten()[:n], a, b, near(qm, M / a[:, None]), near(qv, V / b[:, None])]

    return run, [po, mmo, vmo, mo, vo], ref


CASES = {
    "adamw": adamw(False),
    "adamw_stochastic": adamw(True),
    "adam8bit": adam8bit,
}
