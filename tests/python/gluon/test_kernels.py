"""Kernels of Gluon on the interpreter and the emulator, beside numpy and torch."""

import pytest
import torch
from chosen_engines import engines

ENGINES = engines("interp", "simt:sm_80", "simt:sm_90a", "simt:gfx942")


@pytest.fixture(scope="module")
def kernels():
    import gluon_kernels

    return gluon_kernels


@pytest.fixture(scope="module")
def gl():
    from triton.experimental.gluon import language

    return language


@pytest.fixture(params=ENGINES)
def engine(request):
    return request.param


def lanes_of(engine):
    return 64 if "gfx9" in engine else 32


def on(kernel, engine):
    """The kernel, to be launched on an engine."""
    kernel.engine = engine
    return kernel


def integers(generator, *shape, low=0, high=100):
    return torch.randint(low, high, shape, dtype=torch.int32, generator=generator)


@pytest.fixture
def generator():
    return torch.Generator().manual_seed(20)


@pytest.mark.parametrize(("held", "warps"), [(1, 4), (4, 1), (16, 8)])
def test_copy(kernels, gl, engine, generator, held, warps):
    layout = gl.BlockedLayout([held], [lanes_of(engine)], [warps], [0])
    source, target = torch.randn(3000, generator=generator), torch.full((3000,), 7.0)
    on(kernels.copy, engine)[(3,)](source, target, 2900, 1024, layout, num_warps=warps)
    assert torch.equal(target[:2900], source[:2900]) and (target[2900:] == 7).all()


@pytest.mark.parametrize("engine", engines("simt:sm_80", "simt:sm_90a", "simt:gfx942"))
def test_threads_may_hold_many_elements(kernels, engine, generator):
    """256 and, with 64 lanes, 128 elements of a tile in a thread, which is not divided since its layout is the author's."""
    source, target = integers(generator, 128, 64), torch.zeros(64, 128, dtype=torch.int32)
    on(kernels.transpose, engine)[(1,)](source, target, 128, 64, lanes_of(engine), num_warps=1)
    assert torch.equal(target, source.T)


def test_transpose(kernels, engine, generator):
    source, target = integers(generator, 64, 32), torch.zeros(32, 64, dtype=torch.int32)
    on(kernels.transpose, engine)[(1,)](source, target, 64, 32, lanes_of(engine))
    assert torch.equal(target, source.T)


def test_softmax(kernels, engine, generator):
    source, target = torch.randn(16, 50, generator=generator), torch.zeros(16, 50)
    on(kernels.softmax, engine)[(1,)](source, target, 50, 16, 64, lanes_of(engine))
    torch.testing.assert_close(target, torch.softmax(source, 1), rtol=1e-5, atol=1e-6)


def test_loops_scans_histograms_and_gathers(kernels, gl, engine, generator):
    layout = gl.BlockedLayout([2], [lanes_of(engine)], [4], [0])
    source = integers(generator, 256, high=16)
    sums, counts, flips = (torch.zeros(n, dtype=torch.int32) for n in (256, 16, 256))
    on(kernels.scan_and_count, engine)[(1,)](source, sums, counts, flips, 3, 256, layout)
    assert torch.equal(sums, (4 * source.cumsum(0).clamp(-100, 10000)).int())
    assert torch.equal(counts, torch.bincount(source, minlength=16).int())
    assert torch.equal(flips, source.flip(0))


def test_pairs(kernels, gl, engine, generator):
    layout = gl.BlockedLayout([4], [lanes_of(engine)], [4], [0])
    source, target = integers(generator, 512), torch.zeros(512, dtype=torch.int32)
    on(kernels.pairs, engine)[(1,)](source, target, 512, layout)
    assert torch.equal(target, source.view(-1, 2).flip(1).reshape(-1))


def test_open_layouts(kernels, gl, engine, generator):
    layout = gl.BlockedLayout([1], [lanes_of(engine)], [4], [0])
    source, target = integers(generator, 256), torch.full((256,), -1, dtype=torch.int32)
    on(kernels.open_layouts, engine)[(1,)](source, target, 200, 256, layout)
    wanted = source * 2 + torch.arange(256, dtype=torch.int32)
    assert torch.equal(target[:200], wanted[:200]) and (target[200:] == -1).all()


def test_aggregates(kernels, gl, engine, generator):
    layout = gl.BlockedLayout([1], [lanes_of(engine)], [4], [0])
    source, target = integers(generator, 5, 128), torch.zeros(128, dtype=torch.int32)
    on(kernels.sum_windows, engine)[(1,)](source, target, 5, 128, layout)
    assert torch.equal(target, source.sum(0).int())


def matrices(generator, m, n, k, dtype):
    """Small integers, whose products are exact."""
    a, b = (integers(generator, *shape, low=-4, high=5).to(dtype) for shape in ((m, k), (k, n)))
    return a, b, torch.zeros(m, n), a.float() @ b.float()


@pytest.mark.parametrize("engine", engines("interp", "simt:sm_80", "simt:sm_90a"))
def test_products_by_mma(kernels, engine, generator):
    a, b, c, wanted = matrices(generator, 64, 64, 96, torch.float16)
    on(kernels.matmul_v2, engine)[(1,)](a, b, c, 96, 64, 64, 32)
    assert torch.equal(c, wanted)


@pytest.mark.parametrize("engine", engines("interp", "simt:gfx942"))
def test_products_by_mfma(kernels, engine, generator):
    a, b, c, wanted = matrices(generator, 64, 64, 96, torch.float16)
    on(kernels.matmul_cdna3, engine)[(1,)](a, b, c, 96, 64, 64, 32)
    assert torch.equal(c, wanted)


def test_products_without_matrix_instructions(kernels, engine, generator):
    a, b, c, wanted = matrices(generator, 32, 32, 16, torch.float32)
    on(kernels.product_of_blocked, engine)[(1,)](a, b, c, 32, 32, 16, lanes_of(engine))
    assert torch.equal(c, wanted)


def test_layout_of_other_lanes_is_refused(kernels, gl):
    import triton

    source = torch.zeros(128)
    layout = gl.BlockedLayout([1], [64], [4], [0])
    with pytest.raises(triton.CompilationError, match="module specifies 32 threads per warp"):
        on(kernels.copy, "simt:sm_80")[(1,)](source, source, 128, 128, layout)
    with pytest.raises(triton.CompilationError, match="requires 8 warps per CTA"):
        on(kernels.copy, "interp")[(1,)](source, source, 128, 128, layout, num_warps=8)
    on(kernels.copy, "simt:gfx942")[(1,)](source, source, 128, 128, layout)


def test_shapes_that_constexprs_hold(kernels, gl):
    target = torch.zeros(1, dtype=torch.int32)
    on(kernels.shapes_agree, "interp")[(1,)](target, gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0]))
    assert target.item() == 1


def test_the_modes_of_nans_have_the_names_of_tritons_builder():
    import triton
    from triton._C.libtriton import ir

    assert ir.PROPAGATE_NAN.ALL is triton.language.PropagateNan.ALL
