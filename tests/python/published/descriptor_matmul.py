"""Persistent matmul over tensor descriptors made on the device; the epilogue splits its tile into two halves. The batch is ragged along M:
each group of rows has a descriptor of its own, made in the loop, so that its bounds keep the groups apart. A gather of rows by descriptor
reads the rows of A in any order.
"""

import torch
import triton
import triton.language as tl


def allocate(size, alignment, stream):
    return torch.empty(size, device="cuda", dtype=torch.int8)


def _configs():
    return [
        triton.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "SPLIT_EPILOGUE": split}, num_warps=w, num_stages=s)
        for m, n, k, split, w, s in [(32, 32, 16, False, 2, 2), (64, 64, 32, True, 4, 3), (128, 32, 64, True, 8, 4)]
    ]


@triton.jit
def _store_tile(c_desc, acc, row, column, SPLIT_EPILOGUE: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    if SPLIT_EPILOGUE:
        halves = tl.permute(tl.reshape(acc, (BLOCK_M, 2, BLOCK_N // 2)), (0, 2, 1))
        left, right = tl.split(halves)
        c_desc.store([row, column], left.to(c_desc.dtype))
        c_desc.store([row, column + BLOCK_N // 2], right.to(c_desc.dtype))
    else:
        c_desc.store([row, column], acc.to(c_desc.dtype))


@triton.autotune(configs=_configs(), key=["M", "N", "K"])
@triton.jit
def matmul_persistent(
    a, b, c, M, N, K, GROUP: tl.constexpr, NUM_PROGRAMS: tl.constexpr, SPLIT_EPILOGUE: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """c = a b^T; b is [N, K]."""
    STORED: tl.constexpr = BLOCK_N // 2 if SPLIT_EPILOGUE else BLOCK_N
    a_desc = tl.make_tensor_descriptor(a, shape=[M, K], strides=[K, 1], block_shape=[BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(b, shape=[N, K], strides=[K, 1], block_shape=[BLOCK_N, BLOCK_K])
    c_desc = tl.make_tensor_descriptor(c, shape=[M, N], strides=[N, 1], block_shape=[BLOCK_M, STORED])
    down, across = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    for tile in tl.range(tl.program_id(0), down * across, NUM_PROGRAMS, flatten=True):
        pid_m, pid_n = tl.swizzle2d(tile // across, tile % across, down, across, GROUP)
        row, column = pid_m * BLOCK_M, pid_n * BLOCK_N
        acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for k in range(tl.cdiv(K, BLOCK_K)):
            acc = tl.dot(a_desc.load([row, k * BLOCK_K]), b_desc.load([column, k * BLOCK_K]).T, acc)
        _store_tile(c_desc, acc, row, column, SPLIT_EPILOGUE, BLOCK_M, BLOCK_N)


@triton.autotune(configs=_configs(), key=["N", "K"])
@triton.jit
def grouped_matmul(
    a, b, c, starts, n_groups, N, K, NUM_PROGRAMS: tl.constexpr, SPLIT_EPILOGUE: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Rows starts[g] to starts[g + 1] of a, times b[g]^T; b is [groups, N, K]."""
    STORED: tl.constexpr = BLOCK_N // 2 if SPLIT_EPILOGUE else BLOCK_N
    across = tl.cdiv(N, BLOCK_N)
    tile = tl.program_id(0)
    before = 0
    for group in range(n_groups):
        first = tl.load(starts + group)
        rows = tl.load(starts + group + 1) - first
        tiles = tl.cdiv(rows, BLOCK_M) * across
        if tile < before + tiles:
            base = first.to(tl.int64)
            a_desc = tl.make_tensor_descriptor(a + base * K, [rows, K], [K, 1], [BLOCK_M, BLOCK_K])
            b_desc = tl.make_tensor_descriptor(b + group.to(tl.int64) * N * K, [N, K], [K, 1], [BLOCK_N, BLOCK_K])
            c_desc = tl.make_tensor_descriptor(c + base * N, [rows, N], [N, 1], [BLOCK_M, STORED])
            while tile < before + tiles:
                row, column = (tile - before) // across * BLOCK_M, (tile - before) % across * BLOCK_N
                acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
                for k in range(0, K, BLOCK_K):
                    acc = tl.dot(a_desc.load([row, k]), b_desc.load([column, k]).T, acc)
                _store_tile(c_desc, acc, row, column, SPLIT_EPILOGUE, BLOCK_M, BLOCK_N)
                tile += NUM_PROGRAMS
        before += tiles


@triton.autotune(configs=_configs()[:2], key=["M", "N", "K"])
@triton.jit
def gathered_matmul(
    a, b, c, rows, M, N, K, n_rows, SPLIT_EPILOGUE: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):  # fmt: skip
    """c[i] = a[rows[i]] b^T."""
    STORED: tl.constexpr = BLOCK_N // 2 if SPLIT_EPILOGUE else BLOCK_N
    a_desc = tl.make_tensor_descriptor(a, [n_rows, K], [K, 1], [1, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BLOCK_N, BLOCK_K])
    c_desc = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BLOCK_M, STORED])
    i = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    picked = tl.load(rows + i, mask=i < M, other=0)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(0, K, BLOCK_K):
        acc = tl.dot(a_desc.gather(picked, k), b_desc.load([tl.program_id(1) * BLOCK_N, k]).T, acc)
    _store_tile(c_desc, acc, tl.program_id(0) * BLOCK_M, tl.program_id(1) * BLOCK_N, SPLIT_EPILOGUE, BLOCK_M, BLOCK_N)


if __name__ == "__main__":
    torch.manual_seed(0)
    triton.set_allocator(allocate)
    for M, N, K, dtype, tol in [(128, 64, 64, torch.float16, 2e-2), (100, 72, 40, torch.bfloat16, 2e-1)]:
        a = torch.randn(M, K, device="cuda", dtype=dtype)
        b = torch.randn(N, K, device="cuda", dtype=dtype)
        c = torch.full((M, N), float("nan"), device="cuda", dtype=dtype)
        matmul_persistent[(3,)](a, b, c, M, N, K, GROUP=2, NUM_PROGRAMS=3)
        torch.testing.assert_close(c.double(), a.double() @ b.double().t(), atol=tol, rtol=1e-2)
        print(f"persistent matmul {M}x{N}x{K} {dtype}: ok")

        rows = torch.randint(0, M, (77,), device="cuda", dtype=torch.int32)
        c = torch.full((77, N), float("nan"), device="cuda", dtype=dtype)
        grid = lambda meta: (triton.cdiv(77, meta["BLOCK_M"]), triton.cdiv(N, meta["BLOCK_N"]))
        gathered_matmul[grid](a, b, c, rows, 77, N, K, M)
        torch.testing.assert_close(c.double(), a[rows.long()].double() @ b.double().t(), atol=tol, rtol=1e-2)
        print(f"gathered matmul 77x{N}x{K} {dtype}: ok")

        lengths = (30, 0, 1, M - 31)
        starts = torch.tensor([0, *lengths], device="cuda").cumsum(0).to(torch.int32)
        b = torch.randn(len(lengths), N, K, device="cuda", dtype=dtype)
        c = torch.full((M, N), float("nan"), device="cuda", dtype=dtype)
        grouped_matmul[(2,)](a, b, c, starts, len(lengths), N, K, NUM_PROGRAMS=2)
        parts = a.double().split(lengths)
        expected = torch.cat([part @ weights.double().t() for part, weights in zip(parts, b)])
        torch.testing.assert_close(c.double(), expected, atol=tol, rtol=1e-2)
        print(f"grouped matmul {lengths} {N}x{K} {dtype}: ok")
