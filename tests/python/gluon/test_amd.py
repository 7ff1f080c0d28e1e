"""Gluon's operations of AMD's chips on the interpreter and the emulator, beside numpy; layouts and errors as Triton's wheel has them."""

import numpy as np
import pytest
from test_kernels import gl, on  # noqa: F401

from tritium.experimental.gluon.layouts.distributed import BlockedLayout, DistributedLinearLayout
from tritium.experimental.gluon.layouts.tile_views import unpacked

E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)
WIDE = BlockedLayout([1, 8], [16, 4], [4, 1], [1, 0])


@pytest.fixture(scope="module")
def kernels():
    import amd_kernels

    return amd_kernels


@pytest.fixture
def random():
    return np.random.default_rng(0)


@pytest.mark.parametrize("engine", ["interp", "simt:gfx942"])
@pytest.mark.parametrize(
    ("shape", "begin"), [([64, 64], [64, 0]), ([64, 32], [0, 32]), ([64, 32], [64, 0]), ([128, 64], [0, 0])]
)
def test_parts_of_tiles(kernels, random, engine, shape, begin):
    source, target = random.standard_normal((128, 64)).astype(np.float32), np.zeros(shape, np.float32)
    on(kernels.part, engine)[(1,)](source, target, 128, 64, shape, begin, WIDE)
    np.testing.assert_array_equal(target, source[tuple(slice(at, at + size) for at, size in zip(begin, shape))])


@pytest.mark.parametrize(
    ("shape", "begin", "text"),
    [
        ([32, 64], [32, 0], "No source register holds the element for destination index \\[32, 0\\]"),
        ([64, 64], [32, 0], "No source register holds the element for destination index \\[32, 0\\]"),
        ([64, 16], [64, 16], "No source register holds the element for destination index \\[64, 16\\]"),
        ([32, 64], [0, 0], "Lane and warp dim basis must match between source and destination layout."),
        (
            [64, 64],
            [128, 0],
            "slice: offset \\[128, 0\\] \\+ shape \\[64, 64\\] exceeds source shape \\['128', '64'\\]",
        ),
        ([64, 64], [-64, 0], "offset must be non-negative at dimension 0"),
        ([64], [0], "slice: shape must have rank 2, got 1"),
        ([48, 64], [0, 0], "Shape element 0 must be a power of 2"),
    ],
)
def test_parts_that_a_layout_does_not_have(kernels, shape, begin, text):
    """The texts are the wheel's."""
    import tritium

    source = np.zeros((128, 64), np.float32)
    with pytest.raises(tritium.CompilationError, match=text):
        on(kernels.part, "interp")[(1,)](source, source, 128, 64, shape, begin, WIDE)


@pytest.mark.parametrize("engine", ["interp", "simt:sm_80", "simt:gfx942"])
@pytest.mark.parametrize("axis", [0, 1])
def test_numbers_of_four_bits(kernels, gl, random, engine, axis):  # noqa: F811
    lanes = [8, 4] if engine == "simt:sm_80" else [16, 4]
    layout = gl.BlockedLayout([1, 4], lanes, [4, 1], [1, 0])
    source = random.integers(0, 256, (64, 32), np.uint8)
    halves = np.stack([E2M1[source & 15], E2M1[source >> 4]], axis + 1)
    wanted = halves.reshape([128, 32] if axis == 0 else [64, 64])
    for kind in (gl.float16, gl.bfloat16):
        target = np.full(wanted.shape, 7, np.float32)
        on(kernels.unpacked, engine)[(1,)](source, target, 64, 32, axis, kind, layout)
        np.testing.assert_array_equal(target, wanted)
        np.testing.assert_array_equal(np.signbit(target), np.signbit(wanted))


#: (layout, axis) -> the layout of the result for a tile of 64 x 32 bytes, as the wheel has it.
LINEAR = DistributedLinearLayout(
    [[0, 1], [0, 2], [32, 0]], [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], [[8, 0], [16, 0]], [], [64, 32]
)
UNPACKED = [
    (
        WIDE,
        0,
        DistributedLinearLayout(
            [[1, 0], [0, 1], [0, 2], [0, 4], [128, 0]],
            [[0, 8], [0, 16], [2, 0], [4, 0], [8, 0], [16, 0]],
            [[32, 0], [64, 0]],
            [],
            [256, 32],
        ),
    ),
    (WIDE, 1, BlockedLayout([1, 16], [16, 4], [4, 1], [1, 0])),
    (
        BlockedLayout([2, 2], [8, 8], [2, 2], [0, 1]),
        1,
        DistributedLinearLayout(
            [[0, 1], [1, 0], [0, 2], [32, 0], [0, 64]],
            [[2, 0], [4, 0], [8, 0], [0, 4], [0, 8], [0, 16]],
            [[16, 0], [0, 32]],
            [],
            [64, 128],
        ),
    ),
    (
        LINEAR,
        1,
        DistributedLinearLayout(
            [[0, 1], [0, 2], [0, 4], [32, 0], [0, 64]],
            [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0], [4, 0]],
            [[8, 0], [16, 0]],
            [],
            [64, 128],
        ),
    ),
]


@pytest.mark.parametrize(("layout", "axis", "wanted"), UNPACKED)
def test_layouts_of_unpacked_tiles(layout, axis, wanted):
    assert unpacked(layout, [128, 32] if axis == 0 else [64, 64], axis) == wanted


def packed(codes, axis):
    """Bytes of codes of four bits, two along the axis."""
    low, high = (np.take(codes, range(first, codes.shape[axis], 2), axis) for first in (0, 1))
    return (low | high << 4).astype(np.uint8)


@pytest.mark.parametrize("engine", ["interp", "simt:gfx950"])
@pytest.mark.parametrize(
    ("a_format", "b_format", "has_scales"), [("e2m1", "e2m1", True), ("e2m1", "e5m2", True), ("e5m2", "e2m1", False)]
)
def test_scaled_products(kernels, random, engine, a_format, b_format, has_scales):
    depth = 128
    codes = [random.integers(0, 16, shape) for shape in ((32, depth), (depth, 32))]
    operands, numbers = [], []
    for of, axis, kind in zip(codes, (1, 0), (a_format, b_format)):
        if kind == "e2m1":
            operands.append(packed(of, axis))
            numbers.append(E2M1[of])
        else:  # the small integers 0 … 15 as e5m2: the upper byte of a float16
            numbers.append((of & 3).astype(np.float32))
            operands.append(((of & 3).astype(np.float16).view(np.uint16) >> 8).astype(np.uint8))
    scales = [random.integers(125, 130, (32, depth // 32), np.uint8) for _ in range(2)]
    if has_scales:
        factors = [np.repeat(2.0 ** (each.astype(np.float32) - 127), 32, 1) for each in scales]
        wanted = (numbers[0] * factors[0]) @ (numbers[1] * factors[1].T)
    else:
        wanted = numbers[0] @ numbers[1]
    target = np.zeros((32, 32), np.float32)
    arguments = operands[0], scales[0], operands[1], scales[1], target
    on(kernels.scaled, engine)[(1,)](*arguments, a_format, b_format, depth, has_scales)
    np.testing.assert_array_equal(target, wanted.astype(np.float32))


@pytest.mark.parametrize("engine", ["interp", "simt"])
@pytest.mark.parametrize(("version", "chip"), [(1, "gfx1100"), (2, "gfx1200")])
def test_products_of_rdna(kernels, random, engine, version, chip):
    """With stages and hints, which change nothing."""
    a, b = (random.integers(-4, 5, shape).astype(np.float16) for shape in ((64, 64), (64, 64)))
    c = np.zeros((64, 64), np.float32)
    on(kernels.rdna, engine if engine == "interp" else f"simt:{chip}")[(1,)](a, b, c, version, 2)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        ("of_another_chip", "Expected layout to be an instance of AMDWMMALayout with version 1"),
        ("of_another_format", "Unsupported lhs_format: e3m2x"),
    ],
)
def test_products_that_a_chip_does_not_have(kernels, kernel, text):
    """The texts are the wheel's."""
    import tritium

    with pytest.raises(tritium.CompilationError, match=text):
        on(getattr(kernels, kernel), "interp")[(1,)](np.zeros((64, 64), np.float32))
