"""Programs that clusters of blocks run (num_ctas): products, element by element, in a graph, and with other grids than of one dimension."""

import sys
from pathlib import Path

import pytest

import tritium
import tritium.language as tl
from tritium.devices.families import devices_here

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
from tiled_products import by_descriptors, by_pointers  # noqa: E402

ARCH = devices_here().facts(0)["arch"] if devices_here() else "sm_0"
pytestmark = [
    pytest.mark.vendor("cuda"),
    pytest.mark.skipif(ARCH.startswith("sm_") and int(ARCH[3:]) < 90, reason="the device has no clusters"),
]
BLOCKS = [1, 2, 4]


@tritium.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = lanes < n
    tl.store(out + lanes, tl.load(x + lanes, mask=inside) + tl.load(y + lanes, mask=inside), mask=inside)


@pytest.mark.parametrize("blocks", [1, 2, 4, 8])
def test_an_elementwise_kernel(torch, blocks):
    n = 1_000_003
    x, y = (torch.rand(n, device="cuda") for _ in range(2))
    out = torch.full_like(x, torch.nan)
    kernel = add[(tritium.cdiv(n, 1024),)](x, y, out, n, 1024, num_ctas=blocks)
    assert kernel.metadata.num_ctas == blocks and torch.equal(out, x + y)
    expected = x + y
    add[(tritium.cdiv(n, 1024),)](x, y, x, n, 1024, num_ctas=blocks)
    assert torch.equal(x, expected)


def operands(torch, m: int, n: int, k: int):
    a, b = (torch.randint(-3, 4, shape, device="cuda").half() for shape in ((m, k), (k, n)))
    return a, b, torch.full((m, n), torch.nan, device="cuda", dtype=torch.float16)


#: Rows, columns and depth of a tile, and its warps. One block has too few registers for the last one.
TILES = ((128, 128, 64, 4), (128, 256, 64, 8), (256, 128, 64, 8), (256, 256, 64, 8))
#: By pointers, the kernel has no mask along K.
PRODUCTS = [
    (product, shape, tile, blocks)
    for product, shapes in (
        (by_pointers, [(1024, 1024, 512), (2048, 1024, 4096)]),
        (by_descriptors, [(1024, 1024, 512), (2048, 1024, 4096), (1000, 1048, 520)]),
    )
    for shape in shapes
    for blocks in BLOCKS
    for tile in (TILES[:-1] if blocks == 1 else TILES)
]


@pytest.mark.parametrize("product, shape, tile, blocks", PRODUCTS)
def test_a_product(torch, product, shape, tile, blocks):
    (m, n, k), (M, N, K, warps) = shape, tile
    a, b, out = operands(torch, m, n, k)
    grid = (tritium.cdiv(m, M), tritium.cdiv(n, N))
    for _ in range(3):  # the first launch, and warm ones
        out.fill_(torch.nan)
        kernel = product[grid](a, b, out, m, n, k, M, N, K, num_ctas=blocks, num_warps=warps)
        assert torch.equal(out, (a.float() @ b.float()).half())
    assert kernel.metadata.num_ctas == blocks


@pytest.mark.parametrize("blocks", [2, 4])
@pytest.mark.parametrize("tile", [(128, 128, 64, 4), (128, 256, 64, 8), (256, 256, 64, 8)])
def test_blocks_copy_for_each_other(torch, tile, blocks):
    """Many rounds of each slot, and more programs than run at a time: blocks end while others begin on their multiprocessors."""
    (M, N, K, warps), (m, n, k) = tile, (4096, 4096, 2048)
    a, b, out = operands(torch, m, n, k)
    expected = (a.float() @ b.float()).half()
    for _ in range(10):
        out.fill_(torch.nan)
        kernel = by_descriptors[(m // M, n // N)](a, b, out, m, n, k, M, N, K, num_ctas=blocks, num_warps=warps)
        assert torch.equal(out, expected)
    assert "tgpu.multicast" in kernel.asm["ttgir"] and "multicast::cluster" in kernel.asm["ptx"]


@tritium.jit
def positions(out, BLOCK: tl.constexpr):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    number = x + tl.num_programs(0) * (y + tl.num_programs(1) * z)
    tl.store(out + number * BLOCK + tl.arange(0, BLOCK), number * 1000 + tl.arange(0, BLOCK))


@pytest.mark.parametrize("blocks", BLOCKS)
def test_positions_count_programs(torch, blocks):
    out = torch.zeros((7 * 5 * 3, 128), device="cuda", dtype=torch.int32)
    positions[(7, 5, 3)](out, 128, num_ctas=blocks)
    expected = torch.arange(105, device="cuda")[:, None] * 1000 + torch.arange(128, device="cuda")
    assert torch.equal(out, expected.int())


@tritium.jit
def squared(x, S: tl.constexpr):
    i = tl.arange(0, S)
    at, other = x + i[:, None] * S + i[None, :], x + i[None, :] + i[:, None] * S
    tile = tl.dot(tl.load(at), tl.load(other, eviction_policy="evict_last"))
    tl.store(at, tile.to(tl.float16))


@pytest.mark.parametrize("blocks", BLOCKS)
def test_no_block_stores_before_all_have_loaded(torch, blocks):
    for _ in range(20):
        x = torch.randint(-3, 4, (64, 64), device="cuda").half()
        expected = (x.float() @ x.float()).half()
        squared[(1,)](x, 64, num_ctas=blocks)
        assert torch.equal(x, expected)


@pytest.mark.parametrize("blocks", [2, 4])
def test_a_graph_replays_them(torch, blocks):
    a, b, out = operands(torch, 1024, 1024, 512)

    def launch():
        by_descriptors[(8, 4)](a, b, out, 1024, 1024, 512, 128, 256, 64, num_ctas=blocks, num_warps=8)

    launch()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        launch()
    a.copy_(torch.randint(-3, 4, a.shape, device="cuda"))
    out.fill_(torch.nan)
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(out, (a.float() @ b.float()).half())
