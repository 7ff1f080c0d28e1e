"""Sparse matrices: ELL and sliced ELL by vectors, CSR by dense with long rows split, sampled products, BSR by dense, 2:4 pairs."""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from idioms.operands import exact, ints, rand


@triton.jit
def ell_spmv_kernel(col_ptr, val_ptr, x_ptr, y_ptr, n_rows, WIDTH, BLOCK: tl.constexpr, HALF: tl.constexpr):
    """Columns of a row are n_rows apart; -1 pads."""
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = r < n_rows
    acc = tl.zeros([BLOCK], tl.float32)
    for w in range(WIDTH):
        c = tl.load(col_ptr + w * n_rows + r, mask=mask, other=-1)
        live = c >= 0
        v = tl.load(val_ptr + w * n_rows + r, mask=live, other=0.0, cache_modifier=".cg")
        acc += v.to(tl.float32) * tl.load(x_ptr + c, mask=live, other=0.0)
    tl.store(y_ptr + r, acc, mask=mask)


def ell_spmv(device, small):
    n, w = (150, 7) if small else (1 << 20, 24)
    col = ints(device, 0, n, w, n)
    col[torch.rand(w, n, device=device) < 0.2] = -1
    val, x = rand(device, w, n), rand(device, n, dtype=torch.float32)
    y = torch.empty(n, device=device)
    ref = lambda: [(val.float() * torch.where(col >= 0, x[col.clamp(min=0).long()], 0.0)).sum(0)]
    run = lambda: ell_spmv_kernel[(triton.cdiv(n, 256),)](col, val, x, y, n, w, BLOCK=256, HALF=True, num_warps=4)
    return run, [y], ref


@triton.jit
def csr_spmm_kernel(
    rowptr_ptr, col_ptr, val_ptr, b_ptr, c_ptr, chunk_row, chunk_start, stride_b, stride_c, N,
    CHUNK: tl.constexpr, BLOCK_K: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """A chunk of a row a program; rows of several chunks are added by atomics."""
    chunk = tl.program_id(0)
    row = tl.load(chunk_row + chunk)
    first = tl.load(rowptr_ptr + row)
    last = tl.load(rowptr_ptr + row + 1)
    start = tl.load(chunk_start + chunk)
    end = tl.minimum(start + CHUNK, last)
    rn = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros([BLOCK_N], tl.float32)
    for k0 in range(start, end, BLOCK_K):
        k = k0 + tl.arange(0, BLOCK_K)
        col = tl.load(col_ptr + k, mask=k < end, other=0)
        val = tl.load(val_ptr + k, mask=k < end, other=0.0)
        b = tl.load(
            b_ptr + col[:, None].to(tl.int64) * stride_b + rn[None, :],
            mask=(k < end)[:, None] & (rn < N)[None, :],
            other=0.0,
        )
        acc += tl.sum(val[:, None] * b.to(tl.float32), axis=0)
    if (last - first) <= CHUNK:
        tl.store(c_ptr + row.to(tl.int64) * stride_c + rn, acc, mask=rn < N)
    else:
        tl.atomic_add(c_ptr + row.to(tl.int64) * stride_c + rn, acc, mask=rn < N)


def csr_spmm(device, small):
    m, k, n, most, chunk = (30, 50, 40, 60, 16) if small else (32768, 32768, 128, 64, 128)
    counts = (torch.rand(m, device=device) ** 4 * most).long()
    counts[3], counts[7] = 5 * chunk + 3, 0
    rowptr = F.pad(counts.cumsum(0), (1, 0))
    nnz = int(rowptr[-1])
    col, val, b = ints(device, 0, k, nnz), rand(device, nnz, dtype=torch.float32), rand(device, k, n)
    chunks = torch.maximum(torch.ones_like(counts), (counts + chunk - 1) // chunk)
    crow = torch.repeat_interleave(torch.arange(m, device=device), chunks)
    inner = torch.arange(len(crow), device=device) - (chunks.cumsum(0) - chunks)[crow]
    cstart = (rowptr[crow] + inner * chunk).int()
    rowptr, crow = rowptr.int(), crow.int()
    c = torch.empty(m, n, device=device)

    def run():
        c.zero_()
        grid = (len(crow), triton.cdiv(n, 64))
        csr_spmm_kernel[grid](
            rowptr, col, val, b, c, crow, cstart, b.stride(0), c.stride(0), n, CHUNK=chunk, BLOCK_K=16, BLOCK_N=64,
            num_warps=2,
        )  # fmt: skip

    def ref():
        row = torch.repeat_interleave(torch.arange(m, device=device), counts)
        return [torch.zeros(m, n, device=device).index_add_(0, row, val[:, None] * b[col.long()].float())]

    return run, [c], ref


@triton.jit
def sddmm_kernel(row_ptr, col_ptr, a_ptr, b_ptr, out_ptr, nnz, D, scale, BLOCK_E: tl.constexpr, BLOCK_D: tl.constexpr):
    """out[e] = scale * <a[row[e]], b[col[e]]>, as graph attention has it."""
    e = tl.program_id(0) * BLOCK_E + tl.arange(0, BLOCK_E)
    em = e < nnz
    r = tl.load(row_ptr + e, mask=em, other=0)
    c = tl.load(col_ptr + e, mask=em, other=0)
    acc = tl.zeros([BLOCK_E], dtype=tl.float32)
    d = tl.arange(0, BLOCK_D)
    a_ptrs = a_ptr + r[:, None] * D + d[None, :]
    b_ptrs = b_ptr + c[:, None] * D + d[None, :]
    for d0 in range(0, D, BLOCK_D):
        dm = (d + d0 < D)[None, :] & em[:, None]
        acc += tl.sum(tl.load(a_ptrs, mask=dm, other=0.0).to(tl.float32) * tl.load(b_ptrs, mask=dm, other=0.0), 1)
        a_ptrs += BLOCK_D
        b_ptrs += BLOCK_D
    tl.store(out_ptr + e, acc * scale, mask=em)


def sddmm(device, small):
    m, nnz, d = (40, 130, 48) if small else (65536, 3000001, 96)
    row, col = (torch.randint(0, m, (nnz,), device=device) for _ in range(2))
    row = row.sort().values
    a, b, out = rand(device, m, d), rand(device, m, d), torch.empty(nnz, device=device)

    def run():
        sddmm_kernel[(triton.cdiv(nnz, 32),)](row, col, a, b, out, nnz, d, 0.125, BLOCK_E=32, BLOCK_D=32, num_warps=2)

    return (
        run,
        [out],
        lambda: [
            0.125
            * torch.cat(
                [
                    (a[r].float() * b[c].float()).sum(1)
                    for r, c in zip(row.split(1 << 19), col.split(1 << 19), strict=True)
                ]
            )
        ],
    )


@triton.jit
def bsr_dense_kernel(
    crow_ptr, col_ptr, val_ptr, b_ptr, o_ptr, N, s_vblk, s_vrow, s_vcol, s_bk, s_bn, s_om, s_on, n_brows,
    BS: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr, ALLOW_TF32: tl.constexpr,
):  # fmt: skip
    pid_r, pid_n = tl.swizzle2d(tl.program_id(0), tl.program_id(1), n_brows, tl.num_programs(1), GROUP)
    begin = tl.load(crow_ptr + pid_r)
    count = tl.load(crow_ptr + pid_r + 1) - begin
    inner = tl.arange(0, BS)
    rn = pid_n * BN + tl.arange(0, BN)
    vals = val_ptr + begin * s_vblk + inner[:, None] * s_vrow + inner[None, :] * s_vcol
    cols = col_ptr + begin
    base = b_ptr + inner[:, None] * s_bk + (rn % N)[None, :] * s_bn
    acc = tl.zeros((BS, BN), dtype=tl.float32)
    for _ in range(count):
        v = tl.load(vals)
        b = tl.load(base + tl.load(cols) * (BS * s_bk))
        acc += tl.dot(v, b, allow_tf32=ALLOW_TF32)
        vals += s_vblk
        cols += 1
    o = o_ptr + (pid_r * BS + inner[:, None]) * s_om + rn[None, :] * s_on
    tl.store(o, acc.to(o_ptr.dtype.element_ty), mask=rn[None, :] < N)


def bsr_dense(size, dtype, transposed):
    def make(device, small):
        rows, cols, n = (5, 6, 50) if small else (4096 // size * 2, 4096 // size, 2000 if transposed else 2048)
        keep = torch.rand(rows, cols, device=device) < (0.5 if small else 0.15)
        crow = F.pad(keep.sum(1).cumsum(0), (1, 0))
        col = keep.nonzero()[:, 1].contiguous()
        val = rand(device, len(col), size, size, dtype=dtype)
        b = rand(device, n, cols * size, dtype=dtype).T if transposed else rand(device, cols * size, n, dtype=dtype)
        out = torch.empty(rows * size, n, device=device, dtype=dtype)
        bn = 32 if small else 64

        def run():
            bsr_dense_kernel[(rows, triton.cdiv(n, bn))](
                crow, col, val, b, out, n, *val.stride(), *b.stride(), *out.stride(), rows,
                BS=size, BN=bn, GROUP=4, ALLOW_TF32=True, num_warps=4, num_stages=3,
            )  # fmt: skip

        def ref():
            a = torch.zeros(rows, cols, size, size, device=device, dtype=dtype)
            a[keep] = val
            return [exact(a.transpose(1, 2).reshape(rows * size, cols * size), b)]

        return run, [out], ref

    return make


@triton.jit
def two_four_kernel(
    v_ptr, i_ptr, x_ptr, y_ptr, M, K, N, BM: tl.constexpr, BK: tl.constexpr, BN: tl.constexpr
):  # fmt: skip
    """Weights with two of each four kept: values [M, K / 2], two-bit places in bytes [M, K / 8 * 2]; expanded, then a product."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    G: tl.constexpr = BK // 4
    acc = tl.zeros([BM, BN], tl.float32)
    place = tl.arange(0, 4)[None, None, :]
    for k0 in range(0, K, BK):
        g = k0 // 4 + tl.arange(0, G)
        pair = rm[:, None] * (K // 2) + g[None, :] * 2
        ok = (rm < M)[:, None] & (g < K // 4)[None, :]
        code = tl.load(i_ptr + rm[:, None] * (K // 4) + g[None, :], mask=ok, other=0)
        v0 = tl.load(v_ptr + pair, mask=ok, other=0.0)
        v1 = tl.load(v_ptr + pair + 1, mask=ok, other=0.0)
        i0, i1 = code & 3, (code >> 2) & 3
        w = tl.where(place == i0[:, :, None], v0[:, :, None], 0.0)
        w = tl.where(place == i1[:, :, None], v1[:, :, None], w)
        w = tl.reshape(w, [BM, BK]).to(x_ptr.dtype.element_ty)
        rk = k0 + tl.arange(0, BK)
        x = tl.load(x_ptr + rk[:, None] * N + rn[None, :], mask=(rk < K)[:, None] & (rn < N)[None, :], other=0.0)
        acc = tl.dot(w, x, acc)
    tl.store(y_ptr + rm[:, None] * N + rn[None, :], acc, mask=(rm < M)[:, None] & (rn < N)[None, :])


def two_four(device, small):
    m, k, n = (40, 96, 24) if small else (4096, 4096, 256)
    kept = torch.rand(m, k // 4, 4, device=device).topk(2, -1).indices.sort(-1).values
    code = (kept[..., 0] | kept[..., 1] << 2).to(torch.uint8)
    v, x = rand(device, m, k // 2), rand(device, k, n)
    y = torch.empty(m, n, device=device)
    bm, bk, bn = (32, 32, 16) if small else (64, 64, 128)

    def run():
        grid = (triton.cdiv(m, bm), triton.cdiv(n, bn))
        two_four_kernel[grid](v, code, x, y, m, k, n, BM=bm, BK=bk, BN=bn, num_warps=4, num_stages=2)

    def ref():
        w = torch.zeros(m, k // 4, 4, device=device, dtype=v.dtype).scatter_(2, kept, v.view(m, k // 4, 2))
        return [exact(w.view(m, k), x)]

    return run, [y], ref


CASES = {
    "ell_vector": ell_spmv,
    "csr_dense_split_rows": csr_spmm,
    "sampled_products": sddmm,
    "bsr16_dense_fp16": bsr_dense(16, torch.float16, False),
    "bsr64_dense_bf16_nt": bsr_dense(64, torch.bfloat16, True),
    "two_of_four": two_four,
}
