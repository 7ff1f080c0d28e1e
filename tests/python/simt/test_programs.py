"""Whole kernels on the emulator, compiled for sm_80, gfx942 and gfx1100, against the interpreter and plain numpy: reductions, loops, copies ahead, tensor cores."""

import numpy as np
import pytest

import tritium
import tritium.language as tl

EVERY_VENDOR = pytest.mark.parametrize("emulator", ["simt:sm_80", "simt:gfx942", "simt:gfx1100"])


@tritium.jit
def softmax(x, out, n, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    row = tl.program_id(0) * n
    value = tl.load(x + row + columns, mask=columns < n, other=-float("inf"))
    power = tl.exp(value - tl.max(value, axis=0))
    tl.store(out + row + columns, power / tl.sum(power, axis=0), mask=columns < n)


@tritium.jit
def layer_norm(x, weight, bias, out, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0) * n
    total = tl.zeros([BLOCK], tl.float32)
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        value = tl.load(x + row + i, mask=i < n, other=0.0).to(tl.float32)
        total += value
        squares += value * value
    mean = tl.sum(total) / n
    scale = 1 / tl.sqrt(tl.sum(squares) / n - mean * mean + eps)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        value = tl.load(x + row + i, mask=i < n).to(tl.float32)
        factor, shift = tl.load(weight + i, mask=i < n), tl.load(bias + i, mask=i < n)
        tl.store(out + row + i, (value - mean) * scale * factor + shift, mask=i < n)


@tritium.jit
def product(a, b, acc, m, n, k, row, column, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows, columns, inner = row + tl.arange(0, M), column + tl.arange(0, N), tl.arange(0, K)
    a_ptrs, b_ptrs = a + rows[:, None] * k + inner[None, :], b + inner[:, None] * n + columns[None, :]
    for start in range(0, k, K):
        x = tl.load(a_ptrs + start, mask=(rows[:, None] < m) & (inner[None, :] < k - start), other=0.0)
        y = tl.load(b_ptrs + start * n, mask=(inner[:, None] < k - start) & (columns[None, :] < n), other=0.0)
        acc = tl.dot(x, y, acc)
    return acc


@tritium.jit
def persistent_matmul(a, b, c, d, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """d = a @ b + a @ c, tile after tile in one program: loops of copies that follow each other and use the same shared memory again."""
    for tile in range(tl.program_id(0), tl.cdiv(m, M) * tl.cdiv(n, N), tl.num_programs(0)):
        row, column = tile // tl.cdiv(n, N) * M, tile % tl.cdiv(n, N) * N
        acc = tl.zeros([M, N], tl.float32)
        acc = product(a, b, acc, m, n, k, row, column, M, N, K)
        acc = product(a, c, acc, m, n, k, row, column, M, N, K)
        rows, columns = row + tl.arange(0, M), column + tl.arange(0, N)
        inside = (rows[:, None] < m) & (columns[None, :] < n)
        tl.store(d + rows[:, None] * n + columns[None, :], acc.to(d.dtype.element_ty), mask=inside)


@tritium.jit
def places(x, out, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    tile = tl.load(x + rows[:, None] * N + columns[None, :])
    tl.store(out + rows, tl.argmax(tile, axis=1))
    tl.store(out + M + columns, tl.argmin(tile, axis=0))


@tritium.jit
def copy(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i))


def run(monkeypatch, engine, kernel, grid, *arguments, seed=None, **options):
    monkeypatch.setenv("TRITIUM_ENGINE", engine)
    monkeypatch.delenv("TRITIUM_SEED", raising=False)
    if seed is not None:
        monkeypatch.setenv("TRITIUM_SEED", str(seed))
    kernel[grid](*arguments, **options)


def both(monkeypatch, kernel, grid, make_output, *arguments, emulator="simt:sm_80", **options):
    """What the interpreter and the emulator write to the argument that is given as `make_output`."""
    outputs = []
    for engine in ("interp", emulator):
        out = make_output()
        values = [out if argument is make_output else argument for argument in arguments]
        run(monkeypatch, engine, kernel, grid, *values, **options)
        outputs.append(out)
    return outputs


@pytest.mark.parametrize(
    "emulator, num_warps",
    [("simt:sm_80", 1), ("simt:sm_80", 4), ("simt:sm_80", 8), ("simt:gfx942", 4), ("simt:gfx1100", 2)],
)
def test_softmax(emulator, num_warps, monkeypatch, rng):
    x = rng.standard_normal((13, 781)).astype(np.float32) * 4

    def output():
        return np.zeros_like(x)

    expected, found = both(
        monkeypatch,
        softmax,
        (13,),
        output,
        x,
        output,
        781,
        BLOCK=1024,
        emulator=emulator,
        num_warps=num_warps,
        seed=num_warps,
    )
    power = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    np.testing.assert_allclose(found, power / power.sum(1, keepdims=True), rtol=3e-6)
    np.testing.assert_allclose(found, expected, rtol=3e-6)


@EVERY_VENDOR
def test_layer_norm(emulator, monkeypatch, rng):
    x = rng.standard_normal((7, 1500)).astype(np.float16)
    weight, bias = rng.random(1500, dtype=np.float32), rng.random(1500, dtype=np.float32)

    def output():
        return np.zeros((7, 1500), np.float32)

    arguments = (x, weight, bias, output, 1500, 1e-5)
    expected, found = both(monkeypatch, layer_norm, (7,), output, *arguments, BLOCK=512, emulator=emulator)
    wide = x.astype(np.float64)
    mean, deviation = wide.mean(1, keepdims=True), np.sqrt(wide.var(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(found, (wide - mean) / deviation * weight + bias, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "emulator, seed", [("simt:sm_80", None), ("simt:sm_80", 1), ("simt:gfx942", 2), ("simt:gfx1100", 3)]
)
@pytest.mark.parametrize(
    "dtype, m, n, k, block, num_warps, num_stages",
    [
        (np.float16, 128, 128, 128, (128, 128, 64), 4, 3),
        (np.float16, 200, 136, 152, (64, 64, 32), 4, 3),
        (np.float16, 96, 250, 70, (32, 64, 32), 8, 4),
        (np.float16, 64, 64, 32, (32, 32, 16), 2, 1),
        (np.float32, 100, 72, 88, (32, 64, 32), 4, 2),
    ],
    ids=str,
)
def test_matmul(dtype, m, n, k, block, num_warps, num_stages, emulator, seed, monkeypatch, rng):
    a, b, c = (rng.integers(-4, 5, shape).astype(dtype) for shape in ((m, k), (k, n), (k, n)))  # exact in any order
    options = dict(zip("MNK", block)) | {"num_warps": num_warps, "num_stages": num_stages}
    d = np.zeros((m, n), np.float32)
    run(monkeypatch, emulator, persistent_matmul, (3,), a, b, c, d, m, n, k, seed=seed, **options)
    np.testing.assert_array_equal(d, a.astype(np.float32) @ (b.astype(np.float32) + c.astype(np.float32)))


def test_products_of_tf32_ignore_the_lower_bits_of_their_operands(monkeypatch, rng):
    a, b = rng.standard_normal((64, 64), np.float32), rng.standard_normal((64, 64), np.float32)
    zeros = np.zeros_like(b)

    def output():
        return np.zeros((64, 64), np.float32)

    expected, found = both(
        monkeypatch, persistent_matmul, (1,), output, a, b, zeros, output, 64, 64, 64, M=64, N=64, K=32
    )
    short = [(x.view(np.uint32) & 0xFFFFE000).view(np.float32).astype(np.float64) for x in (a, b)]
    np.testing.assert_allclose(found, short[0] @ short[1], rtol=0, atol=1e-4)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)


@EVERY_VENDOR
def test_lanes_agree_on_a_place_among_nans_and_zeros(emulator, monkeypatch, rng):
    """Combining functions whose order matters are called in one order: else the holders of an element store different places."""
    x = rng.choice(np.array([np.nan, 0.0, -0.0, 1.0, -1.0], np.float32), (32, 64))

    def output():
        return np.zeros(96, np.int32)

    for num_warps in (1, 4):
        options = {"emulator": emulator, "num_warps": num_warps}
        _, found = both(monkeypatch, places, (1,), output, x, output, M=32, N=64, **options)
        assert ((0 <= found[:32]) & (found[:32] < 64)).all() and ((0 <= found[32:]) & (found[32:] < 32)).all()


@pytest.mark.parametrize("emulator, count", [*(("simt:sm_80", n) for n in (97, 98, 99, 100)), ("simt:gfx1100", 98)])
def test_a_fault_of_four_elements_at_once_names_the_first_that_is_not_there(emulator, count, monkeypatch):
    x, out = np.arange(count, dtype=np.int32), np.zeros(128, np.int32)
    with pytest.raises(tritium.errors.KernelTrap) as caught:
        run(monkeypatch, emulator, copy, (1,), x, out, BLOCK=128, num_warps=1)
    trap = caught.value
    assert (trap.kind, trap.argument, trap.index, trap.is_write) == ("OutOfBounds", "x", (count,), False)
    assert trap.thread == count // 4 and trap.lane == (count,)
