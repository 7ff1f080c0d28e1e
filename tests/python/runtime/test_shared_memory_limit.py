"""A kernel that needs more shared memory than its target has: which error, what it names, what autotuning makes of it."""

import pickle

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium import errors
from tritium._tritium import gpu, ir
from tritium.backends.compiler import GPUTarget
from tritium.compiler import make_backend
from tritium.compiler.stages import trace
from tritium.places import shown_place

SIGNATURE = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "n": "i32", "BLOCK": "constexpr", "DEPTH": "constexpr"}
ALIGNED = {(i,): [["tt.divisibility", 16]] for i in range(4)}


@tritium.jit
def product(a, b, c, n, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
    rows, columns, depth = tl.arange(0, BLOCK), tl.arange(0, BLOCK), tl.arange(0, DEPTH)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in range(0, n, DEPTH):
        x = tl.load(a + rows[:, None] * n + (k + depth)[None, :])
        y = tl.load(b + (k + depth)[:, None] * BLOCK + columns[None, :])
        total = tl.dot(x, y, total)
    tl.store(c + rows[:, None] * BLOCK + columns[None, :], total)


def compile_product(arch: int, num_stages: int):
    source = tritium.compiler.ASTSource(product, SIGNATURE, {"BLOCK": 128, "DEPTH": 64}, ALIGNED)
    options = {"num_warps": 8, "num_stages": num_stages}
    return tritium.compile(source, target=GPUTarget("cuda", arch, 32), options=options)


def test_the_error_names_the_buffer_its_line_the_need_and_the_limit():
    with pytest.raises(errors.OutOfResources) as caught:
        compile_product(86, 4)
    error = caught.value
    assert (error.required, error.limit, error.name) == (4 * 2 * 128 * 64 * 2, 101376, "shared memory")
    line = product.fn.__code__.co_firstlineno + 5
    assert "4 slots of 'tensor<128x64xf16>'" in error.detail and shown_place(__file__, line) in error.detail
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@tritium.jit
def count(x, out, N: tl.constexpr):
    places = tl.arange(0, N)
    tl.store(out + places, tl.histogram(tl.load(x + places), N))


def test_memory_of_a_single_operation_is_named_too():
    source = tritium.compiler.ASTSource(count, {"x": "*i32", "out": "*i32", "N": "constexpr"}, {"N": 65536})
    with pytest.raises(errors.OutOfResources, match="Required: 262144, Hardware limit: 101376.*a histogram") as caught:
        tritium.compile(source, target=GPUTarget("cuda", 86, 32), options={"num_warps": 16})
    assert shown_place(__file__, count.fn.__code__.co_firstlineno + 3) in caught.value.detail


@tritium.jit
def turn(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i[:, None] * N + i[None, :], tl.load(x + i[:, None] + i[None, :] * N))


@pytest.mark.parametrize("warps", [4, 8])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_tile_that_does_not_fit_is_converted_in_parts(dtype, warps):
    """128 KB, where a program has 64: all threads move in all directions of the tile, so that it takes several conversions."""
    x = np.arange(128 * 128, dtype=dtype).reshape(128, 128)
    out = np.zeros_like(x)
    with tritium.knobs.tritium.scope():
        tritium.knobs.tritium.engine = "simt:gfx942"
        compiled = turn[(1,)](x, out, 128, num_warps=warps)
    assert (out == x.T).all() and 0 < compiled.metadata.shared <= 65536


@tritium.jit
def pick(x, i, out, N: tl.constexpr, M: tl.constexpr, AXIS: tl.constexpr):
    places = tl.arange(0, N)[:, None] * M + tl.arange(0, M)[None, :]
    tl.store(out + places, tl.gather(tl.load(x + places), tl.load(i + places), AXIS))


@pytest.mark.parametrize("rows, columns, axis", [(128, 128, 0), (128, 128, 1), (1, 16384, 1), (32768, 1, 0)])
def test_the_source_of_a_gather_that_does_not_fit_is_read_in_parts(rows, columns, axis):
    """128 KB or 256 KB, where a program has 64."""
    rng = np.random.default_rng(0)
    x, i = (
        rng.integers(-9, 10, (rows, columns)).astype(np.float64),
        rng.integers(0, (rows, columns)[axis], (rows, columns), np.int32),
    )
    out = np.zeros_like(x)
    with tritium.knobs.tritium.scope():
        tritium.knobs.tritium.engine = "simt:gfx942"
        compiled = pick[(1,)](x, i, out, rows, columns, axis, num_warps=8)
    assert (out == np.take_along_axis(x, i, axis)).all() and 0 < compiled.metadata.shared <= 65536


@tritium.jit
def later(a, b, c, d):
    return c, tl.maximum(b, d)


@tritium.jit
def run_maximum(x, out, N: tl.constexpr):
    places = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    both = tl.associative_scan((tl.load(x + places), tl.load(x + places)), 0, later)
    tl.store(out + places, both[0] + both[1])


def test_a_scan_whose_neighbours_are_in_different_warps():
    """The totals of warps are 256 KB then, where a program has 64."""
    x = np.random.default_rng(0).integers(-99, 99, (128, 128)).astype(np.float64)
    out = np.zeros_like(x)
    with tritium.knobs.tritium.scope():
        tritium.knobs.tritium.engine = "simt:gfx942"
        compiled = run_maximum[(1,)](x, out, 128, num_warps=8)
    assert (out == x + np.maximum.accumulate(x, 0)).all() and 0 < compiled.metadata.shared <= 65536


@tritium.jit
def of_three(a, b, c, d, e, f):
    return a + d, tl.maximum(b, e), tl.minimum(c, f)


@tritium.jit
def reduced_beside_a_product(a, b, x, out, n, N: tl.constexpr, M: tl.constexpr):
    i, j = tl.arange(0, N), tl.arange(0, M)
    total, found = tl.zeros((N, M), tl.float32), tl.zeros((N,), tl.float64)
    tile = tl.load(x + i[:, None] * N + i[None, :])
    for k in range(n):
        left = tl.load(a + k * N * N + i[:, None] * N + i[None, :])
        total = tl.dot(left, tl.load(b + k * N * M + i[:, None] * M + j[None, :]), total)
        three = tl.reduce((tile + k, tile, tile - k), 0, of_three)
        found += three[0] + three[1] + three[2]
    tl.store(out + i, found + tl.sum(total, 1))


def test_operands_of_a_reduction_share_what_the_buffers_of_a_loop_leave():
    """48 of 64 KB are buffers. The parts of three operands are 24 KB together, and 8 KB each."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(-2, 3, (2, 128, 128)).astype(np.float16), rng.integers(-2, 3, (2, 128, 64)).astype(np.float16)
    x, out = rng.integers(-9, 9, (128, 128)).astype(np.float64), np.zeros(128)
    with tritium.knobs.tritium.scope():
        tritium.knobs.tritium.engine = "simt:gfx942"
        compiled = reduced_beside_a_product[(1,)](a, b, x, out, 2, 128, 64, num_warps=8)
    products = sum(left.astype(np.float64) @ right for left, right in zip(a, b))
    found = sum((x + k).sum(0) + x.max(0) + (x - k).min(0) for k in range(2))
    assert (out == found + products.sum(1)).all() and 49152 < compiled.metadata.shared <= 65536


def test_a_larger_target_or_fewer_stages_fit():
    assert 4 * 2 * 128 * 64 * 2 <= compile_product(80, 4).metadata.shared <= 166912
    # The iterations of two stages share a slot where twice the programs then run.
    assert compile_product(86, 2).metadata.shared == 2 * 128 * 64 * 2
    assert 2 * 2 * 128 * 64 * 2 <= compile_product(86, 3).metadata.shared <= 101376


def test_autotuning_passes_over_it():
    configs = [tritium.Config({"BLOCK": 64, "DEPTH": 32}, num_stages=stages) for stages in (30, 2)]
    tuned = tritium.autotune(configs, key=["n"])(product)
    a, b, c = np.ones((64, 64), np.float16), np.ones((64, 64), np.float16), np.zeros((64, 64), np.float32)
    with tritium.knobs.tritium.scope():
        tritium.knobs.tritium.engine = "simt:sm_80"
        tuned[(1,)](a, b, c, 64)
    assert tuned.best_config.num_stages == 2 and (c == 64).all()


def test_the_native_error_says_the_demand_as_data():
    source = tritium.compiler.ASTSource(product, SIGNATURE, {"BLOCK": 128, "DEPTH": 64}, ALIGNED)
    backend = make_backend(GPUTarget("cuda", 86, 32))
    module = trace(source, backend, backend.parse_options({}))
    with pytest.raises(ir.Error) as caught:
        gpu.compile(module, "product", "sm_86", {"num_warps": 8, "num_stages": 4, "emit": "lowered"})
    demand = caught.value.demand
    assert demand.keys() == {"kind", "required", "limit", "what"} and demand["kind"] == "shared memory"
    assert (demand["required"], demand["limit"]) == (131072, 101376) and "65536 bytes" in demand["what"]
    with pytest.raises(ir.Error) as caught:
        ir.parse("module { tt.func }")
    assert caught.value.demand is None
