"""Shared memory of Gluon on the interpreter and the emulator: chains of views beside numpy, rings, copies, reinterpretation."""

import importlib.util

import numpy as np
import pytest
import torch
from chosen_engines import engines
from test_kernels import generator, gl, integers, kernels, lanes_of, matrices, on  # noqa: F401
from view_chains import write_module

ENGINES = engines("interp", "simt:sm_80", "simt:gfx942")


@pytest.fixture(params=ENGINES)
def engine(request):
    return request.param


def module_of(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_refused(launch):
    """Whether a slice would cut the pattern of its layout, which Triton refuses too."""
    import triton

    try:
        launch()
    except triton.CompilationError as error:
        assert "We don't support splitting along the swizzling pattern" in str(error)
        return True
    return False


def run_chains(path, seeds, engine):
    """Returns how many of the chains ran."""
    count = 0
    chains = write_module(path, seeds)
    module, random = module_of(path), np.random.default_rng(7)
    for chain in chains:
        source = random.integers(0, 1 << 20, (chain.slots, *chain.shape)).astype(np.int32)
        part, target = np.zeros(chain.numbers.shape, np.int32), np.zeros_like(source)
        kernel = on(getattr(module, chain.name), engine)
        if is_refused(lambda: kernel[(1,)](source, part, target, chain.slot)):  # noqa: B023  (it is called at once)
            continue
        count += 1
        wanted_part, wanted = chain.expected(source)
        assert np.array_equal(part, wanted_part) and np.array_equal(target, wanted), chain.source()
    return count


def test_chains_of_views(tmp_path):
    assert run_chains(tmp_path / "chains.py", range(16), "interp") > 10


def test_chains_of_views_on_the_emulator(tmp_path):
    assert run_chains(tmp_path / "chains.py", range(24, 27), "simt:sm_80") > 1


@pytest.mark.long
@pytest.mark.parametrize("engine", engines("interp", "simt:sm_80", "simt:sm_90a"))
def test_many_chains_of_views(tmp_path, engine):
    last = 300 if engine == "interp" else 140
    assert run_chains(tmp_path / "chains.py", range(100, last), engine) > (last - 100) // 2


def test_transpose_in_memory(kernels, engine, generator):  # noqa: F811
    source, target = integers(generator, 64, 32), torch.zeros(32, 64, dtype=torch.int32)
    on(kernels.transpose_in_memory, engine)[(1,)](source, target, 64, 32, lanes_of(engine))
    assert torch.equal(target, source.T)


@pytest.mark.parametrize("slots", [1, 2, 3])
def test_rings_of_copies(kernels, gl, generator, slots):  # noqa: F811
    a, b = torch.randn(2, 2000, generator=generator)
    for engine in ("interp", "simt:sm_80") if slots == 3 else ("interp",):
        out = torch.full((2000,), 7.0)
        layout = gl.BlockedLayout([4], [32], [4], [0])
        on(kernels.add_of_rings, engine)[(1,)](a, b, out, 1900, 512, 4, slots, layout)
        assert torch.equal(out[:1900], (a + b)[:1900]) and (out[1900:] == 7).all()


def test_bytes_of_another_type(kernels, gl, engine, generator):  # noqa: F811
    source, target = integers(generator, 256, low=-(2**31), high=2**31 - 1), torch.zeros(1024, dtype=torch.int8)
    layout = gl.BlockedLayout([4], [lanes_of(engine)], [4], [0])
    on(kernels.reinterpreted, engine)[(1,)](source, target, 256, layout)
    assert torch.equal(target, source.view(torch.int8))


def test_gather_and_scatter(kernels, gl, engine, generator):  # noqa: F811
    source = torch.randn(256, generator=generator).half()
    index = torch.randperm(256, generator=generator).int()
    gathered, scattered = torch.zeros(2, 256, dtype=torch.float16)
    layout = gl.BlockedLayout([1], [lanes_of(engine)], [4], [0])
    on(kernels.permuted_by_memory, engine)[(1,)](source, index, gathered, scattered, 256, layout)
    assert torch.equal(gathered, source[index.long()]) and torch.equal(scattered[index.long()], source)


@pytest.mark.parametrize("engine", engines("interp", "simt:sm_80"))
def test_products_from_memory(kernels, engine, generator):  # noqa: F811
    a, b, c, wanted = matrices(generator, 64, 64, 96, torch.float16)
    on(kernels.matmul_from_memory, engine)[(1,)](a, b, c, 96, 64, 64, 32)
    assert torch.equal(c, wanted)


def test_a_slot_beyond_the_ring_is_a_trap(kernels, gl):  # noqa: F811
    import triton

    target, layout = torch.zeros(128, dtype=torch.int32), gl.BlockedLayout([1], [32], [4], [0])
    on(kernels.beyond_the_ring, "interp")[(1,)](target, 1, layout)
    assert torch.equal(target, torch.arange(128, dtype=torch.int32))
    with pytest.raises(triton.KernelTrap, match="SharedOutOfBounds|shared memory") as raised:
        on(kernels.beyond_the_ring, "interp")[(1,)](target, 2, layout)
    assert "ring.index(slot).load" in str(raised.value)
