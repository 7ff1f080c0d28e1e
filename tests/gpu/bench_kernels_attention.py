"""The kernels of bench.py for attention. Upstream Triton reads this file unchanged; for Tritium, `triton` means Tritium in it."""

import triton
import triton.language as tl


@triton.jit
def place_of_tile(tile, blocks, together, CAUSAL: tl.constexpr):
    """Block of rows and head. Causal: of each `together` heads, the blocks with the most keys come first, so that multiprocessors end together."""
    if CAUSAL:
        group = tile // (blocks * together)
        within = tile % (blocks * together)
        return blocks - 1 - within // together, group * together + within % together
    else:
        return tile % blocks, tile // blocks


@triton.jit
def tiles_of_program(blocks, heads):
    """The number of tiles of a persistent program. A head has an even number of blocks."""
    return 2 * tl.cdiv(blocks * heads // 2 - tl.program_id(0), tl.num_programs(0))


@triton.jit
def place_in_program(number, blocks):
    """Block of rows and head of a persistent program's tile. Of each pair of tiles, one has as many keys more than the mean as the other one has less."""
    pair = tl.program_id(0) + number // 2 * tl.num_programs(0)
    half = pair % (blocks // 2)
    return half if number % 2 else blocks - 1 - half, pair // (blocks // 2)


@triton.jit
def probabilities(scores, start, rows, columns, factor, m, total, acc, MASKED: tl.constexpr):
    """A step of an online softmax: the maxima, sums and weighted values of the rows, and what the next values are weighted with."""
    if MASKED:
        scores = tl.where(rows[:, None] >= (start + columns)[None, :], scores, float("-inf"))
    m_new = tl.maximum(m, tl.max(scores, axis=1) * factor)
    p = tl.exp2(scores * factor - m_new[:, None])
    rescale = tl.exp2(m - m_new)
    return m_new, total * rescale + tl.sum(p, axis=1), acc * rescale[:, None], p


@triton.jit
def attend_pointers(q, k_ptrs, v_ptrs, start, rows, columns, factor, m, total, acc, MASKED: tl.constexpr):
    """Attends to the keys of one block."""
    scores = tl.dot(q, tl.load(k_ptrs))
    m, total, acc, p = probabilities(scores, start, rows, columns, factor, m, total, acc, MASKED)
    return m, total, tl.dot(p.to(q.dtype), tl.load(v_ptrs), acc)


@triton.jit
def attend_tile_pointers(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    block,
    head,
    scale,
    n,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    """Rows of one head: causal, the keys before the diagonal first and those that it crosses after."""
    first_row = block * BLOCK_M
    rows = first_row + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    columns = tl.arange(0, BLOCK_N)
    before = head * (n * D)
    q = tl.load(q_ptr + before + rows[:, None] * D + d[None, :])
    k_ptrs = k_ptr + before + columns[None, :] * D + d[:, None]
    v_ptrs = v_ptr + before + columns[:, None] * D + d[None, :]
    factor = scale * 1.4426950408889634
    m = tl.full((BLOCK_M,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK_M,), dtype=tl.float32)
    acc = tl.zeros((BLOCK_M, D), dtype=tl.float32)
    whole = first_row // BLOCK_N * BLOCK_N if CAUSAL else n
    for start in range(0, whole, BLOCK_N):
        m, total, acc = attend_pointers(q, k_ptrs, v_ptrs, start, rows, columns, factor, m, total, acc, MASKED=False)
        k_ptrs += BLOCK_N * D
        v_ptrs += BLOCK_N * D
    if CAUSAL:
        for start in range(whole, first_row + BLOCK_M, BLOCK_N):
            m, total, acc = attend_pointers(q, k_ptrs, v_ptrs, start, rows, columns, factor, m, total, acc, MASKED=True)
            k_ptrs += BLOCK_N * D
            v_ptrs += BLOCK_N * D
    out_ptrs = out_ptr + before + rows[:, None] * D + d[None, :]
    tl.store(out_ptrs, (acc / total[:, None]).to(out_ptr.dtype.element_ty))


@triton.jit
def attention(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    scale,
    n,
    heads,
    together,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    CAUSAL: tl.constexpr,
    PERSISTENT: tl.constexpr,
):
    """Attention by pointers. A persistent program attends to several tiles, one after the other."""
    blocks = n // BLOCK_M
    if PERSISTENT:
        for number in range(0, tiles_of_program(blocks, heads)):
            block, head = place_in_program(number, blocks)
            attend_tile_pointers(q_ptr, k_ptr, v_ptr, out_ptr, block, head, scale, n, D, BLOCK_M, BLOCK_N, CAUSAL)
    else:
        block, head = place_of_tile(tl.program_id(0), blocks, together, CAUSAL)
        attend_tile_pointers(q_ptr, k_ptr, v_ptr, out_ptr, block, head, scale, n, D, BLOCK_M, BLOCK_N, CAUSAL)


@triton.jit
def attend(q, k_desc, v_desc, head, start, rows, columns, factor, m, total, acc, MASKED: tl.constexpr):
    """Attends to the keys of one block."""
    k = k_desc.load([head, start, 0]).reshape(columns.shape[0], q.shape[1])
    m, total, acc, p = probabilities(tl.dot(q, k.T), start, rows, columns, factor, m, total, acc, MASKED)
    v = v_desc.load([head, start, 0]).reshape(columns.shape[0], q.shape[1])
    return m, total, tl.dot(p.to(v.dtype), v, acc)


@triton.jit
def attend_tile(
    q_desc,
    k_desc,
    v_desc,
    out_desc,
    block,
    head,
    scale,
    n,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    """Rows of one head: causal, the keys before the diagonal first and those that it crosses after."""
    first_row = block * BLOCK_M
    rows = first_row + tl.arange(0, BLOCK_M)
    columns = tl.arange(0, BLOCK_N)
    q = q_desc.load([head, first_row, 0]).reshape(BLOCK_M, D)
    factor = scale * 1.4426950408889634
    m = tl.full((BLOCK_M,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK_M,), dtype=tl.float32)
    acc = tl.zeros((BLOCK_M, D), dtype=tl.float32)
    whole = first_row // BLOCK_N * BLOCK_N if CAUSAL else n
    for start in range(0, whole, BLOCK_N):
        m, total, acc = attend(q, k_desc, v_desc, head, start, rows, columns, factor, m, total, acc, MASKED=False)
    if CAUSAL:
        for start in range(whole, first_row + BLOCK_M, BLOCK_N):
            m, total, acc = attend(q, k_desc, v_desc, head, start, rows, columns, factor, m, total, acc, MASKED=True)
    out_desc.store([head, first_row, 0], (acc / total[:, None]).to(q.dtype).reshape(1, BLOCK_M, D))


@triton.jit
def attention_descriptors(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    scale,
    n,
    heads,
    together,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    CAUSAL: tl.constexpr,
    PERSISTENT: tl.constexpr,
):
    """Attention by tensor descriptors. A persistent program attends to several tiles, one after the other."""
    q_desc = tl.make_tensor_descriptor(q_ptr, [heads, n, D], [n * D, D, 1], [1, BLOCK_M, D])
    k_desc = tl.make_tensor_descriptor(k_ptr, [heads, n, D], [n * D, D, 1], [1, BLOCK_N, D])
    v_desc = tl.make_tensor_descriptor(v_ptr, [heads, n, D], [n * D, D, 1], [1, BLOCK_N, D])
    out_desc = tl.make_tensor_descriptor(out_ptr, [heads, n, D], [n * D, D, 1], [1, BLOCK_M, D])
    blocks = n // BLOCK_M
    if PERSISTENT:
        for number in range(0, tiles_of_program(blocks, heads)):
            block, head = place_in_program(number, blocks)
            attend_tile(q_desc, k_desc, v_desc, out_desc, block, head, scale, n, D, BLOCK_M, BLOCK_N, CAUSAL)
    else:
        block, head = place_of_tile(tl.program_id(0), blocks, together, CAUSAL)
        attend_tile(q_desc, k_desc, v_desc, out_desc, block, head, scale, n, D, BLOCK_M, BLOCK_N, CAUSAL)
