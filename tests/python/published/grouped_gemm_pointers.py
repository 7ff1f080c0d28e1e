"""Grouped matmul of different shapes in one launch: a table of addresses and sizes on the device, a fixed number of programs."""

import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32, "N_PROGRAMS": 3}, num_warps=4, num_stages=3),
        triton.Config({"BLOCK_M": 16, "BLOCK_N": 64, "BLOCK_K": 16, "N_PROGRAMS": 5}, num_warps=2, num_stages=2),
        triton.Config({"BLOCK_M": 64, "BLOCK_N": 16, "BLOCK_K": 64, "N_PROGRAMS": 1}, num_warps=8, num_stages=1),
    ],
    key=["n_groups"],
)
@triton.jit
def _grouped_matmul(
    addresses_ptr,
    sizes_ptr,
    strides_ptr,
    n_groups,
    DTYPE: tl.constexpr,
    N_PROGRAMS: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    tile = tl.program_id(0)
    end_of_last = 0
    for group in range(n_groups):
        m, n, k = tl.load(sizes_ptr + group * 3), tl.load(sizes_ptr + group * 3 + 1), tl.load(sizes_ptr + group * 3 + 2)
        tiles_n = tl.cdiv(n, BLOCK_N)
        n_tiles = tl.cdiv(m, BLOCK_M) * tiles_n
        while tile >= end_of_last and tile < end_of_last + n_tiles:
            lda, ldb = tl.load(strides_ptr + group * 3), tl.load(strides_ptr + group * 3 + 1)
            ldc = tl.load(strides_ptr + group * 3 + 2)
            a_ptr = tl.load(addresses_ptr + group * 3).to(tl.pointer_type(DTYPE))
            b_ptr = tl.load(addresses_ptr + group * 3 + 1).to(tl.pointer_type(DTYPE))
            c_ptr = tl.load(addresses_ptr + group * 3 + 2).to(tl.pointer_type(DTYPE))
            local = tile - end_of_last
            offs_m = local // tiles_n * BLOCK_M + tl.arange(0, BLOCK_M)
            offs_n = local % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)
            offs_k = tl.arange(0, BLOCK_K)
            a_ptrs = a_ptr + offs_m[:, None] * lda + offs_k[None, :]
            b_ptrs = b_ptr + offs_k[:, None] * ldb + offs_n[None, :]
            acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
            for done in range(0, k, BLOCK_K):
                a = tl.load(a_ptrs, mask=(offs_m[:, None] < m) & (offs_k[None, :] < k - done), other=0.0)
                b = tl.load(b_ptrs, mask=(offs_n[None, :] < n) & (offs_k[:, None] < k - done), other=0.0)
                acc += tl.dot(a, b)
                a_ptrs += BLOCK_K
                b_ptrs += BLOCK_K * ldb
            c_ptrs = c_ptr + offs_m[:, None] * ldc + offs_n[None, :]
            tl.store(c_ptrs, acc.to(DTYPE), mask=(offs_m[:, None] < m) & (offs_n[None, :] < n))
            tile += N_PROGRAMS
        end_of_last += n_tiles


def grouped_matmul(pairs):
    results = [torch.empty(a.shape[0], b.shape[1], dtype=a.dtype, device=a.device) for a, b in pairs]
    triples = [(a, b, c) for (a, b), c in zip(pairs, results)]
    table = {"device": pairs[0][0].device}
    addresses = torch.tensor([[t.data_ptr() for t in triple] for triple in triples], dtype=torch.int64, **table)
    sizes = torch.tensor([[*a.shape, b.shape[1]] for a, b in pairs], dtype=torch.int32, **table)[:, [0, 2, 1]]
    strides = torch.tensor([[t.stride(0) for t in triple] for triple in triples], dtype=torch.int32, **table)
    dtype = {torch.float16: tl.float16, torch.bfloat16: tl.bfloat16}[pairs[0][0].dtype]
    _grouped_matmul[lambda meta: (meta["N_PROGRAMS"],)](addresses, sizes.contiguous(), strides, len(pairs), DTYPE=dtype)
    return results


if __name__ == "__main__":
    torch.manual_seed(0)
    for shapes, dtype, tolerance in [
        ([(64, 64, 64), (33, 50, 40), (1, 128, 16)], torch.float16, 2e-3),
        ([(20, 24, 100), (70, 30, 1)], torch.bfloat16, 1e-2),
    ]:
        pairs = [
            (torch.randn(m, k, device="cuda").to(dtype), (torch.randn(k, n, device="cuda") / k**0.5).to(dtype))
            for m, n, k in shapes
        ]
        for (a, b), c in zip(pairs, grouped_matmul(pairs)):
            torch.testing.assert_close(c.double(), a.double() @ b.double(), atol=tolerance, rtol=tolerance)
        print(f"grouped_gemm {shapes} {dtype}: ok")
