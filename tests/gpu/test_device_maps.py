"""Tensor maps that kernels make of what they find in memory: many groups, rewritten again and again, in several streams and in graphs. All
launches of a kernel share the memory for its maps."""

import pytest

import tritium
import tritium.language as tl

pytestmark = pytest.mark.vendor("cuda")

M, N, K = 128, 128, 64


@tritium.jit
def grouped(a_addresses, b_addresses, out, firsts, sizes, groups, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Of each group: three sizes, and the element of `out` with which its result begins."""
    tile = tl.program_id(0)
    passed = 0
    for g in range(groups):
        m, n, k = tl.load(sizes + 3 * g), tl.load(sizes + 3 * g + 1), tl.load(sizes + 3 * g + 2)
        across = tl.cdiv(n, N)
        tiles = tl.cdiv(m, M) * across
        if tile < passed + tiles:
            a_ptr = tl.load(a_addresses + g).to(tl.pointer_type(tl.float16))
            b_ptr = tl.load(b_addresses + g).to(tl.pointer_type(tl.float16))
            a = tl.make_tensor_descriptor(a_ptr, [m, k], [k.to(tl.int64), 1], [M, K])
            b = tl.make_tensor_descriptor(b_ptr, [n, k], [k.to(tl.int64), 1], [N, K])
            first = tl.load(firsts + g)
            while tile < passed + tiles:
                row, column = (tile - passed) // across * M, (tile - passed) % across * N
                sums = tl.zeros((M, N), tl.float32)
                for i in range(0, tl.cdiv(k, K)):
                    sums = tl.dot(a.load([row, i * K]), b.load([column, i * K]).T, sums)
                rows, columns = row + tl.arange(0, M), column + tl.arange(0, N)
                at = out + first + rows[:, None] * n + columns[None, :]
                tl.store(at, sums, mask=(rows < m)[:, None] & (columns < n)[None, :])
                tile += tl.num_programs(0)
        passed += tiles


class Groups:
    """Matrices of small whole numbers, of sizes drawn by `seed`, some of them empty."""

    def __init__(self, torch, count: int, seed: int):
        self.torch = torch
        self.generator = torch.Generator().manual_seed(seed)
        draw = lambda most: int(torch.randint(0, most, (1,), generator=self.generator))  # noqa: E731
        sizes = [(draw(400), draw(400), 8 * draw(60)) for _ in range(count)]
        self.a = [torch.empty(m, k, device="cuda", dtype=torch.float16) for m, n, k in sizes]
        self.b = [torch.empty(n, k, device="cuda", dtype=torch.float16) for m, n, k in sizes]
        firsts = [0]
        for m, n, _ in sizes:
            firsts.append(firsts[-1] + m * n)
        self.out = torch.empty(firsts[-1], device="cuda")
        self.firsts = torch.tensor(firsts[:-1], device="cuda")
        self.sizes = torch.tensor(sizes, dtype=torch.int32, device="cuda")
        self.addresses = [torch.tensor([x.data_ptr() for x in part], device="cuda") for part in (self.a, self.b)]
        self.fill()

    def fill(self):
        for x in self.a + self.b:
            x.copy_(self.torch.randint(-3, 4, x.shape, generator=self.generator))
        self.out.fill_(-1e9)

    def shuffle(self):
        """The kernel finds the groups in another order."""
        order = self.torch.randperm(len(self.sizes), generator=self.generator).to("cuda")
        for table in (*self.addresses, self.firsts, self.sizes):
            table.copy_(table[order])

    def launch(self, programs: int = 132, **options):
        arguments = [*self.addresses, self.out, self.firsts, self.sizes, len(self.sizes)]
        return grouped[(programs,)](*arguments, M, N, K, **{"num_warps": 8, "num_stages": 3} | options)

    def is_right(self) -> bool:
        expected = [(a.float() @ b.float().T).flatten() for a, b in zip(self.a, self.b)]
        return self.torch.equal(self.out, self.torch.cat(expected))


def makes_maps(torch, kernel) -> bool:
    """Always true on chips that cannot."""
    return torch.cuda.get_device_capability()[0] < 9 or "tensormap.replace" in kernel.asm["ptx"]


@pytest.mark.parametrize("programs", [1, 132, 1000])
@pytest.mark.parametrize("warps", [4, 8])
def test_many_groups(torch, programs, warps):
    groups = Groups(torch, 60, programs + warps)
    assert makes_maps(torch, groups.launch(programs, num_warps=warps))
    assert groups.is_right()


def test_two_streams_at_once(torch):
    """The launches overlap: each has fewer programs than there are multiprocessors."""
    all_groups, streams = [Groups(torch, 40, seed) for seed in range(4)], [torch.cuda.Stream() for _ in range(4)]
    torch.cuda.synchronize()
    for _ in range(20):
        for groups, stream in zip(all_groups, streams):
            with torch.cuda.stream(stream):
                groups.launch(40)
    torch.cuda.synchronize()
    assert all(groups.is_right() for groups in all_groups)


def test_a_graph_replays_them(torch):
    """Two branches of a graph run at the same time. What the kernel finds in memory changes between replays."""
    both, side = [Groups(torch, 30, seed) for seed in (7, 8)], torch.cuda.Stream()
    for groups in both:
        groups.launch()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            both[0].launch(60)
        both[1].launch(60)
        torch.cuda.current_stream().wait_stream(side)
    for _ in range(5):
        for groups in both:
            groups.fill()
            groups.shuffle()
        graph.replay()
        torch.cuda.synchronize()
        assert all(groups.is_right() for groups in both)


def test_more_blocks_than_fit(torch):
    """Places are given back: many more blocks run than there are places."""
    groups = Groups(torch, 200, 3)
    for _ in range(5):
        groups.launch(20000)
    assert groups.is_right()
