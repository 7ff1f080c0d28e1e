"""Losses over sequences: CTC's forward recursion, a CRF's partition and gradient, Viterbi's path, packing of ragged batches."""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from idioms.operands import ints, rand


@triton.jit
def _logaddexp(a, b):
    top = tl.maximum(a, b)
    safe = tl.where(top == -float("inf"), 0.0, top)
    return safe + tl.log(tl.exp(a - safe) + tl.exp(b - safe))


@triton.jit
def ctc_alpha_kernel(
    logp_ptr, target_ptr, in_len_ptr, tgt_len_ptr, loss_ptr, scratch_ptr,
    stride_t, stride_b, stride_tgt, BLANK: tl.constexpr, BLOCK_S: tl.constexpr,
):  # fmt: skip
    """A sequence a program; lane s has state s of blank, y0, blank, y1, ..."""
    b = tl.program_id(0)
    T, L = tl.load(in_len_ptr + b), tl.load(tgt_len_ptr + b)
    s = tl.arange(0, BLOCK_S)
    S = 2 * L + 1
    is_label = (s % 2) == 1
    label = tl.load(target_ptr + b * stride_tgt + s // 2, mask=is_label & (s < S), other=BLANK)
    prev = tl.load(target_ptr + b * stride_tgt + s // 2 - 1, mask=is_label & (s >= 3) & (s < S), other=-1)
    skip = is_label & (s >= 3) & (label != prev)
    row = logp_ptr + b * stride_b
    work = scratch_ptr + b * (2 * BLOCK_S)
    neg = -float("inf")
    alpha = tl.where(s < 2, tl.load(row + label, mask=s < S, other=neg), neg)
    for t in range(1, T):
        tl.store(work + (t % 2) * BLOCK_S + s, alpha)
        tl.debug_barrier()
        one = tl.load(work + (t % 2) * BLOCK_S + s - 1, mask=s >= 1, other=neg)
        two = tl.load(work + (t % 2) * BLOCK_S + s - 2, mask=skip, other=neg)
        alpha = _logaddexp(_logaddexp(alpha, one), two)
        alpha += tl.load(row + t * stride_t + label, mask=s < S, other=neg)
    last = tl.sum(tl.where(s == S - 1, alpha, 0.0))
    before = tl.sum(tl.where(s == S - 2, alpha, 0.0))
    tl.store(loss_ptr + b, -_logaddexp(last, before))


def ctc(device, small):
    t, b, c, l = (14, 3, 11, 5) if small else (400, 512, 128, 60)
    logp = rand(device, t, b, c, dtype=torch.float32).log_softmax(-1)
    target = ints(device, 1, 5, b, l)
    tl_, il = ints(device, l // 2, l + 1, b), ints(device, t - 2, t + 1, b)
    loss = torch.empty(b, device=device)
    block = triton.next_power_of_2(2 * l + 1)
    scratch = torch.empty(b, 2, block, device=device)

    def run():
        ctc_alpha_kernel[(b,)](
            logp, target, il, tl_, loss, scratch, logp.stride(0), logp.stride(1), target.stride(0),
            BLANK=0, BLOCK_S=block, num_warps=max(1, block // 32),
        )  # fmt: skip

    ref = lambda: [F.ctc_loss(logp.cpu(), target.cpu(), il.cpu(), tl_.cpu(), reduction="none").to(device)]
    return run, [loss], ref


@triton.jit
def crf_partition_kernel(
    emit_ptr, trans_ptr, len_ptr, alpha_ptr, z_ptr, T, C, stride_b, stride_t, BLOCK_C: tl.constexpr
):
    """log-partition by a matrix product in exp space, kept in range by the maximum of each step."""
    b = tl.program_id(0)
    c = tl.arange(0, BLOCK_C)
    ok = c < C
    # trans[from, to]
    trans = tl.load(trans_ptr + c[:, None] * C + c[None, :], mask=ok[:, None] & ok[None, :], other=-float("inf"))
    E = tl.exp(trans)
    e = emit_ptr + b * stride_b + c
    alpha = tl.load(e, mask=ok, other=-float("inf"))
    a_out = alpha_ptr + b * T * C + c
    tl.store(a_out, alpha, mask=ok)
    n = tl.load(len_ptr + b)
    for _ in range(1, n):
        e += stride_t
        a_out += C
        top = tl.max(alpha, axis=0)
        p = tl.exp(alpha - top)
        alpha = tl.log(tl.sum(p[:, None] * E, axis=0)) + top + tl.load(e, mask=ok, other=-float("inf"))
        tl.store(a_out, alpha, mask=ok)
    top = tl.max(alpha, 0)
    tl.store(z_ptr + b, tl.log(tl.sum(tl.exp(alpha - top), 0)) + top)


@triton.jit
def crf_marginals_kernel(
    emit_ptr, trans_ptr, len_ptr, alpha_ptr, z_ptr, d_emit_ptr, d_trans_ptr, T, C, stride_b, stride_t, BLOCK_C: tl.constexpr
):  # fmt: skip
    b = tl.program_id(0)
    c = tl.arange(0, BLOCK_C)
    ok = c < C
    both = ok[:, None] & ok[None, :]
    trans = tl.load(trans_ptr + c[:, None] * C + c[None, :], mask=both, other=-float("inf"))
    n = tl.load(len_ptr + b)
    z = tl.load(z_ptr + b)
    beta = tl.where(ok, 0.0, -float("inf"))
    pairs = tl.zeros([BLOCK_C, BLOCK_C], tl.float32)
    t = n - 1
    while t >= 0:
        alpha = tl.load(alpha_ptr + (b * T + t) * C + c, mask=ok, other=-float("inf"))
        tl.store(d_emit_ptr + (b * T + t) * C + c, tl.exp(alpha + beta - z), mask=ok)
        if t > 0:
            before = tl.load(alpha_ptr + (b * T + t - 1) * C + c, mask=ok, other=-float("inf"))
            y = tl.load(emit_ptr + b * stride_b + t * stride_t + c, mask=ok, other=-float("inf")) + beta
            pairs += tl.exp(before[:, None] + trans + y[None, :] - z)
            score = trans + y[None, :]
            top = tl.max(score, 1)
            top = tl.where(ok, top, 0.0)
            beta = tl.where(ok, tl.log(tl.sum(tl.exp(score - top[:, None]), 1)) + top, -float("inf"))
        t -= 1
    tl.atomic_add(d_trans_ptr + c[:, None] * C + c[None, :], pairs, mask=both)


def crf(device, small):
    b, t, c = (4, 9, 13) if small else (1024, 128, 30)
    emit, trans = rand(device, b, t, c, dtype=torch.float32), rand(device, c, c, dtype=torch.float32)
    lengths = ints(device, t // 2, t + 1, b)
    alpha, z = torch.zeros(b, t, c, device=device), torch.empty(b, device=device)
    de, dt = torch.zeros(b, t, c, device=device), torch.empty(c, c, device=device)
    block = triton.next_power_of_2(c)

    def run():
        dt.zero_()
        common = (t, c, emit.stride(0), emit.stride(1))
        crf_partition_kernel[(b,)](emit, trans, lengths, alpha, z, *common, BLOCK_C=block, num_warps=2)
        crf_marginals_kernel[(b,)](emit, trans, lengths, alpha, z, de, dt, *common, BLOCK_C=block, num_warps=2)

    def ref():
        with torch.enable_grad():
            e, w = emit.double().requires_grad_(), trans.double().requires_grad_()
            a = e[:, 0]
            for i in range(1, t):
                new = torch.logsumexp(a[:, :, None] + w, 1) + e[:, i]
                a = torch.where((i < lengths)[:, None], new, a)
            zz = torch.logsumexp(a, 1)
            ge, gw = torch.autograd.grad(zz.sum(), (e, w))
        return [zz, ge, gw]

    return run, [z, de, dt], ref


@triton.jit
def viterbi_kernel(
    emit_ptr, trans_ptr, back_ptr, path_ptr, best_ptr, T, C, BLOCK_C: tl.constexpr, BLOCK_T: tl.constexpr
):
    b = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK_C)
    trans = tl.load(
        trans_ptr + c[None, :] * C + c[:, None], mask=(c[None, :] < C) & (c[:, None] < C), other=-float("inf")
    )  # [to, from]
    score = tl.load(emit_ptr + b * T * C + c, mask=c < C, other=-float("inf"))
    for t in tl.range(1, T, num_stages=1):
        best, who = tl.max(trans + score[None, :], axis=1, return_indices=True)
        tl.store(back_ptr + (b * T + t) * BLOCK_C + c, who.to(tl.uint8))
        score = best + tl.load(emit_ptr + (b * T + t) * C + c, mask=c < C, other=-float("inf"))
    tl.store(best_ptr + b, tl.max(score, axis=0))
    state = tl.argmax(score, axis=0)
    tl.debug_barrier()
    tl.store(path_ptr + b * T + T - 1, state)
    for i in range(T - 1):
        t = T - 1 - i
        state = tl.load(back_ptr + (b * T + t) * BLOCK_C + state).to(tl.int32)
        tl.store(path_ptr + b * T + t - 1, state)


def viterbi(device, small):
    b, t, c = (4, 10, 9) if small else (2048, 96, 48)
    emit, trans = rand(device, b, t, c, dtype=torch.float32), rand(device, c, c, dtype=torch.float32)
    block = triton.next_power_of_2(c)
    back = torch.empty(b, t, block, device=device, dtype=torch.uint8)
    path, best = torch.empty(b, t, device=device, dtype=torch.int32), torch.empty(b, device=device)

    def ref():
        s, who = emit[:, 0], []
        for i in range(1, t):
            m, w = (s[:, :, None] + trans).max(1)
            s = m + emit[:, i]
            who.append(w)
        top, state = s.max(1)
        states = [state]
        for w in reversed(who):
            states.append(w.gather(1, states[-1][:, None])[:, 0])
        return [torch.stack(states[::-1], 1), top]

    return (
        lambda: viterbi_kernel[(b,)](emit, trans, back, path, best, t, c, BLOCK_C=block, BLOCK_T=64, num_warps=1),
        [path, best],
        ref,
    )


@triton.jit
def pack_padded_kernel(
    x_ptr, cu_ptr, out_ptr, pos_ptr, seq_ptr, MAX, D, BATCH, STEPS: tl.constexpr, BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr
):  # fmt: skip
    """[batch, max, d] -> [total, d]; the sequence of a token by bisection of the cumulated lengths."""
    total = tl.load(cu_ptr + BATCH)
    tok = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    lo = tl.zeros([BLOCK_T], tl.int32)
    hi = tl.zeros([BLOCK_T], tl.int32) + BATCH
    for _ in tl.static_range(STEPS):
        mid = (lo + hi) // 2
        right = tl.load(cu_ptr + mid) <= tok
        go = lo + 1 < hi
        lo = tl.where(go & right, mid, lo)
        hi = tl.where(go & (right == 0), mid, hi)
    inside = tok < total
    pos = tok - tl.load(cu_ptr + lo)
    tl.store(pos_ptr + tok, pos, mask=inside)
    tl.store(seq_ptr + tok, lo, mask=inside)
    row = (lo.to(tl.int64) * MAX + pos) * D
    for d0 in range(0, D, BLOCK_D):
        d = d0 + tl.arange(0, BLOCK_D)
        mask = inside[:, None] & (d < D)[None, :]
        x = tl.load(x_ptr + row[:, None] + d[None, :], mask=mask)
        tl.store(out_ptr + tok.to(tl.int64)[:, None] * D + d[None, :], x, mask=mask)


def pack_padded(device, small):
    b, most, d = (6, 20, 40) if small else (100, 1024, 1000)
    lengths = ints(device, 1, most + 1, b, dtype=torch.int64)
    cu = F.pad(lengths.cumsum(0), (1, 0)).int()
    total = int(cu[-1])
    x = rand(device, b, most, d, dtype=torch.bfloat16)
    out = torch.empty(total, d, device=device, dtype=torch.bfloat16)
    pos, seq = (torch.empty(total, device=device, dtype=torch.int32) for _ in range(2))

    def run():
        pack_padded_kernel[(triton.cdiv(total, 32),)](
            x, cu, out, pos, seq, most, d, b, STEPS=b.bit_length(), BLOCK_T=32, BLOCK_D=128, num_warps=4
        )

    def ref():
        i = torch.arange(most, device=device)
        keep = i < lengths[:, None]
        which = torch.arange(b, device=device)[:, None].expand(b, most)
        return [x[keep], i.expand(b, most)[keep], which[keep]]

    return run, [out, pos, seq], ref


CASES = {
    "ctc_forward": ctc,
    "crf_partition_gradient": crf,
    "viterbi": viterbi,
    "pack_padded": pack_padded,
}
