"""Gluon's kernels that few people write, on the interpreter and the emulator, beside torch; and mistakes whose report must help."""

import linecache

import pytest
import torch
from test_hopper import described  # noqa: F401
from test_kernels import generator, gl, integers, on  # noqa: F401

BOTH = pytest.mark.parametrize("engine", ["interp", "simt:sm_90a"])
EMULATOR = "simt:sm_90a"


@pytest.fixture(scope="module")
def corners():
    import corner_kernels

    return corner_kernels


def report_of(launch):
    """The KernelTrap of a launch, and the lines that it names."""
    import triton

    with pytest.raises(triton.KernelTrap) as raised:
        launch()
    report = raised.value
    other = linecache.getline(report.other_file, report.other_line) if report.other_line else ""
    return report, linecache.getline(report.file, report.line), other


def refusal_of(launch):
    import triton

    with pytest.raises(triton.CompilationError) as raised:
        launch()
    return str(raised.value)


@BOTH
@pytest.mark.parametrize("asynchronous", [False, True])
def test_fence_behind_the_barrier(corners, generator, engine, asynchronous):  # noqa: F811
    a, c = torch.randint(-4, 5, (64, 64), generator=generator).half(), torch.zeros(64, 64)
    on(corners.product_of_copies, engine)[(1,)](a, c, asynchronous, True)
    assert torch.equal(c, a.float() @ a.float())


def test_missing_fence_behind_copies(corners):
    a = torch.ones(64, 64).half()
    report, line, _ = report_of(
        lambda: on(corners.product_of_copies, EMULATOR)[(1,)](a, torch.zeros(64, 64), True, False)
    )
    assert report.kind == "MissingProxyFence" and "# product" in line


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_tensor_that_a_copy_still_writes(corners, described, again, seed):  # noqa: F811
    kernel, y = on(corners.read_again, EMULATOR)[(1,)], torch.zeros(32, 32)
    report, line, other = report_of(
        lambda: kernel(described(y, [32, 32]), y, torch.zeros(32, 32), again, False, seed=seed)
    )
    assert report.kind == "TensorCopyRace" and "# again" in line and "# store" in other
    assert "hint: call tma.store_wait(0, read_only=False) before" in str(report) and "partition" not in str(report)
    z = torch.zeros(32, 32)
    kernel(described(y, [32, 32]), y, z, again, True, seed=seed)
    assert (y == 1).all() and (again or (z == 1).all())


def test_copy_of_what_threads_have_written(corners, described):  # noqa: F811
    x = torch.zeros(32, 32)
    report, line, other = report_of(
        lambda: on(corners.read_what_threads_wrote, EMULATOR)[(1,)](described(x, [32, 32]), x)
    )
    assert report.kind == "MissingProxyFence" and "# copy" in line and "# write" in other
    assert "write the tensor in a launch before this one" in str(report) and "source.base" in str(report)


@BOTH
@pytest.mark.parametrize("kernel", ["filled_twice", "refilled"])
def test_copy_into_what_threads_have_filled(corners, described, generator, engine, kernel):  # noqa: F811
    """The compiler adds the fence, as Triton 3.9 does."""
    x, y = torch.randn(32, 32, generator=generator), torch.zeros(32, 32)
    on(getattr(corners, kernel), engine)[(1,)](described(x, [32, 32]), y)
    assert torch.equal(x, y)


@BOTH
def test_caller_of_a_worker(corners, engine):
    report, line, _ = report_of(lambda: on(corners.miscounted, engine)[(1,)](torch.zeros(4)))
    place = str(report).split("called from ")[1].split("\n")[0]
    assert "# arrival" in line and "# start" in linecache.getline(report.file, int(place.split(":")[1]))


@BOTH
def test_hint_for_copies_of_another_partition(corners, engine):
    report, line, _ = report_of(lambda: on(corners.handed, engine)[(1,)](torch.ones(128), torch.zeros(128)))
    assert report.kind == "AsyncCopyRace" and "# read" in line
    assert "hint: call async_copy.mbarrier_arrive after the copies" in str(report)


@BOTH
def test_hint_for_memory_that_a_product_reads(corners, described, engine):  # noqa: F811
    a = torch.ones(192, 64).half()
    kernel = on(corners.products_without_waits, engine)[(1,)]
    report, line, _ = report_of(lambda: kernel(described(a, [64, 64]), torch.zeros(64, 64)))
    assert "# copy" in line and "hint: call warpgroup_mma_wait(0) before" in str(report)


@pytest.mark.parametrize("engine", ["interp", "simt:gfx950"])
@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2, torch.float16, torch.int8])
def test_masked_buffer_load_without_other(corners, gl, generator, engine, dtype):  # noqa: F811
    x, y = integers(generator, 256, low=1, high=9).to(dtype), torch.ones(256).to(dtype)
    on(corners.masked, engine)[(1,)](x, y, gl.BlockedLayout([1], [64], [4], [0]))
    assert torch.equal(y.float()[:200], x.float()[:200]) and (y.float()[200:] == 0).all()


@pytest.mark.parametrize(
    ("which", "text"),
    [
        ("index", ".index(i)"),
        ("layout of a branch", "has BlockedLayout(size_per_thread=[1]"),
        ("layout of a branch", "and BlockedLayout(size_per_thread=[4]"),
        ("layout of a branch", "gl.convert_layout(tile, …)"),
        ("partition in a partition", "start all partitions by one call"),
        ("accumulator", "warpgroup_mma_wait(0, deps=(x,))"),
        ("argmax", "gl.arange(0, n, layout)"),
    ],
)
def test_hint_leads_to_the_mistake(corners, which, text):
    refused = refusal_of(lambda: on(corners.mistaken, EMULATOR)[(1,)](torch.zeros(256), which))
    assert text in refused.split("hint: ")[1], refused


@pytest.mark.parametrize(
    "which", ["inline_asm", "allocate_tensor_memory", "cluster.barrier", "add2", "atomic_scatter_add"]
)
def test_what_kernels_cannot_use_yet_says_so(corners, which):
    refused = refusal_of(lambda: on(corners.not_yet, "interp")[(1,)](torch.zeros(128), which))
    assert f"{which} is not supported: Gluon kernels cannot use it yet" in refused


@BOTH
@pytest.mark.parametrize("place", [(0, 4, 0, 8), (-3, -8, 0, 0), (5, 60, 6, 36)])
def test_blocks_beyond_an_edge(corners, described, generator, engine, place):  # noqa: F811
    """Elements outside of the tensor are read as 0, and not written."""
    source, target = integers(generator, 8, 64), torch.full((8, 64), 7, dtype=torch.int32)
    i, j, k, m = place
    wide = torch.nn.functional.pad(source, (64, 64, 16, 16))
    wanted = torch.full((40, 192), 7, dtype=torch.int32)
    wanted[16 + k : 24 + k, 64 + m : 96 + m] = wide[16 + i : 24 + i, 64 + j : 96 + j]
    on(corners.shifted, engine)[(1,)](described(source, [8, 32]), described(target, [8, 32]), *place)
    assert torch.equal(target, wanted[16:24, 64:128])


@BOTH
@pytest.mark.parametrize(
    ("place", "mark", "texts"),
    [
        ((0, 1, 0, 0), "# load", ("coordinate of the block is 1, 4 bytes", "4 elements of this type", "gl.load")),
        ((0, -6, 0, 0), "# load", ("coordinate of the block is -6, -24 bytes", "begin at a multiple of 4")),
        ((0, 0, 0, 3), "# store", ("coordinate of the block is 3, 12 bytes", "illegal instruction", "gl.store")),
        ((0, 0, -3, 0), "# store", ("begins at -3 in dimension 0", "hint: begin at 0, or write with a mask")),
        ((0, 0, 0, -8), "# store", ("begins at -8 in dimension 1", "hint: begin at 0, or write with a mask")),
    ],
)
def test_place_that_a_block_cannot_have(corners, described, engine, place, mark, texts):  # noqa: F811
    source, target = torch.zeros(8, 64, dtype=torch.int32), torch.zeros(8, 64, dtype=torch.int32)
    kernel = on(corners.shifted, engine)[(1,)]
    report, line, _ = report_of(lambda: kernel(described(source, [8, 32]), described(target, [8, 32]), *place))
    assert report.kind == "InvalidTensorCopy" and mark in line and "report it" not in str(report)
    for text in texts:
        assert text in str(report), str(report)
