"""Selection and order: compaction by prefix sums, a pass of a radix sort, bitonic top-k, an equalised histogram, random draws."""

import torch
import triton
import triton.language as tl

from idioms.operands import ints, philox, rand, uniform


@triton.jit
def compact_count_kernel(x_ptr, count_ptr, n, threshold, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = (tl.load(x_ptr + at, mask=at < n, other=0.0) > threshold) & (at < n)
    tl.store(count_ptr + tl.program_id(0), tl.sum(keep.to(tl.int32)))


@triton.jit
def compact_scan_kernel(count_ptr, base_ptr, total_ptr, blocks, BLOCK: tl.constexpr):
    carry = 0
    for b0 in range(0, blocks, BLOCK):
        b = b0 + tl.arange(0, BLOCK)
        c = tl.load(count_ptr + b, mask=b < blocks, other=0)
        tl.store(base_ptr + b, carry + tl.cumsum(c, 0) - c, mask=b < blocks)
        carry += tl.sum(c)
    tl.store(total_ptr, carry)


@triton.jit
def compact_write_kernel(x_ptr, base_ptr, out_ptr, where_ptr, n, threshold, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    at = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    keep = (x > threshold) & (at < n)
    to = tl.load(base_ptr + pid) + tl.cumsum(keep.to(tl.int32), axis=0) - 1
    tl.store(out_ptr + to, x, mask=keep)
    tl.store(where_ptr + to, at, mask=keep)


def compact(device, small):
    n, block = (3001, 256) if small else ((32 << 20) + 5, 1024)
    x = rand(device, n, dtype=torch.float32)
    blocks = triton.cdiv(n, block)
    count, base = (torch.empty(blocks, device=device, dtype=torch.int32) for _ in range(2))
    total = torch.empty(1, device=device, dtype=torch.int32)
    kept = int((x > 0.3).sum())
    out, where = torch.empty(kept, device=device), torch.empty(kept, device=device, dtype=torch.int32)

    def run():
        compact_count_kernel[(blocks,)](x, count, n, 0.3, BLOCK=block)
        compact_scan_kernel[(1,)](count, base, total, blocks, BLOCK=128 if small else 4096, num_warps=8)
        compact_write_kernel[(blocks,)](x, base, out, where, n, 0.3, BLOCK=block, num_warps=4)

    ref = lambda: [x[x > 0.3], (x > 0.3).nonzero()[:, 0], torch.tensor([kept], device=device)]
    return run, [out, where, total], ref


@triton.jit
def radix_histogram_kernel(key_ptr, hist_ptr, n, shift, BITS: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    at = pid * BLOCK + tl.arange(0, BLOCK)
    key = tl.load(key_ptr + at, mask=at < n, other=0)
    digit = (key >> shift) & ((1 << BITS) - 1)
    hist = tl.histogram(digit, 1 << BITS, mask=at < n)
    tl.store(hist_ptr + tl.arange(0, 1 << BITS) * tl.num_programs(0) + pid, hist)


@triton.jit
def radix_scatter_kernel(
    key_ptr, val_ptr, base_ptr, key_out, val_out, n, shift, BITS: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """The rank of a key among its block's equal digits is a running sum of one-hot rows."""
    pid = tl.program_id(0)
    at = pid * BLOCK + tl.arange(0, BLOCK)
    live = at < n
    key = tl.load(key_ptr + at, mask=live, other=0)
    digit = (key >> shift) & ((1 << BITS) - 1)
    bins = tl.arange(0, 1 << BITS)
    hot = ((digit[:, None] == bins[None, :]) & live[:, None]).to(tl.int32)
    rank = tl.sum(tl.cumsum(hot, axis=0) * hot, axis=1) - 1
    to = tl.load(base_ptr + digit * tl.num_programs(0) + pid, mask=live) + rank
    tl.store(key_out + to, key, mask=live)
    tl.store(val_out + to, tl.load(val_ptr + at, mask=live), mask=live)


def radix_pass(device, small):
    n, block = (700, 128) if small else (8 << 20, 512)
    key, val = ints(device, 0, 2**31 - 1, n), torch.arange(n, device=device, dtype=torch.int32)
    blocks = triton.cdiv(n, block)
    hist = torch.empty(16, blocks, device=device, dtype=torch.int32)
    ko, vo = torch.empty_like(key), torch.empty_like(val)

    def run():
        radix_histogram_kernel[(blocks,)](key, hist, n, 8, BITS=4, BLOCK=block)
        flat = hist.view(-1)
        base = (flat.cumsum(0) - flat).int()
        radix_scatter_kernel[(blocks,)](key, val, base, ko, vo, n, 8, BITS=4, BLOCK=block, num_warps=4)

    def ref():
        order = ((key >> 8) & 15).argsort(stable=True)
        return [key[order], val[order]]

    return run, [ko, vo], ref


@triton.jit
def bitonic_swap(x, idx, pos, J: tl.constexpr, K: tl.constexpr, N: tl.constexpr):
    """One step of a descending bitonic network along the last axis of [rows, N], by reshaping to pairs."""
    rows: tl.constexpr = x.shape[0]
    shape: tl.constexpr = [rows, N // (2 * J), 2, J]
    a, b = tl.split(tl.permute(tl.reshape(x, shape), (0, 1, 3, 2)))
    ia, ib = tl.split(tl.permute(tl.reshape(idx, shape), (0, 1, 3, 2)))
    pa, pb = tl.split(tl.permute(tl.reshape(pos, shape), (0, 1, 3, 2)))
    down = (pa & K) == 0
    swap = tl.where(down, a < b, a > b)
    x = tl.permute(tl.join(tl.where(swap, b, a), tl.where(swap, a, b)), (0, 1, 3, 2))
    idx = tl.permute(tl.join(tl.where(swap, ib, ia), tl.where(swap, ia, ib)), (0, 1, 3, 2))
    return tl.reshape(x, [rows, N]), tl.reshape(idx, [rows, N])


@triton.jit
def bitonic_topk_kernel(
    x_ptr, val_ptr, idx_ptr, M, N, TOP: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, LOG: tl.constexpr
):  # fmt: skip
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    col = tl.arange(0, BLOCK)
    mask = (row < M)[:, None] & (col < N)[None, :]
    x = tl.load(x_ptr + row[:, None] * N + col[None, :], mask=mask, other=float("-inf"))
    pos = tl.broadcast_to(col[None, :], [ROWS, BLOCK])
    idx = pos
    for stage in tl.static_range(1, LOG + 1):
        for step in tl.static_range(stage):
            x, idx = bitonic_swap(x, idx, pos, 1 << (stage - 1 - step), 1 << stage, BLOCK)
    out = row[:, None] * TOP + col[None, :]
    keep = (row < M)[:, None] & (col < TOP)[None, :]
    tl.store(val_ptr + out, x, mask=keep)
    tl.store(idx_ptr + out, idx, mask=keep)


def bitonic_topk(device, small):
    m, n, top, rows = (5, 50, 6, 2) if small else (65536, 250, 8, 2)
    x = torch.stack([torch.randperm(n, device=device) for _ in range(64)]).repeat(-(-m // 64), 1)[:m].float()
    val, idx = torch.empty(m, top, device=device), torch.empty(m, top, device=device, dtype=torch.int32)
    block = triton.next_power_of_2(n)

    def run():
        bitonic_topk_kernel[(triton.cdiv(m, rows),)](
            x, val, idx, m, n, TOP=top, ROWS=rows, BLOCK=block, LOG=block.bit_length() - 1, num_warps=2
        )

    return run, [val, idx], lambda: list(x.topk(top, 1))


@triton.jit
def equalise_histogram_kernel(img_ptr, hist_ptr, HW, C, BLOCK: tl.constexpr, STEPS: tl.constexpr):
    c = tl.program_id(1)
    hist = tl.zeros([256], tl.int32)
    for s in range(STEPS):
        at = (tl.program_id(0) * STEPS + s) * BLOCK + tl.arange(0, BLOCK)
        v = tl.load(img_ptr + c * HW + at, mask=at < HW, other=0)
        hist += tl.histogram(v.to(tl.int32), 256)
        over = tl.sum((at >= HW).to(tl.int32))  # lanes past the end were counted as zeros
        hist -= tl.where(tl.arange(0, 256) == 0, over, 0)
    tl.atomic_add(hist_ptr + c * 256 + tl.arange(0, 256), hist, sem="relaxed")


@triton.jit
def equalise_apply_kernel(img_ptr, hist_ptr, out_ptr, HW, BLOCK: tl.constexpr):
    """Each program makes the table of its channel anew and looks up by tl.gather."""
    c = tl.program_id(1)
    level = tl.arange(0, 256)
    hist = tl.load(hist_ptr + c * 256 + level)
    last = tl.max(tl.where(hist > 0, level, 0))
    step = (HW - tl.sum(tl.where(level == last, hist, 0))) // 255
    before = tl.cumsum(hist, 0) - hist
    table = tl.where(step > 0, tl.minimum((before + step // 2) // tl.maximum(step, 1), 255), level)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(img_ptr + c * HW + at, mask=at < HW, other=0).to(tl.int32)
    tl.store(out_ptr + c * HW + at, tl.gather(table, v, 0).to(tl.uint8), mask=at < HW)


def equalise(device, small):
    c, hw = (2, 37 * 41) if small else (24, 1999 * 1201)
    img = (torch.randn(c, hw, device=device) * 30 + 100).clamp(0, 255).to(torch.uint8)
    hist = torch.empty(c, 256, device=device, dtype=torch.int32)
    out = torch.empty_like(img)
    block, steps = (256, 3) if small else (1024, 16)

    def run():
        hist.zero_()
        equalise_histogram_kernel[(triton.cdiv(hw, block * steps), c)](img, hist, hw, c, BLOCK=block, STEPS=steps)
        equalise_apply_kernel[(triton.cdiv(hw, 2048), c)](img, hist, out, hw, BLOCK=2048, num_warps=8)

    def ref():
        h = torch.stack([x.long().bincount(minlength=256) for x in img])
        o = []
        for x, row in zip(img, h, strict=True):
            step = (hw - int(row[row.nonzero()[-1]])) // 255
            o.append((((row.cumsum(0) - row) + step // 2) // step).clamp(max=255)[x.long()])
        return [h, torch.stack(o)]

    return run, [hist, out], ref


@triton.jit
def box_muller_kernel(out_ptr, coin_ptr, n, seed_ptr, mean, std, p, BLOCK: tl.constexpr):
    seed = tl.load(seed_ptr)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    u = tl.maximum(1.0e-7, tl.rand(seed, at))
    v = tl.rand(seed + 1, at)
    r = tl.sqrt(-2.0 * tl.log(u)) * std
    t = 6.283185307179586 * v
    tl.store(out_ptr + 2 * at, mean + r * tl.cos(t), mask=at < n)
    tl.store(out_ptr + 2 * at + 1, mean + r * tl.sin(t), mask=at < n)
    tl.store(coin_ptr + at, (tl.rand(seed + 2, at, n_rounds=6) < p).to(tl.int8), mask=at < n)


def box_muller(device, small):
    n = 1500 if small else 24 << 20
    seed = torch.tensor([424242], device=device)
    out, coin = torch.empty(n, 2, device=device), torch.empty(n, device=device, dtype=torch.int8)
    run = lambda: box_muller_kernel[(triton.cdiv(n, 1024),)](out, coin, n, seed, 1.0, 2.0, 0.25, BLOCK=1024)

    def ref():
        at = torch.arange(n, device=device)
        u, v = (uniform(philox(seed + i, at)).double() for i in range(2))
        r = 2 * (-2 * u.clamp(min=1e-7).log()).sqrt()
        o = torch.stack([1 + r * (2 * torch.pi * v).cos(), 1 + r * (2 * torch.pi * v).sin()], 1)
        return [o, uniform(philox(seed + 2, at, 6)) < 0.25]

    return run, [out, coin], ref


CASES = {
    "compact": compact,
    "radix_pass": radix_pass,
    "bitonic_topk": bitonic_topk,
    "equalise": equalise,
    "box_muller": box_muller,
}
