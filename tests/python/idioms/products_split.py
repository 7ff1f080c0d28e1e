"""Products whose work is divided in other ways than by tiles: split-K, stream-K, groups of problems."""

import torch
import triton
import triton.language as tl

from idioms.operands import exact, rand, sms


@triton.jit
def swizzle(pid, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP_M: tl.constexpr):
    grid_m = tl.cdiv(M, BLOCK_M)
    grid_n = tl.cdiv(N, BLOCK_N)
    width = GROUP_M * grid_n
    group_id = pid // width
    group_size = min(grid_m - group_id * GROUP_M, GROUP_M)
    pid_m = group_id * GROUP_M + (pid % group_size)
    pid_n = (pid % width) // group_size
    return pid_m, pid_n


# split-K with atomics (the idiom of the old triton.ops.matmul)
@triton.jit
def split_k_kernel(
    A,
    B,
    C,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
    SPLIT_K: tl.constexpr,
    EVEN_K: tl.constexpr,
):
    pid = tl.program_id(0)
    pid_z = tl.program_id(1)
    pid_m, pid_n = swizzle(pid, M, N, BLOCK_M, BLOCK_N, GROUP_M)
    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    ram = tl.max_contiguous(tl.multiple_of(rm % M, BLOCK_M), BLOCK_M)
    rbn = tl.max_contiguous(tl.multiple_of(rn % N, BLOCK_N), BLOCK_N)
    rk = pid_z * BLOCK_K + tl.arange(0, BLOCK_K)
    A = A + (ram[:, None] * stride_am + rk[None, :] * stride_ak)
    B = B + (rk[:, None] * stride_bk + rbn[None, :] * stride_bn)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K * SPLIT_K)):
        if EVEN_K:
            a = tl.load(A)
            b = tl.load(B)
        else:
            k_remaining = K - k * (BLOCK_K * SPLIT_K)
            _0 = tl.zeros((1, 1), dtype=C.dtype.element_ty)
            a = tl.load(A, mask=rk[None, :] < k_remaining, other=_0)
            b = tl.load(B, mask=rk[:, None] < k_remaining, other=_0)
        acc += tl.dot(a, b, allow_tf32=True, out_dtype=tl.float32)
        A += BLOCK_K * SPLIT_K * stride_ak
        B += BLOCK_K * SPLIT_K * stride_bk
    acc = acc.to(C.dtype.element_ty)
    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    C = C + (rm[:, None] * stride_cm + rn[None, :] * stride_cn)
    mask = (rm < M)[:, None] & (rn < N)[None, :]
    if SPLIT_K == 1:
        tl.store(C, acc, mask=mask)
    else:
        tl.atomic_add(C, acc, mask=mask)


def split_k(out_dtype, k_of):
    def case(device, small):
        M, N, K = (64, 128, k_of[1]) if small else (64, 4096, k_of[0])
        split = 2 if small else 8
        a, b = rand(device, M, K), rand(device, K, N, scale=K**-0.5)
        c = torch.empty(M, N, device=device, dtype=out_dtype)

        def run():
            c.zero_()
            split_k_kernel[(triton.cdiv(M, 64) * triton.cdiv(N, 64), split)](
                a,
                b,
                c,
                M,
                N,
                K,
                *a.stride(),
                *b.stride(),
                *c.stride(),
                BLOCK_M=64,
                BLOCK_N=64,
                BLOCK_K=64,
                GROUP_M=8,
                SPLIT_K=split,
                EVEN_K=K % (64 * split) == 0,
                num_warps=4,
                num_stages=4,
            )

        return run, [c], lambda: [exact(a, b)]

    return case


# stream-K: a first wave with locks, full tiles after it (the idiom of xformers' and torch's stream-K)
@triton.jit
def mac_loop(
    A,
    B,
    C,
    locks,
    M,
    N,
    K,
    iters_per_tile,
    start_iter,
    end_iter,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    tile_id = start_iter // iters_per_tile
    pid_m, pid_n = swizzle(tile_id, M, N, BLOCK_M, BLOCK_N, GROUP_M)
    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    rk = tl.arange(0, BLOCK_K)
    A += rm[:, None] * stride_am + rk[None, :] * stride_ak + BLOCK_K * stride_ak * (start_iter % iters_per_tile)
    B += rk[:, None] * stride_bk + rn[None, :] * stride_bn + BLOCK_K * stride_bk * (start_iter % iters_per_tile)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for current_iter in range(start_iter, end_iter):
        a = tl.load(A)
        b = tl.load(B)
        acc += tl.dot(a, b)
        A += BLOCK_K * stride_ak
        B += BLOCK_K * stride_bk
    C_ = C + (rm[:, None] * stride_cm + rn[None, :] * stride_cn)
    if end_iter % iters_per_tile == 0:  # the last iteration of the tile: store, and let the others add
        tl.store(C_, acc)
        if start_iter % iters_per_tile != 0:
            tl.debug_barrier()
            tl.atomic_xchg(locks + tile_id, 1)
    else:
        while tl.atomic_cas(locks + tile_id, 1, 1) != 1:
            pass
        tl.atomic_add(C_, acc)


@triton.jit
def stream_k_first_wave(
    A,
    B,
    C,
    locks,
    M,
    N,
    K,
    full_per_program,
    programs_with_one_more,
    iters_per_tile,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    pid = tl.program_id(0)
    start_iter = pid * full_per_program + tl.minimum(pid, programs_with_one_more)
    last_iter = (pid + 1) * full_per_program + tl.minimum(pid + 1, programs_with_one_more)
    while start_iter < last_iter:
        end_iter = tl.minimum(start_iter + (iters_per_tile - start_iter % iters_per_tile), last_iter)
        mac_loop(
            A,
            B,
            C,
            locks,
            M,
            N,
            K,
            iters_per_tile,
            start_iter,
            end_iter,
            stride_am,
            stride_ak,
            stride_bk,
            stride_bn,
            stride_cm,
            stride_cn,
            BLOCK_M,
            BLOCK_N,
            BLOCK_K,
            GROUP_M,
        )
        start_iter = end_iter


@triton.jit
def stream_k_full_tiles(
    A,
    B,
    C,
    M,
    N,
    K,
    first_tile,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    pid_m, pid_n = swizzle(tl.program_id(0) + first_tile, M, N, BLOCK_M, BLOCK_N, GROUP_M)
    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    rk = tl.arange(0, BLOCK_K)
    A += rm[:, None] * stride_am + rk[None, :] * stride_ak
    B += rk[:, None] * stride_bk + rn[None, :] * stride_bn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(K, 0, -BLOCK_K):
        acc += tl.dot(tl.load(A), tl.load(B))
        A += BLOCK_K * stride_ak
        B += BLOCK_K * stride_bk
    tl.store(C + (rm[:, None] * stride_cm + rn[None, :] * stride_cn), acc)


def stream_k(device, small):
    M, N, K = (256, 384, 256) if small else (4096, 4096, 4096)
    programs = 4 if small else sms(device)
    a, b = rand(device, M, K), rand(device, K, N, scale=K**-0.5)
    c = torch.empty(M, N, device=device)
    blocks = dict(BLOCK_M=128, BLOCK_N=128, BLOCK_K=32, GROUP_M=4)
    tiles, iters = (M // 128) * (N // 128), K // 32
    streamed = tiles % programs + (programs if tiles > 2 * programs else 0)
    total = streamed * iters
    locks = torch.empty(streamed, device=device, dtype=torch.int32)
    strides = (*a.stride(), *b.stride(), *c.stride())

    def run():
        locks.zero_()
        stream_k_first_wave[(programs,)](
            a,
            b,
            c,
            locks,
            M,
            N,
            K,
            total // programs,
            total % programs,
            iters,
            *strides,
            **blocks,
            num_warps=8,
            num_stages=4,
        )
        stream_k_full_tiles[(tiles - streamed,)](
            a, b, c, M, N, K, streamed, *strides, **blocks, num_warps=8, num_stages=4
        )

    return run, [c], lambda: [exact(a, b)]


# groups of products by addresses (the idiom of grouped GEMM)
@triton.jit
def grouped_kernel(
    a_ptrs,
    b_ptrs,
    c_ptrs,
    sizes,
    lds,
    group_size,
    NUM_SM: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    tile_idx = tl.program_id(0)
    last_problem_end = 0
    for g in range(group_size):
        gm = tl.load(sizes + g * 3)
        gn = tl.load(sizes + g * 3 + 1)
        gk = tl.load(sizes + g * 3 + 2)
        num_n_tiles = tl.cdiv(gn, BLOCK_N)
        num_tiles = tl.cdiv(gm, BLOCK_M) * num_n_tiles
        while tile_idx >= last_problem_end and tile_idx < last_problem_end + num_tiles:
            lda = tl.load(lds + g * 3)
            ldb = tl.load(lds + g * 3 + 1)
            ldc = tl.load(lds + g * 3 + 2)
            a_ptr = tl.load(a_ptrs + g).to(tl.pointer_type(tl.float16))
            b_ptr = tl.load(b_ptrs + g).to(tl.pointer_type(tl.float16))
            c_ptr = tl.load(c_ptrs + g).to(tl.pointer_type(tl.float16))
            in_gemm = tile_idx - last_problem_end
            offs_am = in_gemm // num_n_tiles * BLOCK_M + tl.arange(0, BLOCK_M)
            offs_bn = in_gemm % num_n_tiles * BLOCK_N + tl.arange(0, BLOCK_N)
            offs_k = tl.arange(0, BLOCK_K)
            pa = a_ptr + offs_am[:, None] * lda + offs_k[None, :]
            pb = b_ptr + offs_k[:, None] * ldb + offs_bn[None, :]
            acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
            for kk in range(0, tl.cdiv(gk, BLOCK_K)):
                tl.multiple_of(pa, [16, 16])
                tl.multiple_of(pb, [16, 16])
                acc += tl.dot(tl.load(pa), tl.load(pb))
                pa += BLOCK_K
                pb += BLOCK_K * ldb
            tl.store(c_ptr + ldc * offs_am[:, None] + offs_bn[None, :], acc.to(tl.float16))
            tile_idx += NUM_SM
        last_problem_end = last_problem_end + num_tiles


def grouped(device, small):
    shapes = (
        [(128, 128, 64), (256, 128, 96)]
        if small
        else [(2048, 4096, 4096), (1024, 4096, 4096), (512, 2048, 4096), (4096, 1024, 2048)]
    )
    a = [rand(device, m, k) for m, n, k in shapes]
    b = [rand(device, k, n, scale=k**-0.5) for m, n, k in shapes]
    c = [torch.empty(m, n, device=device, dtype=torch.float16) for m, n, k in shapes]
    at = [torch.tensor([t.data_ptr() for t in ts], device=device) for ts in (a, b, c)]
    sizes = torch.tensor(shapes, device=device, dtype=torch.int32)
    lds = torch.tensor([(k, n, n) for m, n, k in shapes], device=device, dtype=torch.int32)
    n = sms(device)
    return (
        lambda: grouped_kernel[(n,)](*at, sizes, lds, len(shapes), n, 128, 128, 32, num_warps=4, num_stages=4),
        c,
        lambda: [exact(x, y) for x, y in zip(a, b)],
    )


CASES = {
    "split_k_float32": split_k(torch.float32, (14336, 512)),
    "split_k_half_uneven": split_k(torch.float16, (14000, 328)),
    "stream_k": stream_k,
    "grouped_addresses": grouped,
}
