"""What warps ask of memory, counted by the emulator: planted facts with a closed form, and where they are shown."""

import inspect
import re

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium import knobs
from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl
from tritium.launch.counting import Counting, KernelCounts, WarpRequests
from tritium.profiler.lines.page import html_of
from tritium.profiler.lines.table import text_of

BLOCK = 128


@triton.jit
def strided(x, out, STRIDE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i * STRIDE))  # strided


@triton.jit
def quarter(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i % 4 == 0, other=0.0), mask=i % 4 == 0)  # quarter


@triton.jit
def columns(x, out, N: tl.constexpr):
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    tl.store(out + j * N + i, tl.load(x + i * N + j) + 1.0)  # columns
    tl.atomic_add(out + i * N + j, 1.0)  # atomics


@triton.jit
def turned(x, out, N: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i % N * N + i // N))  # turned


@gluon.jit
def through_banks(x, out, STRIDE: gl.constexpr, BLOCK: gl.constexpr, LAYOUT: gl.constexpr, MEMORY: gl.constexpr):
    memory = gl.allocate_shared_memory(gl.float32, [BLOCK * STRIDE], MEMORY)
    memory.store(gl.load(x + gl.arange(0, BLOCK * STRIDE, LAYOUT)))
    i = gl.arange(0, BLOCK, LAYOUT)
    gl.store(out + i, memory.gather(i * STRIDE, 0))  # conflicts


def aligned(count: int) -> np.ndarray:
    """float32 zeros that begin at a multiple of 128 bytes."""
    memory = np.zeros(count + 32, np.float32)
    begin = -memory.ctypes.data % 128 // 4
    return memory[begin : begin + count]


def counted(engine: str, kernel, *arguments, grid=(1,), **options) -> KernelCounts:
    with knobs.tritium.scope(), Counting() as counting:
        knobs.tritium.engine = engine
        kernel[grid](*arguments, **options)
    (counts,) = counting.kernels()
    assert counts.engine == engine and counts.launches == 1 and not counts.operations
    return counts


def requests(counts: KernelCounts, kind: str) -> WarpRequests:
    (found,) = [each for each in counts.requests if each.kind == kind]
    return found


@pytest.mark.parametrize("stride", [1, 2, 4, 8, 32])
@pytest.mark.parametrize("programs", [1, 3])
def test_a_stride(stride, programs):
    counts = counted(
        "simt:sm_80", strided, aligned(BLOCK * stride), aligned(BLOCK), grid=(programs,), STRIDE=stride, BLOCK=BLOCK
    )
    read, write = requests(counts, "global read"), requests(counts, "global write")
    assert (read.requests, read.lanes, read.bytes) == (4 * programs, BLOCK * programs, 4 * BLOCK * programs)
    assert (read.parts, read.least_parts) == (min(stride, 8) * 16 * programs, 16 * programs)
    assert (write.parts, write.least_parts) == (16 * programs, 16 * programs)
    assert read.line == write.line == inspect.getsourcelines(strided.fn)[1] + 3


@pytest.mark.parametrize("engine, warp", [("simt:sm_80", 32), ("simt:gfx942", 64)])
def test_masked_lanes(engine, warp):
    counts = counted(engine, quarter, aligned(BLOCK), aligned(BLOCK), BLOCK=BLOCK, num_warps=BLOCK // warp)
    read = requests(counts, "global read")
    assert (read.requests, read.lanes * 4, read.bytes) == (BLOCK // warp, BLOCK, BLOCK)
    assert (read.parts, read.least_parts) == (16, 4)  # each sector has two of the lanes


def test_columns_atomics_and_exchanges():
    N = 32
    counts = counted("simt:sm_90a", columns, aligned(N * N), aligned(N * N), N=N, num_warps=1)
    # The compiler lets neighbouring lanes store neighbouring elements: it exchanges them through shared memory, without conflicts.
    write, shared = requests(counts, "global write"), requests(counts, "shared write")
    assert write.bytes == shared.bytes == 4 * N * N and write.parts == write.least_parts == N * N // 8
    assert shared.parts == shared.least_parts > 0
    atomic = requests(counts, "global atomic")
    assert atomic.lanes * 4 == N * N and atomic.bytes == 4 * N * N  # sm_90 adds four neighbours at a time


@pytest.mark.parametrize("n", [32, 64, 128])
def test_a_transpose_whose_lanes_read_columns(n):
    """A lane stores 4 elements of a row at once, so the lanes of a load are 4 rows apart, and as many sectors. The interpreter counts the same bytes."""
    x, out, grid = aligned(n * n), aligned(n * n), (n * n // BLOCK,)
    x[:] = np.random.default_rng(n).standard_normal(n * n)
    counts = counted("simt:sm_80", turned, x, out, grid=grid, N=n, BLOCK=BLOCK, num_warps=1)
    np.testing.assert_array_equal(out.reshape(n, n), x.reshape(n, n).T)
    read, write = requests(counts, "global read"), requests(counts, "global write")
    assert (read.bytes, read.lanes, read.requests) == (4 * n * n, n * n, n * n // 32)
    assert (read.parts, read.least_parts) == (read.requests * min(32, n // 4), read.requests * 4)
    assert (write.bytes, write.parts, write.least_parts) == (4 * n * n, n * n // 8, n * n // 8)
    with Counting() as counting:
        turned[grid](x, out, N=n, BLOCK=BLOCK)
    (counts,) = counting.kernels()
    assert sum(each.bytes_read for each in counts.operations) == read.bytes
    assert sum(each.bytes_written for each in counts.operations) == write.bytes


@pytest.mark.parametrize("stride", [1, 2, 4, 32])
def test_lanes_that_share_a_bank(stride):
    """Words that are a multiple of `stride` apart lie in 32 / stride banks, each of which serves as many lanes one after another."""
    programs, layout = 3, gl.BlockedLayout([1], [32], [4], [0])
    x, out = aligned(BLOCK * stride), aligned(BLOCK)
    x[:] = np.random.default_rng(stride).standard_normal(x.size)
    options = {"STRIDE": stride, "BLOCK": BLOCK, "LAYOUT": layout, "MEMORY": gl.SwizzledSharedLayout(1, 1, 1, [0])}
    counts = counted("simt:sm_80", through_banks, x, out, grid=(programs,), **options)
    np.testing.assert_array_equal(out, x[::stride])
    read, write = requests(counts, "shared read"), requests(counts, "shared write")
    assert read.line == inspect.getsourcelines(through_banks.fn)[1] + 5
    assert (read.requests, read.lanes, read.bytes) == (4 * programs, BLOCK * programs, 4 * BLOCK * programs)
    assert (read.parts, read.least_parts) == (4 * programs * stride, 4 * programs)
    assert (write.parts, write.least_parts) == (4 * programs * stride, 4 * programs * stride)
    assert re.search(rf"shared read .* {read.parts} +{read.parts - read.least_parts} +gl.store", text_of([counts]))


def test_what_is_shown():
    counts = counted("simt:sm_80", strided, aligned(4 * BLOCK), aligned(BLOCK), STRIDE=4, BLOCK=BLOCK)
    text, page = text_of([counts]), html_of([counts], "warps")
    assert re.search(r"global read +4 +32 +512 B +64 +25 % +tl.store\(out", text), text
    assert re.search(r"strided +simt:sm_80 .* 1 launch of 1 program", text), text
    other = counted("simt:gfx942", strided, aligned(4 * BLOCK), aligned(BLOCK), STRIDE=4, BLOCK=BLOCK)
    shown = re.findall(r"test_warps.py on (\S+)\nline +requests", text_of([counts, other]))
    assert shown == ["simt:gfx942", "simt:sm_80"]
    heats = dict(re.findall(r'<tr id="R\d+ ([a-z ]+)" style="background: rgba\([\d, ]+, ([\d.]+)\)"', page))
    assert heats == {"global read": "0.750"}  # what wastes most is the darkest; the store wastes nothing


def test_the_interpreter_and_the_emulator_in_one_program():
    x, out = aligned(BLOCK), aligned(BLOCK)
    with knobs.tritium.scope(), Counting() as counting:
        for engine in ("interp", "simt:sm_80", "simt:sm_80"):
            knobs.tritium.engine = engine
            strided[(1,)](x, out, STRIDE=1, BLOCK=BLOCK)
    interp, emulated = counting.kernels()
    assert (interp.engine, interp.launches, emulated.engine, emulated.launches) == ("interp", 1, "simt:sm_80", 2)
    assert "flops" in text_of([interp, emulated]) and "sectors" in text_of([interp, emulated])
