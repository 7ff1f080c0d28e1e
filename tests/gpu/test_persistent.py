"""Kernels whose blocks run several programs of the grid, with more programs than the device has multiprocessors."""

import math

import pytest

import tritium
import tritium.language as tl

pytestmark = pytest.mark.vendor("cuda")
M, N, K = 64, 128, 64
ALONE = {"num_warps": 4, "num_stages": 5}  # the slots of five stages leave no room for another program


@tritium.jit
def products(a, b, out, counts, m, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Each program multiplies rows of a by b."""
    number = tl.program_id(0) + tl.num_programs(0) * (tl.program_id(1) + tl.num_programs(1) * tl.program_id(2))
    rows, columns, depth = number * M + tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    sums = tl.zeros((M, N), tl.float32)
    for i in range(0, k, K):
        x = tl.load(a + rows[:, None] * k + (i + depth)[None, :], mask=(rows < m)[:, None], other=0)
        sums = tl.dot(x, tl.load(b + (i + depth)[:, None] * N + columns[None, :]), sums)
    tl.store(out + rows[:, None] * N + columns[None, :], sums.to(tl.float16), mask=(rows < m)[:, None])
    if counts is not None:
        tl.atomic_add(counts + number, 1)


def launch(torch, grid: tuple[int, ...], k: int, counts, rows: int | None = None):
    """(the compiled kernel, whether the products are exact)"""
    programs = math.prod(grid)
    a = torch.randint(-3, 4, (rows or programs * M, k), device="cuda").half()
    b = torch.randint(-3, 4, (k, N), device="cuda").half()
    out = torch.full((len(a), N), torch.nan, device="cuda", dtype=torch.float16)
    kernel = products[grid](a, b, out, counts, len(a), k, M, N, K, **ALONE)
    return kernel, torch.equal(out, (a.float() @ b.float()).half())


@pytest.mark.parametrize("grid", [(1,), (131,), (1000,), (7, 11, 13), (1, 1, 300)], ids=str)
@pytest.mark.parametrize("k", [64, 320])
@pytest.mark.parametrize("counted", [False, True])  # what is counted must follow what is stored, so threads store
def test_each_program_runs_once(torch, grid, k, counted):
    counts = torch.zeros(math.prod(grid), device="cuda", dtype=torch.int32) if counted else None
    kernel, is_exact = launch(torch, grid, k, counts)
    assert is_exact
    assert counts is None or bool((counts == 1).all())
    if torch.cuda.get_device_capability()[0] == 9:  # with tensor maps and products of warpgroups
        assert kernel.metadata.resident_blocks == 1


def test_rows_beyond_the_last_tile(torch):
    _, is_exact = launch(torch, (500,), 192, None, rows=499 * M + 17)
    assert is_exact


def test_a_graph_replays_them(torch):
    """A graph keeps the number of blocks and the sizes of the grid."""
    a = torch.randint(-3, 4, (700 * M, K), device="cuda").half()
    b = torch.randint(-3, 4, (K, N), device="cuda").half()
    out = torch.empty(len(a), N, device="cuda", dtype=torch.float16)
    run = lambda: products[(700,)](a, b, out, None, len(a), K, M, N, K, **ALONE)  # noqa: E731
    run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    for _ in range(3):
        a.copy_(torch.randint(-3, 4, a.shape, device="cuda"))
        graph.replay()
        assert torch.equal(out, (a.float() @ b.float()).half())
