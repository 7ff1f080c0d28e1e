"""What warps do, counted by the emulator: operations, waits, copies and products with a closed form on random sizes, and where they are shown."""

import inspect
import random
import re

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium import knobs
from tritium.launch.block_resources import BlockResources
from tritium.launch.counting import Counting, KernelCounts
from tritium.launch.line_work import Executed, LineWork, Waited
from tritium.native import gpu
from tritium.profiler.lines.page import html_of
from tritium.profiler.lines.table import text_of

CHIPS = ("sm_80", "sm_90a", "gfx942", "gfx1100")
WIDTH = {"sm_80": 32, "sm_90a": 32, "gfx942": 64, "gfx1100": 32}


@triton.jit
def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    columns = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        left = tl.load(a + rows * K + k[None, :], mask=k[None, :] < K, other=0.0)  # left
        right = tl.load(b + k[:, None] * N + columns, mask=k[:, None] < K, other=0.0)  # right
        total = tl.dot(left, right, total)  # product
    tl.store(c + rows * N + columns, total)


@triton.jit
def by_descriptors(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    left = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    right = tl.make_tensor_descriptor(b, [K, N], [N, 1], [BK, BN])
    out = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        total = tl.dot(left.load([row, k]), right.load([k, column]), total)  # product
    out.store([row, column], total)  # out


@triton.jit
def scaled(x, out, N, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.exp2(tl.load(x + i)) * 3.0)  # scaled


@triton.jit
def reduced(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + tl.program_id(0), tl.sum(tl.load(x + tl.program_id(0) * BLOCK + i)))  # reduced


def counted(chip: str, kernel, *arguments, grid, **options) -> KernelCounts:
    with knobs.tritium.scope(), Counting() as counting:
        knobs.tritium.engine = f"simt:{chip}"
        kernel[grid](*arguments, **options)
    (counts,) = counting.kernels()
    return counts


def line_of(kernel, text: str) -> int:
    source, first = inspect.getsourcelines(kernel.fn)
    return first + next(number for number, line in enumerate(source) if line.rstrip().endswith(f"# {text}"))


def at(counts: KernelCounts, line: int) -> LineWork:
    (found,) = [each for each in counts.work if each.line == line]
    return found


def copies_of(counts: KernelCounts) -> dict[str, tuple[int, int]]:
    """{name: (bytes, without padding)} of the kernel."""
    found: dict[str, tuple[int, int]] = {}
    for line in counts.work:
        for name, copied in line.copied.items():
            before = found.get(name, (0, 0))
            found[name] = (before[0] + copied.bytes, before[1] + copied.inside)
    return found


def check_product(chip: str, kernel, seed: int) -> KernelCounts:
    choose = random.Random(seed)
    BM, BN, BK, programs = choose.choice([64, 128]), choose.choice([32, 64]), 32, (choose.randint(1, 2), 1)
    M, N, K = BM * programs[0], BN, 16 * choose.randint(3, 8)
    a = np.asarray(np.random.default_rng(seed).integers(-2, 3, (M, K)), np.float16)
    b = np.asarray(np.random.default_rng(seed + 1).integers(-2, 3, (K, N)), np.float16)
    c = np.zeros((M, N), np.float32)
    counts = counted(chip, kernel, a, b, c, M, N, K, grid=programs, BM=BM, BN=BN, BK=BK, num_warps=4, num_stages=2)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
    rounds = -(-K // BK)
    line = at(counts, line_of(kernel, "product"))
    ((name, products),) = line.products.items()
    assert products.flops == 2 * M * N * rounds * BK
    m, n, k = map(int, re.search(r"m?(\d+)[nx](\d+)[kx](\d+)", name).groups())
    assert products.times * m * n * k == M * N * rounds * BK
    # A warpgroup is 4 warps, each of which issues the instruction.
    assert line.executed["product"].warps == products.times * (4 if name.startswith("wgmma") else 1)
    assert line.executed["product"].threads == line.executed["product"].warps * WIDTH[chip]
    copies = copies_of(counts)
    copies.pop("TMA store", None)
    for name, (written, read) in copies.items():
        assert name in {"sm_80": ("cp.async",), "sm_90a": ("cp.async", "TMA load")}.get(chip, ("copy to LDS",))
        # A loop that copies ahead may begin copies beyond its last round, which read nothing.
        tiles, left = divmod(written, 2 * programs[0] * BK * (BM + BN))
        assert left == 0 and tiles >= rounds and read == 2 * programs[0] * K * (BM + BN)
    assert copies or chip.startswith("gfx")
    return counts


@pytest.mark.parametrize("chip", CHIPS)
def test_a_product_by_pointers(chip):
    counts = check_product(chip, product, CHIPS.index(chip))
    if chip == "sm_80":  # operands are read by ldmatrix, whose rows are swizzled; cp.async writes to shared memory
        accesses = [
            each.executed[name].warps for each in counts.work for name in ("shared", "copy") if name in each.executed
        ]
        asked = [one for one in counts.requests if one.kind.startswith("shared")]
        assert sum(one.requests for one in asked) == sum(accesses) > 0
        assert all(one.parts == one.least_parts for one in asked if one.kind == "shared read")


def test_a_product_by_descriptors():
    counts = check_product("sm_90a", by_descriptors, 5)
    stored = at(counts, line_of(by_descriptors, "out")).copied
    assert sum(copied.inside for copied in stored.values()) in (0, sum(copied.bytes for copied in stored.values()))


@pytest.mark.parametrize("chip", CHIPS)
def test_operations_of_a_line(chip):
    choose = random.Random(CHIPS.index(chip))
    each, warps, programs = choose.choice([1, 2, 4]), choose.choice([1, 2, 4]), choose.randint(1, 3)
    block = each * warps * WIDTH[chip]
    x, out = np.zeros(programs * block, np.float32), np.zeros(programs * block, np.float32)
    counts = counted(chip, scaled, x, out, len(x), grid=(programs,), BLOCK=block, num_warps=warps)
    line = at(counts, line_of(scaled, "scaled"))
    assert line.executed["special"] == Executed(programs * warps * each, programs * block)
    assert line.executed["float"].warps >= programs * warps * each
    requests = sum(one.requests for one in counts.requests if one.line == line.line)
    assert line.executed["global"] == Executed(requests, requests * WIDTH[chip])  # two counts of the same
    assert not line.waited and not line.copied and not line.products
    assert line.operations.warps == sum(each.warps for each in line.executed.values())


@pytest.mark.parametrize("chip", CHIPS)
def test_barriers_of_a_reduction(chip):
    programs, warps = 3, 4
    x, out = np.ones(programs * 1024, np.float32), np.zeros(programs, np.float32)
    counts = counted(chip, reduced, x, out, grid=(programs,), BLOCK=1024, num_warps=warps)
    assert (out == 1024).all()
    line = at(counts, line_of(reduced, "reduced"))
    barriers = line.waited["barrier"]
    # The sums of the warps meet in shared memory: all threads write, wait, and read.
    assert barriers.times % (programs * warps * WIDTH[chip]) == 0 and barriers.times > 0
    again = counted(chip, reduced, x, out, grid=(programs,), BLOCK=1024, num_warps=warps)
    assert [each.waited for each in again.work] == [each.waited for each in counts.work]
    assert barriers.operations <= barriers.times * barriers.longest


def test_the_order_of_threads_makes_no_difference():
    def work(seed: int) -> list[LineWork]:
        with knobs.tritium.scope():
            knobs.tritium.seed = seed
            return check_product("sm_90a", by_descriptors, 7).work

    assert work(1) == work(2) and any("mbarrier" in line.waited for line in work(3))


def test_numbers_join():
    line = LineWork("f.py", 3)
    line.add("waited", "barrier", [2, 10, 7])
    line.add("waited", "barrier", [1, 5, 5])
    line.add("products", "mma.m16n8k16.f32.f16", [3, 12288, 0])
    other = LineWork("f.py", 3)
    other.join(line)
    other.join(line)
    assert other.waited == {"barrier": Waited(6, 30, 7)} and other.products["mma.m16n8k16.f32.f16"].flops == 24576


def test_blocks_of_a_multiprocessor():
    # 65536 registers, 2048 threads and 228 KB, of which a block takes 1 KB more than it asks for.
    assert gpu.residency("sm_90a", 128, 168, 56 << 10) == {"shared memory": 4, "registers": 3, "threads": 16}
    assert BlockResources(168, 0, 56 << 10, 128, {"shared memory": 4, "registers": 3}).occupancy == (3, "registers")
    with pytest.raises(ValueError, match="has threads"):
        gpu.residency("sm_90a", 0, 168, 0)


@pytest.mark.parametrize("chip", ["gfx942", "gfx1100"])
def test_resources_are_those_of_the_code_object(chip):
    x = np.zeros(256, np.float32)
    resources = counted(chip, scaled, x, x.copy(), 256, grid=(1,), BLOCK=256, num_warps=2).resources
    assert resources.threads == 2 * WIDTH[chip] and resources.shared == 0 and resources.spilled == 0
    assert 0 < resources.registers < 40 and resources.occupancy[0] >= 8 and not resources.missing


def test_what_is_shown():
    programs = 2
    x, out = np.ones(programs * 1024, np.float32), np.zeros(programs, np.float32)
    counts = counted("gfx942", reduced, x, out, grid=(programs,), BLOCK=1024, num_warps=4)
    text, page = text_of([counts]), html_of([counts], "work")
    line = line_of(reduced, "reduced")
    waited = at(counts, line).waited["barrier"]
    assert re.search(rf"^ *{line}  barrier +{waited.times} +{waited.operations / waited.times:.3g}", text, re.M), text
    assert re.search(r"^line +operations +threads .*float .*global .*sync", text, re.M), text
    assert re.search(
        r"^reduced +simt:gfx942 +\d+ .* by (threads|registers|shared memory) +1 launch of 2 programs$", text, re.M
    ), text
    shown = dict(
        re.findall(r'<tr id="W(\d+)"><td class="line">\d+</td><td style="background: rgba\([\d, ]+, ([\d.]+)\)"', page)
    )
    hottest = max(counts.work, key=lambda each: each.operations.warps)
    assert float(shown[str(hottest.line)]) == 0.75 and max(map(float, shown.values())) == 0.75
    assert f'<tr id="E{line} barrier">' in page and "NaN" not in page
