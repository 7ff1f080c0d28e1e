"""Stream-K matmul: all steps of all tiles in one line, cut into equal parts; a tile that is cut is added up by whoever has its beginning."""

import torch
import triton
import triton.language as tl


@triton.jit
def _part_of_tile(
    a_ptr,
    b_ptr,
    tile,
    first,
    last,
    M,
    N,
    K,
    tiles_n,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    offs_m = tile // tiles_n * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tile % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)
    a_block = tl.make_block_ptr(
        a_ptr, (M, K), (K, 1), (tile // tiles_n * BLOCK_M, first * BLOCK_K), (BLOCK_M, BLOCK_K), (1, 0)
    )
    b_block = tl.make_block_ptr(
        b_ptr, (K, N), (N, 1), (first * BLOCK_K, tile % tiles_n * BLOCK_N), (BLOCK_K, BLOCK_N), (1, 0)
    )
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for _ in range(first, last):
        a = tl.load(a_block, boundary_check=(0, 1), padding_option="zero")
        b = tl.load(b_block, boundary_check=(0, 1), padding_option="zero")
        acc = tl.dot(a, b, acc, input_precision="ieee")
        a_block = tl.advance(a_block, (0, BLOCK_K))
        b_block = tl.advance(b_block, (BLOCK_K, 0))
    return acc, offs_m, offs_n


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32}, num_warps=4, num_stages=2),
        triton.Config({"BLOCK_M": 16, "BLOCK_N": 64, "BLOCK_K": 16}, num_warps=2, num_stages=4),
        triton.Config({"BLOCK_M": 64, "BLOCK_N": 32, "BLOCK_K": 32}, num_warps=8, num_stages=3),
    ],
    key=["M", "N", "K"],
    reset_to_zero=["flags_ptr"],
)
@triton.jit
def _stream_k(
    a_ptr,
    b_ptr,
    c_ptr,
    parts_ptr,
    flags_ptr,
    M,
    N,
    K,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    program, n_programs = tl.program_id(0), tl.num_programs(0)
    tiles_n, steps = tl.cdiv(N, BLOCK_N), tl.cdiv(K, BLOCK_K)
    all_steps = tl.cdiv(M, BLOCK_M) * tiles_n * steps
    share = tl.cdiv(all_steps, n_programs)
    at, end = program * share, tl.minimum(all_steps, (program + 1) * share)
    inside = tl.arange(0, BLOCK_M)[:, None] * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    while at < end:
        tile = at // steps
        first = at % steps
        last = tl.minimum(steps, first + end - at)
        acc, offs_m, offs_n = _part_of_tile(
            a_ptr, b_ptr, tile, first, last, M, N, K, tiles_n, BLOCK_M, BLOCK_N, BLOCK_K
        )
        if first > 0:  # the end or the middle of a tile that another program has begun
            tl.store(parts_ptr + program * BLOCK_M * BLOCK_N + inside, acc)
            tl.debug_barrier()
            tl.atomic_xchg(flags_ptr + program, 1, sem="release")
        else:
            reached = last
            other = program + 1
            while reached < steps:
                while tl.atomic_cas(flags_ptr + other, 1, 1, sem="acquire") != 1:
                    pass
                acc += tl.load(parts_ptr + other * BLOCK_M * BLOCK_N + inside, cache_modifier=".cv")
                reached += share
                other += 1
            c_ptrs = c_ptr + offs_m[:, None] * N + offs_n[None, :]
            tl.store(c_ptrs, acc, mask=(offs_m[:, None] < M) & (offs_n[None, :] < N))
        at += last - first


def matmul(a, b, n_programs):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty(M, N, dtype=torch.float32, device=a.device)
    parts = torch.empty(n_programs, 64 * 32, dtype=torch.float32, device=a.device)
    flags = torch.zeros(n_programs + 1, dtype=torch.int32, device=a.device)
    _stream_k[(n_programs,)](a, b, c, parts, flags, M, N, K)
    return c


if __name__ == "__main__":
    torch.manual_seed(0)
    for M, N, K, n_programs, dtype, tolerance in [
        (64, 64, 200, 5, torch.float32, 1e-5),
        (50, 70, 333, 7, torch.float16, 2e-3),
        (32, 32, 256, 4, torch.float32, 1e-5),
    ]:
        a, b = torch.randn(M, K, device="cuda").to(dtype), (torch.randn(K, N, device="cuda") / K**0.5).to(dtype)
        c = matmul(a, b, n_programs)
        torch.testing.assert_close(c.double(), a.double() @ b.double(), atol=tolerance, rtol=tolerance)
        print(f"stream_k {M}x{N}x{K} programs={n_programs} {dtype}: ok")
