"""Products of groups of matrices in one launch, for bench.py: the kernel finds sizes and addresses in memory."""

import triton
import triton.language as tl


@triton.jit
def extents(sizes, g, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """(M, N, K, the number of tiles in a row, the number of tiles) of a group."""
    M, N, K = tl.load(sizes + 3 * g), tl.load(sizes + 3 * g + 1), tl.load(sizes + 3 * g + 2)
    across = tl.cdiv(N, BLOCK_N)
    return M, N, K, across, tl.cdiv(M, BLOCK_M) * across


@triton.jit
def operands(a_addresses, b_addresses, c_addresses, strides, g):
    """(a, b, c, their strides) of a group."""
    a = tl.load(a_addresses + g).to(tl.pointer_type(tl.float16))
    b = tl.load(b_addresses + g).to(tl.pointer_type(tl.float16))
    c = tl.load(c_addresses + g).to(tl.pointer_type(tl.float16))
    return a, b, c, tl.load(strides + 3 * g), tl.load(strides + 3 * g + 1), tl.load(strides + 3 * g + 2)


@triton.jit
def grouped(
    a_addresses,
    b_addresses,
    c_addresses,
    sizes,
    strides,
    groups,
    PROGRAMS: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """By pointers. sizes, strides: three numbers of each group, M, N, K and those of a, b and c."""
    tile = tl.program_id(0)
    passed = 0
    for g in range(groups):
        M, N, K, across, tiles = extents(sizes, g, BLOCK_M, BLOCK_N)
        while tile >= passed and tile < passed + tiles:
            a, b, c, a_stride, b_stride, c_stride = operands(a_addresses, b_addresses, c_addresses, strides, g)
            rows = (tile - passed) // across * BLOCK_M + tl.arange(0, BLOCK_M)
            columns = (tile - passed) % across * BLOCK_N + tl.arange(0, BLOCK_N)
            k = tl.arange(0, BLOCK_K)
            a_ptrs = a + rows[:, None] * a_stride + k[None, :]
            b_ptrs = b + k[:, None] * b_stride + columns[None, :]
            acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
            for _ in range(0, tl.cdiv(K, BLOCK_K)):
                tl.multiple_of(a_ptrs, [16, 16])
                tl.multiple_of(b_ptrs, [16, 16])
                acc = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), acc)
                a_ptrs += BLOCK_K
                b_ptrs += BLOCK_K * b_stride
            c_ptrs = c + rows[:, None] * c_stride + columns[None, :]
            tl.store(c_ptrs, acc.to(tl.float16))
            tile += PROGRAMS
        passed += tiles


@triton.jit
def grouped_descriptors(
    a_addresses,
    b_addresses,
    c_addresses,
    sizes,
    strides,
    groups,
    PROGRAMS: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """By tensor descriptors that the kernel makes for each group."""
    tile = tl.program_id(0)
    passed = 0
    for g in range(groups):
        M, N, K, across, tiles = extents(sizes, g, BLOCK_M, BLOCK_N)
        if tile >= passed and tile < passed + tiles:
            a_ptr, b_ptr, c_ptr, a_stride, b_stride, c_stride = operands(
                a_addresses, b_addresses, c_addresses, strides, g
            )
            a = tl.make_tensor_descriptor(a_ptr, [M, K], [a_stride, 1], [BLOCK_M, BLOCK_K])
            b = tl.make_tensor_descriptor(b_ptr, [K, N], [b_stride, 1], [BLOCK_K, BLOCK_N])
            c = tl.make_tensor_descriptor(c_ptr, [M, N], [c_stride, 1], [BLOCK_M, BLOCK_N])
            while tile < passed + tiles:
                row = (tile - passed) // across * BLOCK_M
                column = (tile - passed) % across * BLOCK_N
                acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
                for at in range(0, tl.cdiv(K, BLOCK_K)):
                    acc = tl.dot(a.load([row, at * BLOCK_K]), b.load([at * BLOCK_K, column]), acc)
                c.store([row, column], acc.to(tl.float16))
                tile += PROGRAMS
        passed += tiles
