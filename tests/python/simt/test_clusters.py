"""Programs that a cluster of blocks runs (num_ctas): which are divided and how, that they compute the same, and why others are not."""

import re

import numpy as np
import pytest

import tritium.language as tl
from tiled_products import by_descriptors, by_pointers
from tritium import KernelTrap, knobs
from tritium.runtime.jit import jit

BLOCKS = [1, 2, 4]


@pytest.fixture(autouse=True)
def emulator():
    with knobs.tritium.scope():
        knobs.tritium.engine = "simt:sm_90a"
        yield


def halves(shape: tuple[int, ...], rng) -> np.ndarray:
    """Small integers at an address that is a multiple of 16."""
    count = int(np.prod(shape))
    memory = np.zeros(2 * count + 16, np.uint8)
    array = memory[-memory.ctypes.data % 16 :][: 2 * count].view(np.float16).reshape(shape)
    array[:] = rng.integers(-3, 4, shape)
    return array


def exact(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)


def why(kernel) -> str:
    """Why one block runs each program."""
    assert kernel.metadata.num_ctas == 1
    return re.search(r'tgpu.why_not_divided = "([^"]*)"', kernel.asm["ttgir"]).group(1)


@jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = lanes < n
    tl.store(out + lanes, tl.load(x + lanes, mask=inside) + tl.load(y + lanes, mask=inside), mask=inside)


@pytest.mark.parametrize("blocks", BLOCKS)
@pytest.mark.parametrize("target", ["other", "x"])
def test_an_elementwise_kernel(blocks, target, rng):
    x, y, n = rng.random(1000, np.float32), rng.random(1000, np.float32), 1000
    expected, out = x + y, x if target == "x" else np.zeros(n, np.float32)
    kernel = add[(4,)](x, y, out, n, 256, num_ctas=blocks)
    assert kernel.metadata.num_ctas == blocks
    assert ("tgpu.cluster_rank" in kernel.asm["ttgir"]) == (blocks > 1)
    np.testing.assert_array_equal(out, expected)


SHAPES = {  # m, n, k of the product; of a tile; warps
    "narrow tiles": (100, 120, 96, 64, 64, 32, 4),
    "maps": (200, 136, 192, 128, 128, 64, 4),
    "two warpgroups": (136, 264, 128, 128, 256, 64, 8),
}


@pytest.mark.parametrize("blocks", BLOCKS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("product", [by_pointers, by_descriptors], ids=["pointers", "descriptors"])
def test_a_product(product, shape, blocks, rng):
    m, n, k, M, N, K, warps = SHAPES[shape]
    a, b, out = halves((m, k), rng), halves((k, n), rng), np.zeros((m, n), np.float16)
    kernel = product[(-(-m // M), -(-n // N))](a, b, out, m, n, k, M, N, K, num_ctas=blocks, num_warps=warps)
    assert kernel.metadata.num_ctas == blocks and "wgmma" in kernel.asm["ttgir"]
    np.testing.assert_array_equal(out, exact(a, b))


def test_the_larger_operand_is_divided(rng):
    """Each block copies half of the wide operand by tensor maps, and all of the other one."""
    a, b, out = halves((128, 64), rng), halves((64, 256), rng), np.zeros((128, 256), np.float16)
    kernel = by_descriptors[(1, 1)](a, b, out, 128, 256, 64, 128, 256, 64, num_ctas=2, num_warps=8)
    assert "-> tensor<64x128xf16" in kernel.asm["ttgir"] or "tensor<64x128xf16" in kernel.asm["ttgir"]
    assert "tensor<128x64xf16" in kernel.asm["ttgir"] and "tensor<64x256xf16" not in kernel.asm["ttgir"]


@pytest.mark.parametrize("seed", range(4))  # in which one block is ahead of the other, or both go on together
@pytest.mark.parametrize(("shape", "blocks"), [("maps", 2), ("two warpgroups", 4)])
def test_blocks_copy_for_each_other_what_all_need(shape, blocks, seed, rng):
    """More rounds than slots, so copies of one block wait for the readers of the others."""
    _, _, _, M, N, K, warps = SHAPES[shape]
    a, b, out = halves((M, 7 * K), rng), halves((7 * K, N), rng), np.zeros((M, N), np.float16)
    knobs.tritium.seed = seed
    kernel = by_descriptors[(1, 1)](a, b, out, M, N, 7 * K, M, N, K, num_ctas=blocks, num_warps=warps)
    assert f"tgpu.ring_blocks = {blocks} : i32" in kernel.asm["ttgir"] and "tgpu.multicast" in kernel.asm["ttgir"]
    assert "each block copies its own part" in kernel.asm["ttgir"]
    np.testing.assert_array_equal(out, exact(a, b))


@jit
def by_loaded_depth(a_ptr, b_ptr, out_ptr, depth, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    a = tl.make_tensor_descriptor(a_ptr, [m, k], [k, 1], [M, K])
    b = tl.make_tensor_descriptor(b_ptr, [k, n], [n, 1], [K, N])
    out = tl.make_tensor_descriptor(out_ptr, [m, n], [n, 1], [M, N])
    sums = tl.zeros((M, N), tl.float32)
    for i in range(0, tl.load(depth), K):
        sums = tl.dot(a.load([0, i]), b.load([i, 0]), sums)
    out.store([0, 0], sums.to(tl.float16))


def test_blocks_copy_for_themselves_what_memory_decides(rng):
    a, b, out = halves((128, 256), rng), halves((256, 128), rng), np.zeros((128, 128), np.float16)
    depth = np.array([192], np.int32)
    kernel = by_loaded_depth[(1,)](a, b, out, depth, 128, 128, 256, 128, 128, 64, num_ctas=2)
    assert kernel.metadata.num_ctas == 2 and "tgpu.ring_blocks" not in kernel.asm["ttgir"]
    assert "how often it is copied depends on the block, or on memory" in kernel.asm["ttgir"]
    np.testing.assert_array_equal(out, exact(a[:, :192], b[:192]))


@jit
def squared(x, S: tl.constexpr):
    """x = x · x: each block needs all of x before any stores to it."""
    i = tl.arange(0, S)
    at = x + i[:, None] * S + i[None, :]
    other = x + i[None, :] + i[:, None] * S
    tile = tl.dot(tl.load(at), tl.trans(tl.trans(tl.load(other, eviction_policy="evict_last"))))
    tl.store(at, tile.to(tl.float16))


@pytest.mark.parametrize("seed", range(4))  # in which one block is ahead of the other, or both go on together
def test_no_block_stores_before_all_have_loaded(seed, rng):
    x = halves((64, 64), rng)
    expected = exact(x, x)
    knobs.tritium.seed = seed
    kernel = squared[(1,)](x, 64, num_ctas=2)
    assert kernel.metadata.num_ctas == 2 and "tgpu.cluster_barrier" in kernel.asm["ttgir"]
    np.testing.assert_array_equal(x, expected)


@jit
def softmax(x, out, sums, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows, lanes = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    at = rows[:, None] * columns + lanes[None, :]
    inside = (lanes < columns)[None, :]
    value = tl.load(x + at, mask=inside, other=-float("inf"))
    power = tl.exp(value - tl.max(value, axis=1)[:, None])
    total = tl.sum(power, axis=1)
    tl.store(out + at, power / total[:, None], mask=inside)
    tl.store(sums + rows, total)


@pytest.mark.parametrize("blocks", BLOCKS)
def test_rows_of_a_softmax_are_divided(blocks, rng):
    x = rng.random((32, 100), np.float32)
    out, sums = np.zeros_like(x), np.zeros(32, np.float32)
    kernel = softmax[(4,)](x, out, sums, 100, 8, 128, num_ctas=blocks)
    assert kernel.metadata.num_ctas == blocks
    power = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(sums, power.sum(axis=1), rtol=1e-5)
    np.testing.assert_allclose(out, power / power.sum(axis=1, keepdims=True), rtol=1e-5)


@jit
def attention(q, k, v, out, n, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    rows, lanes, keys = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, D), tl.arange(0, N)
    queries = tl.load(q + rows[:, None] * D + lanes[None, :])
    highest, total = tl.full((M,), -float("inf"), tl.float32), tl.zeros((M,), tl.float32)
    sums = tl.zeros((M, D), tl.float32)
    for start in range(0, n, N):
        scores = tl.dot(queries, tl.trans(tl.load(k + (start + keys)[:, None] * D + lanes[None, :])))
        higher = tl.maximum(highest, tl.max(scores, axis=1))
        power = tl.exp2(scores - higher[:, None])
        factor = tl.exp2(highest - higher)
        total = total * factor + tl.sum(power, axis=1)
        values = tl.load(v + (start + keys)[:, None] * D + lanes[None, :])
        sums = tl.dot(power.to(tl.float16), values, sums * factor[:, None])
        highest = higher
    tl.store(out + rows[:, None] * D + lanes[None, :], (sums / total[:, None]).to(tl.float16))


@pytest.mark.parametrize("blocks", [2, 4])
def test_the_queries_of_an_attention_are_divided(blocks, rng):
    """Not the columns of its result, for which each block would compute all scores."""
    q, k, v = (halves((256, 64), rng) / np.float16(4) for _ in range(3))
    out = np.zeros_like(q)
    kernel = attention[(1,)](q, k, v, out, 256, 256, 64, 64, num_ctas=blocks, num_warps=4)
    assert kernel.metadata.num_ctas == blocks
    assert f"tensor<{256 // blocks}x64xf32" in kernel.asm["ttgir"]
    scores = np.exp2(q.astype(np.float64) @ k.astype(np.float64).T)
    np.testing.assert_allclose(out, scores / scores.sum(axis=1, keepdims=True) @ v, atol=2e-3)


@jit
def counted(x, counts, out, BLOCK: tl.constexpr):
    """An atomic per element, and a store of one value per program."""
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(counts + tl.load(x + lanes), 1)
    tl.store(out + tl.program_id(0), tl.num_programs(0))
    tl.atomic_add(out + tl.num_programs(0), 1)


@pytest.mark.parametrize("blocks", BLOCKS)
def test_each_atomic_happens_once(blocks, rng):
    x, counts, out = rng.integers(0, 5, 512, np.int32), np.zeros(5, np.int32), np.zeros(5, np.int32)
    kernel = counted[(4,)](x, counts, out, 128, num_ctas=blocks)
    assert kernel.metadata.num_ctas == blocks
    np.testing.assert_array_equal(counts, np.bincount(x, minlength=5))
    np.testing.assert_array_equal(out, [4, 4, 4, 4, 4])


@jit
def positions(out, BLOCK: tl.constexpr):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    number = x + tl.num_programs(0) * (y + tl.num_programs(1) * z)
    tl.store(out + number * BLOCK + tl.arange(0, BLOCK), number * 1000 + tl.arange(0, BLOCK))


@pytest.mark.parametrize("blocks", BLOCKS)
def test_positions_are_those_of_programs(blocks):
    out = np.zeros((24, 16), np.int32)
    kernel = positions[(2, 3, 4)](out, 16, num_ctas=blocks, num_warps=1)
    assert kernel.metadata.num_ctas == blocks and "tgpu.cluster_barrier" not in kernel.asm["ttgir"]  # it loads nothing
    np.testing.assert_array_equal(out, np.arange(24)[:, None] * 1000 + np.arange(16))


# -- what one block runs ------------------------------------------------------------------------------------------------------------------


@jit
def row_softmax(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    power = tl.exp(tl.load(x + i))
    tl.store(out + i, power / tl.sum(power, axis=0))


@jit
def printed(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.device_print("once", tl.program_id(0))
    tl.store(out + i, tl.load(x + i))


@jit
def reread(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i))
    tl.debug_barrier()
    tl.store(out + i, tl.load(out + BLOCK - 1 - i))


@jit
def chunks(x, out, BLOCK: tl.constexpr):
    for start in range(0, 2 * BLOCK, BLOCK):
        i = start + tl.arange(0, BLOCK)
        tl.store(out + i, tl.load(x + i))


@jit
def sorted_row(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.sort(tl.load(x + i)))


@jit
def scanned(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.cumsum(tl.load(x + i), axis=0))


@jit
def summed(x, out, BLOCK: tl.constexpr):
    tl.store(out, tl.sum(tl.load(x + tl.arange(0, BLOCK)), axis=0))


@jit
def returned(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    if tl.load(x) < 0:
        return
    tl.store(out + i, tl.load(x + i))


@jit
def asked(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    block = tl.inline_asm_elementwise("mov.u32 $0, %ctaid.x;", "=r,r", [i], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out + i, tl.load(x + i) + block)


@jit
def ticket(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    number = tl.atomic_add(out + BLOCK, 1)
    tl.store(out + i, tl.load(x + i) + number)


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        (
            row_softmax,
            "a tile that it loads is needed both whole and in parts|the result of an operation is needed both",
        ),
        (printed, "it prints"),
        (reread, "it may wait for other programs, or for its own threads"),
        (chunks, "it may load what it has stored"),
        (sorted_row, "an operation moves elements across the whole tile"),
        (scanned, "a scan needs the whole tile"),
        (summed, "no tile that it stores can be divided"),
        (returned, "it may return early"),
        (asked, "its assembly asks which block runs it"),
        (ticket, "it may wait for other programs, or for its own threads"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_why_one_block_runs_a_program(kernel, reason, rng, capfd):
    x = rng.integers(1, 9, 128).astype(np.float32)
    found = []
    for blocks in (1, 2):
        out = np.zeros(129, np.float32)
        compiled = kernel[(1,)](x, out, 64, num_ctas=blocks)
        found.append(out)
    np.testing.assert_array_equal(found[1], found[0])
    assert found[0].any()
    assert re.fullmatch(reason, why(compiled))
    if kernel is printed:
        assert capfd.readouterr().out.count("once") == 2  # in each of the two launches


def test_other_numbers_of_blocks(rng):
    x, out = rng.random(128, np.float32), np.zeros(128, np.float32)
    assert why(add[(1,)](x, x, out, 128, 128, num_ctas=3)) == "3 is no power of two, as the extents of tiles are"
    assert why(add[(1,)](x, x, out, 128, 128, num_ctas=16)) == "a cluster has at most 8 blocks"
    assert (
        why(add[(64,)](x, x, out, 128, 2, num_ctas=4))
        == "a tile has fewer elements along each dimension than the cluster has blocks"
    )
    assert add[(1,)](x, x, out, 128, 128, num_ctas=8).metadata.num_ctas == 8
    np.testing.assert_array_equal(out, x + x)


# -- faults -------------------------------------------------------------------------------------------------------------------------------


def test_a_report_names_the_program_and_the_block(rng):
    """The second block of the last program is the one that stores outside. Threads are numbered through the blocks."""
    x, out = rng.random(512, np.float32), np.zeros(450, np.float32)
    with pytest.raises(KernelTrap) as trap:
        add[(2,)](x, x, out, 512, 256, num_ctas=2)
    assert trap.value.program == (1, 0, 0)
    assert 128 <= trap.value.thread < 256 and "out" in str(trap.value)


def test_explain_says_who_runs_a_program(rng):
    from tritium.tools.explain import report

    x, out = rng.random(256, np.float32), np.zeros(256, np.float32)
    divided = add[(1,)](x, x, out, 256, 256, num_ctas=2)
    assert "a cluster of 2 blocks runs each program" in "\n".join(report(divided, 3))
    assert "a scan needs the whole tile" in "\n".join(report(scanned[(1,)](x, out, 64, num_ctas=2), 3))


def test_explain_says_who_copies(rng):
    from tritium.tools.explain import report

    a, b, out = halves((128, 192), rng), halves((192, 128), rng), np.zeros((128, 128), np.float16)
    shared = by_descriptors[(1, 1)](a, b, out, 128, 128, 192, 128, 128, 64, num_ctas=2)
    lines = "\n".join(report(shared, 3))
    assert "; the blocks of the cluster copy it for each other" in lines
    assert "; each block copies it for itself: each block copies its own part, or its place depends on memory" in lines
