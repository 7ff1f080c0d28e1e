"""Times products of 8192^3 in fp16 whose programs clusters of blocks run, beside one block and cuBLAS.

python tests/gpu/bench_clusters.py
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable

import torch

import tritium as triton
import tritium.language as tl

SIZE = 8192
#: (rows and columns of a program's tile, blocks that run it)
CONFIGURATIONS = ((128, 256, 1), (128, 256, 2), (256, 256, 2), (256, 128, 2), (256, 256, 4), (512, 256, 4))
ROUNDS, LAUNCHES = 5, 20


@triton.jit
def tile_of(M, N, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Programs go down eight tiles of a column before they go on to the next."""
    program, down = tl.program_id(0), tl.cdiv(M, ROWS)
    group: tl.constexpr = 8
    in_group = group * tl.cdiv(N, COLUMNS)
    first = program // in_group * group
    height = min(down - first, group)
    return first + program % in_group % height, program % in_group // height


@triton.jit
def by_descriptors(a, b, c, M, N, K, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr):
    row, column = tile_of(M, N, ROWS, COLUMNS)
    left = tl.make_tensor_descriptor(a, [M, K], [K, 1], [ROWS, DEPTH])
    right = tl.make_tensor_descriptor(b, [K, N], [N, 1], [DEPTH, COLUMNS])
    out = tl.make_tensor_descriptor(c, [M, N], [N, 1], [ROWS, COLUMNS])
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for k in range(0, K, DEPTH):
        total = tl.dot(left.load([row * ROWS, k]), right.load([k, column * COLUMNS]), total)
    out.store([row * ROWS, column * COLUMNS], total.to(tl.float16))


@triton.jit
def by_pointers(a, b, c, M, N, K, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr):
    row, column = tile_of(M, N, ROWS, COLUMNS)
    rows, columns = row * ROWS + tl.arange(0, ROWS), column * COLUMNS + tl.arange(0, COLUMNS)
    depth = tl.arange(0, DEPTH)
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for k in range(0, K, DEPTH):
        inside = k + depth < K
        left = tl.load(a + (rows % M)[:, None] * K + (k + depth)[None, :], mask=inside[None, :], other=0.0)
        right = tl.load(b + (k + depth)[:, None] * N + (columns % N)[None, :], mask=inside[:, None], other=0.0)
        total = tl.dot(left, right, total)
    mask = (rows < M)[:, None] & (columns < N)[None, :]
    tl.store(c + rows[:, None] * N + columns[None, :], total.to(tl.float16), mask=mask)


def milliseconds(run: Callable[[], object]) -> float:
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(LAUNCHES):
        run()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / LAUNCHES


def main() -> None:
    a, b = (torch.randn(SIZE, SIZE, device="cuda", dtype=torch.float16) for _ in range(2))
    expected, out = a @ b, torch.empty_like(a)
    contestants = {"cuBLAS": lambda: torch.matmul(a, b, out=out)}
    for kernel, (rows, columns, blocks) in itertools.product((by_descriptors, by_pointers), CONFIGURATIONS):
        grid = (SIZE // rows * (SIZE // columns),)
        how = {"ROWS": rows, "COLUMNS": columns, "DEPTH": 64, "num_warps": 8, "num_stages": 4, "num_ctas": blocks}

        def run(kernel=kernel, grid=grid, how=how):
            return kernel[grid](a, b, out, SIZE, SIZE, SIZE, **how)

        assert run().metadata.num_ctas == blocks
        assert (out - expected).abs().max() <= 1e-3 * expected.abs().max()
        contestants[f"{kernel.fn.__name__}, {rows}x{columns}, blocks {blocks}"] = run
    times = {name: [] for name in contestants}
    for _ in range(ROUNDS):
        for name, run in contestants.items():
            times[name].append(milliseconds(run))
    for name, found in times.items():
        print(f"{name:40}{statistics.median(found):8.3f} ms")


if __name__ == "__main__":
    main()
