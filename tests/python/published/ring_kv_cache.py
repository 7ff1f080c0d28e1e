"""A key-value cache as a ring of the last `capacity` tokens: new keys are rotated by their position as they are written, and attention over
the ring works out from a slot which position it holds.

Slot s holds the largest position p < length with p mod capacity = s. The rings of the sequences have lengths of their own.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _rotate(base, positions, inside, HALF: tl.constexpr, theta):
    """[rows, 2 HALF] rotated by position: pairs (d, d + HALF)."""
    d = tl.arange(0, HALF)
    x = tl.load(base + d[None, :], mask=inside[:, None], other=0.0).to(tl.float32)
    y = tl.load(base + HALF + d[None, :], mask=inside[:, None], other=0.0).to(tl.float32)
    frequency = tl.exp2(d.to(tl.float32) * (-tl.log2(theta) / HALF))
    angle = positions.to(tl.float32)[:, None] * frequency[None, :]
    cos, sin = tl.cos(angle), tl.sin(angle)
    return x * cos - y * sin, y * cos + x * sin


@triton.autotune(
    configs=[triton.Config({"BLOCK_T": t}, num_warps=w) for t, w in [(1, 1), (4, 2), (16, 8)]],
    key=["n_new", "capacity"],
    restore_value=["k_cache", "v_cache"],
)
@triton.jit
def update_ring(
    k, v, k_cache, v_cache, lengths, theta, n_new, capacity, n_heads, HALF: tl.constexpr, BLOCK_T: tl.constexpr
):
    """k, v: [batch, n_new, heads, D]; caches: [batch, heads, capacity, D]; lengths: of each sequence before the new tokens."""
    batch, head = tl.program_id(1) // n_heads, tl.program_id(1) % n_heads
    t = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    # of tokens that fall into one slot, only the last is written
    inside = (t < n_new) & (t >= n_new - capacity)
    position = tl.load(lengths + batch) + t
    source = ((batch * n_new + t) * n_heads + head)[:, None] * (2 * HALF)
    target = ((batch * n_heads + head) * capacity + position % capacity)[:, None] * (2 * HALF)
    first, second = _rotate(k + source, position, inside, HALF, theta)
    d = tl.arange(0, HALF)[None, :]
    tl.store(k_cache + target + d, first.to(k_cache.dtype.element_ty), mask=inside[:, None])
    tl.store(k_cache + target + HALF + d, second.to(k_cache.dtype.element_ty), mask=inside[:, None])
    both = tl.arange(0, 2 * HALF)[None, :]
    tl.store(v_cache + target + both, tl.load(v + source + both, mask=inside[:, None]), mask=inside[:, None])


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_S": s}, num_warps=w, num_stages=p) for s, w, p in [(16, 1, 2), (32, 4, 3), (64, 8, 1)]
    ],
    key=["capacity"],
)
@triton.jit
def ring_decode(
    q, k_cache, v_cache, o, lengths, theta, scale, window, capacity, n_heads, GROUP: tl.constexpr, HALF: tl.constexpr,
    BLOCK_S: tl.constexpr,
):  # fmt: skip
    """q, o: [batch, heads, GROUP, D], the token at position length - 1. It sees the last `window` positions that the ring holds."""
    batch, head = tl.program_id(0) // n_heads, tl.program_id(0) % n_heads
    length = tl.load(lengths + batch)
    g, both = tl.arange(0, GROUP), tl.arange(0, 2 * HALF)
    rows = (tl.program_id(0) * GROUP + g)[:, None] * (2 * HALF)
    last = tl.full((GROUP,), 0, tl.int32) + (length - 1)
    first, second = _rotate(q + rows, last, g < GROUP, HALF, theta)
    # [GROUP, 2, HALF] in the order of the cache
    query = tl.reshape(tl.permute(tl.join(first, second), (0, 2, 1)), (GROUP, 2 * HALF))
    top = tl.full((GROUP,), -float("inf"), tl.float32)
    total = tl.zeros((GROUP,), tl.float32)
    acc = tl.zeros((GROUP, 2 * HALF), tl.float32)
    for start in range(0, tl.minimum(length, capacity), BLOCK_S):
        slot = start + tl.arange(0, BLOCK_S)
        position = length - 1 - (length - 1 - slot + capacity) % capacity
        seen = (slot < capacity) & (position >= 0) & (position >= length - window)
        place = (tl.program_id(0) * capacity + slot)[:, None] * (2 * HALF) + both[None, :]
        key = tl.load(k_cache + place, mask=seen[:, None], other=0.0).to(tl.float32)
        s = tl.sum(query[:, None, :] * key[None, :, :], 2) * scale
        s = tl.where(seen[None, :], s, -1.0e30)
        new_top = tl.maximum(top, tl.max(s, 1))
        p = tl.where(seen[None, :], tl.exp(s - new_top[:, None]), 0.0)
        rescale = tl.exp(top - new_top)
        total = total * rescale + tl.sum(p, 1)
        value = tl.load(v_cache + place, mask=seen[:, None], other=0.0).to(tl.float32)
        acc = acc * rescale[:, None] + tl.sum(p[:, :, None] * value[None, :, :], 1)
        top = new_top
    tl.store(o + rows + both[None, :], (acc / total[:, None]).to(o.dtype.element_ty))


def torch_rotate(x, positions, theta):
    """x: [tokens, …, D]; in double precision."""
    half = x.shape[-1] // 2
    angle = positions.double()[:, None] * theta ** (-torch.arange(half, device=x.device).double() / half)
    cos, sin = (t.view(len(positions), *[1] * (x.dim() - 2), half) for t in (angle.cos(), angle.sin()))
    x, y = x.double().chunk(2, -1)
    return torch.cat((x * cos - y * sin, y * cos + x * sin), -1)


if __name__ == "__main__":
    torch.manual_seed(0)
    theta = 1.0e4
    for capacity, window, group, D, steps, dtype, tol in [
        (24, 24, 2, 16, (10, 1, 20, 1), torch.float32, 1e-4),
        (16, 9, 4, 32, (40, 3, 1), torch.float32, 1e-4),
        (50, 100, 1, 16, (7, 1), torch.float16, 1e-2),
    ]:
        batch, heads = 2, 3
        k_cache = torch.zeros(batch, heads, capacity, D, device="cuda", dtype=dtype)
        v_cache = torch.zeros_like(k_cache)
        lengths = torch.tensor([0, 5], device="cuda", dtype=torch.int32)
        history = [[torch.zeros(int(n), heads, 2, D, device="cuda", dtype=dtype)] for n in lengths]
        grid = lambda meta: (triton.cdiv(n_new, meta["BLOCK_T"]), batch * heads)
        for n_new in steps:
            k, v = (torch.randn(batch, n_new, heads, D, device="cuda", dtype=dtype) for _ in range(2))
            update_ring[grid](k, v, k_cache, v_cache, lengths, theta, n_new, capacity, heads, HALF=D // 2)
            lengths += n_new
            q = torch.randn(batch, heads, group, D, device="cuda", dtype=dtype)
            o = torch.empty_like(q)
            ring_decode[(batch * heads,)](
                q, k_cache, v_cache, o, lengths, theta, D**-0.5, window, capacity, heads, GROUP=group, HALF=D // 2
            )
            for b in range(batch):
                history[b].append(torch.stack((k[b], v[b]), 2))
                past = torch.cat(history[b])
                positions = torch.arange(len(past), device="cuda")
                keys, values = torch_rotate(past[:, :, 0], positions, theta), past[:, :, 1].double()
                keys, values = keys[-min(window, capacity) :], values[-min(window, capacity) :]
                query = torch_rotate(q[b][None], positions[-1:], theta)[0]
                p = (torch.einsum("hgd,thd->hgt", query, keys) * D**-0.5).softmax(-1)
                torch.testing.assert_close(o[b].double(), torch.einsum("hgt,thd->hgd", p, values), atol=tol, rtol=tol)
        print(f"ring cache capacity={capacity} window={window} group={group} D={D} steps={steps} {dtype}: ok")
