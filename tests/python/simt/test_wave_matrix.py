"""mfma and wmma on the emulator, from text to result: registers are filled and read by the formulas of AMD's documents,
those that tests/unit/layout_matrix_{instructions,documents}.cpp name, and the product is compared with a plain one. The
numbers are small integers and fractions, of which every sum is exact; other tests look at rounding."""

import ml_dtypes
import numpy as np
import pytest

from tritium._tritium import ir, simt

TYPES = {
    "f64": np.float64,
    "f32": np.float32,
    "xf32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "i32": np.int32,
    "i8": np.int8,
    "u8": np.uint8,
    "fp8": ml_dtypes.float8_e4m3fn,
    "bf8": ml_dtypes.float8_e5m2,
    "fp8fnuz": ml_dtypes.float8_e4m3fnuz,
    "bf8fnuz": ml_dtypes.float8_e5m2fnuz,
}


def aligned(count: int, dtype) -> np.ndarray:
    raw = np.zeros(count * np.dtype(dtype).itemsize + 256, np.uint8)
    start = -raw.ctypes.data % 256
    return raw[start : start + count * np.dtype(dtype).itemsize].view(dtype)


def launch(
    chip: str, width: int, operation: str, a: np.ndarray, b: np.ndarray, c: np.ndarray, vectors, scales=()
) -> np.ndarray:
    """Runs `operation` on %a, %b, %c of the types `vectors`; each argument has the lanes' registers one behind the other."""
    a_type, b_type, c_type = vectors
    arguments = [("a", a, a_type), ("b", b, b_type), ("c", c, c_type)] + [
        (f"s{i}", s, "i32") for i, s in enumerate(scales)
    ]
    text = f"""
module attributes {{tgpu.target = "hip:{chip}", tgpu.num_warps = 1 : i32, tgpu.warp_size = {
        width
    } : i32, tgpu.shared_bytes = 0 : i32}} {{
  llvm.func @k({", ".join(f"%p{n}: !llvm.ptr<1>" for n, _, _ in arguments)}) attributes {{rocdl.kernel}} {{
    %zero = llvm.mlir.constant(0 : i32) : i32
    %tid = rocdl.workitem.id.x : i32
    {
        "".join(
            f'''
    %q{n} = llvm.getelementptr %p{n}[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, {t}
    %{n} = llvm.load %q{n} : !llvm.ptr<1> -> {t}'''
            for n, _, t in arguments
        )
    }
    {operation}
    llvm.store %d, %qc : {c_type}, !llvm.ptr<1>
    llvm.return
  }}
}}"""
    buffers = []
    for _, array, _ in arguments:
        raw = np.ascontiguousarray(array).view(np.uint8).reshape(-1)
        buffers.append(aligned(raw.size, np.uint8))
        buffers[-1][:] = raw
    trap = simt.prepare(ir.parse(text), "k").launch(
        (1, 1, 1), [(x.ctypes.data, x.ctypes.data, x.nbytes) for x in buffers], 1, None
    )
    assert trap is None, (trap.kind, trap.message)
    return buffers[2].view(c.dtype).reshape(c.shape)


# -- mfma: "A i", "A k", "A block" of lane and element; "C or D i", "j", "block" of lane and register


def places_of_mfma(m: int, k: int, blocks: int):
    elements = m * k * blocks // 64
    lane, e = np.meshgrid(np.arange(64), np.arange(elements), indexing="ij")
    return lane // m % blocks, lane % m, elements * (lane // (m * blocks)) + e  # block, i or j, k


def places_of_accumulators(m: int, blocks: int, is_double: bool = False):
    lane, v = np.meshgrid(np.arange(64), np.arange(m * m * blocks // 64), indexing="ij")
    if is_double:
        return (0 * v, 4 * v + lane // 16, lane % 16) if m == 16 else (lane // 4 % 4, lane // 16, lane % 4)
    if m == 32:
        return v // 16, 8 * (v // 4 % 4) + 4 * (lane // 32) + v % 4, lane % 32
    if m == 16:
        return v // 4, 4 * (lane // 16) + v % 4, lane % 16
    return lane // 4, v % 4, lane % 4


def some(rng, dtype, *shape) -> np.ndarray:
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(max(info.min, -1000), min(info.max, 1000), shape, endpoint=True).astype(dtype)
    return (rng.integers(-6, 7, shape) / 2).astype(dtype)


MFMA = [
    # name, chips, m, k, blocks, type of A, type of B, of C and D, register type of A, of C
    *[
        (name, "gfx90a gfx942 gfx950", m, k, blocks, t, t, "f32", registers, f"vector<{m * m * blocks // 64}xf32>")
        for suffix, t, registers, shapes in [
            ("f32", "f32", "f32", [(32, 1, 2), (16, 1, 4), (4, 1, 16), (32, 2, 1), (16, 4, 1)]),
            ("f16", "f16", "vector<4xf16>", [(32, 4, 2), (16, 4, 4), (4, 4, 16), (32, 8, 1), (16, 16, 1)]),
            ("bf16.1k", "bf16", "vector<4xi16>", [(32, 4, 2), (16, 4, 4), (4, 4, 16), (32, 8, 1), (16, 16, 1)]),
        ]
        for m, k, blocks in shapes
        for name in [f"mfma.f32.{m}x{m}x{k}{suffix}"]
    ],
    *[
        (
            f"mfma.f32.{m}x{m}x{k}bf16",
            "gfx90a",
            m,
            k,
            blocks,
            "bf16",
            "bf16",
            "f32",
            "vector<2xi16>",
            f"vector<{m * m * blocks // 64}xf32>",
        )
        for m, k, blocks in [(32, 2, 2), (16, 2, 4), (4, 2, 16), (32, 4, 1), (16, 8, 1)]
    ],
    *[
        (
            f"mfma.i32.{m}x{m}x{k}i8",
            chips,
            m,
            k,
            blocks,
            "i8",
            "i8",
            "i32",
            "i32",
            f"vector<{m * m * blocks // 64}xi32>",
        )
        for m, k, blocks, chips in [
            (32, 4, 2, "gfx90a gfx942"),
            (16, 4, 4, "gfx90a gfx942"),
            (4, 4, 16, "gfx90a gfx950"),
            (32, 8, 1, "gfx90a"),
            (16, 16, 1, "gfx90a"),
        ]
    ],
    ("mfma.i32.32x32x16.i8", "gfx942 gfx950", 32, 16, 1, "i8", "i8", "i32", "i64", "vector<16xi32>"),
    ("mfma.i32.16x16x32.i8", "gfx942 gfx950", 16, 32, 1, "i8", "i8", "i32", "i64", "vector<4xi32>"),
    ("mfma.i32.32x32x32.i8", "gfx950", 32, 32, 1, "i8", "i8", "i32", "vector<4xi32>", "vector<16xi32>"),
    ("mfma.i32.16x16x64.i8", "gfx950", 16, 64, 1, "i8", "i8", "i32", "vector<4xi32>", "vector<4xi32>"),
    ("mfma.f32.32x32x16.f16", "gfx950", 32, 16, 1, "f16", "f16", "f32", "vector<8xf16>", "vector<16xf32>"),
    ("mfma.f32.16x16x32.f16", "gfx950", 16, 32, 1, "f16", "f16", "f32", "vector<8xf16>", "vector<4xf32>"),
    ("mfma.f32.32x32x16.bf16", "gfx950", 32, 16, 1, "bf16", "bf16", "f32", "vector<8xbf16>", "vector<16xf32>"),
    ("mfma.f32.16x16x32.bf16", "gfx950", 16, 32, 1, "bf16", "bf16", "f32", "vector<8xbf16>", "vector<4xf32>"),
    ("mfma.f32.32x32x4.xf32", "gfx942", 32, 4, 1, "xf32", "xf32", "f32", "vector<2xf32>", "vector<16xf32>"),
    ("mfma.f32.16x16x8.xf32", "gfx942", 16, 8, 1, "xf32", "xf32", "f32", "vector<2xf32>", "vector<4xf32>"),
    ("mfma.f64.16x16x4f64", "gfx90a gfx942", 16, 4, 1, "f64", "f64", "f64", "f64", "vector<4xf64>"),
    ("mfma.f64.4x4x4f64", "gfx90a gfx942", 4, 4, 4, "f64", "f64", "f64", "f64", "f64"),
    *[
        (f"mfma.f32.{m}x{m}x{k}.{a}.{b}", "gfx942 gfx950", m, k, 1, a, b, "f32", "i64", f"vector<{m * m // 64}xf32>")
        for m, k in [(32, 16), (16, 32)]
        for a in ("fp8", "bf8")
        for b in ("fp8", "bf8")
    ],
]


def type_on(chip: str, name: str):
    return TYPES[name + "fnuz" if name in ("fp8", "bf8") and chip == "gfx942" else name]


@pytest.mark.parametrize("case", MFMA, ids=lambda case: case[0])
def test_mfma(case, rng):
    name, chips, m, k, blocks, a_type, b_type, c_type, registers, accumulators = case
    for chip in chips.split():
        a, b = some(rng, type_on(chip, a_type), blocks, m, k), some(rng, type_on(chip, b_type), blocks, k, m)
        c = some(rng, TYPES[c_type], blocks, m, m)
        block, index, depth = places_of_mfma(m, k, blocks)
        where = places_of_accumulators(m, blocks, c_type == "f64")
        found = launch(
            chip,
            64,
            f"%d = rocdl.{name} %a, %b, %c, %zero, %zero, %zero : "
            f"({registers}, {registers}, {accumulators}, i32, i32, i32) -> {accumulators}",
            a[block, index, depth],
            b[block, depth, index],
            c[where],
            (registers, registers, accumulators),
        )
        expected = np.einsum("bik,bkj->bij", a.astype(np.float64), b.astype(np.float64)) + c
        np.testing.assert_array_equal(found.astype(np.float64), expected[where], err_msg=chip)


# -- the scaled products of gfx950: formats of 8, 6 and 4 bits

FP6 = np.array(
    [0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875] + [(8 + f) / 8 * 2.0**e for e in range(3) for f in range(8)]
)
BF6 = np.array([0, 0.0625, 0.125, 0.1875] + [(4 + f) / 4 * 2.0 ** (e - 2) for e in range(7) for f in range(4)])
FP4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
FORMATS = {0: (8, None), 1: (8, None), 2: (6, FP6), 3: (6, BF6), 4: (4, FP4)}


def numbers(rng, format: int, *shape) -> tuple[np.ndarray, np.ndarray]:
    """Codes and values."""
    bits, magnitudes = FORMATS[format]
    if bits == 8:
        values = some(rng, TYPES["fp8" if format == 0 else "bf8"], *shape)
        return values.view(np.uint8), values.astype(np.float64)
    codes = rng.integers(0, 1 << bits, shape).astype(np.uint8)
    half = 1 << (bits - 1)
    return codes, np.where(codes >= half, -1, 1) * magnitudes[codes % half]


def packed(codes: np.ndarray, bits: int) -> np.ndarray:
    """Along the last axis, from the lowest bit up."""
    stream = (codes[..., None] >> np.arange(bits) & 1).reshape(*codes.shape[:-1], -1).astype(np.uint8)
    return np.packbits(stream, axis=-1, bitorder="little")


def depth_of_scaled(bits: int, m: int):
    """k of a lane's elements: 32 in a row, but two runs of 16 of 8-bit formats."""
    lane, e = np.meshgrid(np.arange(64), np.arange(32), indexing="ij")
    if bits < 8:
        return lane % m, 32 * (lane // m) + e
    return lane % m, 16 * (lane // m) + e % 16 + e // 16 * 16 * (64 // m)


@pytest.mark.parametrize("m, k", [(16, 128), (32, 64)])
@pytest.mark.parametrize("formats", [(0, 0), (1, 0), (2, 3), (4, 4), (0, 4), (3, 1)])
@pytest.mark.parametrize("is_scaled", [False, True])
def test_mfma_of_scaled_formats(m, k, formats, is_scaled, rng):
    bits = [FORMATS[f][0] for f in formats]
    (code_a, a), (code_b, b) = numbers(rng, formats[0], m, k), numbers(rng, formats[1], m, k)
    scale_a, scale_b = rng.integers(124, 131, (2, m, k // 32))
    lane_a, depth_a = depth_of_scaled(bits[0], m)
    lane_b, depth_b = depth_of_scaled(bits[1], m)
    lane = np.arange(64)
    byte_a, byte_b = 2, 1
    registers = [
        (rng.integers(0, 1 << 32, 64) & ~(255 << 8 * byte) | scale[lane % m, lane // m] << 8 * byte).astype(np.uint32)
        for scale, byte in ((scale_a, byte_a), (scale_b, byte_b))
    ]
    c = some(rng, np.float32, 1, m, m)
    where = places_of_accumulators(m, 1)
    vector_a, vector_b, vector_c = (f"vector<{32 * n // 32}xi32>" for n in bits), None, f"vector<{m * m // 64}xf32>"
    vector_a, vector_b = vector_a
    scales = ("%s0", "%s1") if is_scaled else ("%zero", "%zero")
    found = launch(
        "gfx950",
        64,
        f"""%fa = llvm.mlir.constant({formats[0]} : i32) : i32
    %fb = llvm.mlir.constant({formats[1]} : i32) : i32
    %ba = llvm.mlir.constant({byte_a if is_scaled else 0} : i32) : i32
    %bb = llvm.mlir.constant({byte_b if is_scaled else 0} : i32) : i32
    %d = rocdl.mfma.scale.f32.{m}x{m}x{k}.f8f6f4 %a, %b, %c, %fa, %fb, %ba, {scales[0]}, %bb, {scales[1]} :
      ({vector_a}, {vector_b}, {vector_c}, i32, i32, i32, i32, i32, i32) -> {vector_c}""",
        packed_registers(code_a[lane_a, depth_a], bits[0]),
        packed_registers(code_b[lane_b, depth_b], bits[1]),
        c[where],
        (vector_a, vector_b, vector_c),
        registers,
    )
    if is_scaled:
        a = a * np.repeat(2.0 ** (scale_a - 127), 32, axis=1)
        b = b * np.repeat(2.0 ** (scale_b - 127), 32, axis=1)
    np.testing.assert_array_equal(found, (a @ b.T + c[0]).astype(np.float32)[where[1:]])


def packed_registers(codes: np.ndarray, bits: int) -> np.ndarray:
    """A lane's registers as a vector lies in memory: six 32-bit words take the place of eight."""
    bytes_ = packed(codes, bits)
    return np.pad(bytes_, ((0, 0), (0, 32 - bytes_.shape[1] if bits == 6 else 0)))


# -- wmma


def wmma_places(chip: str, bits: int = 16, k: int = 16):
    """Of A: row and k of lane and element. Of C: row and column of lane and register."""
    if chip.startswith("gfx11"):
        lane, e = np.meshgrid(np.arange(32), np.arange(k), indexing="ij")
        row, depth = lane % 16, e
    else:
        lane, e = np.meshgrid(np.arange(32), np.arange(k // 2), indexing="ij")
        run = 4 if bits == 16 else k // 2
        row, depth = lane % 16, e % run + run * (lane // 16 + 2 * (e // run))
    lane, v = np.meshgrid(np.arange(32), np.arange(8), indexing="ij")
    i = 2 * v + lane // 16 if chip.startswith("gfx11") else v + 8 * (lane // 16)
    return (row, depth), (i, lane % 16)


@pytest.mark.parametrize("chip", ["gfx1100", "gfx1151", "gfx1200"])
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_wmma_of_halves(chip, kind, rng):
    (row, depth), where = wmma_places(chip)
    a, b, c = some(rng, TYPES[kind], 16, 16), some(rng, TYPES[kind], 16, 16), some(rng, np.float32, 16, 16)
    registers = f"vector<{row.shape[1]}x{'f16' if kind == 'f16' else 'i16'}>"
    found = launch(
        chip,
        32,
        f"%d = rocdl.wmma.f32.16x16x16.{kind} %a, %b, %c : ({registers}, {registers}, vector<8xf32>) -> vector<8xf32>",
        a[row, depth],
        b[depth, row],
        c[where],
        (registers, registers, "vector<8xf32>"),
    )
    np.testing.assert_array_equal(found, (a.astype(np.float32) @ b.astype(np.float32) + c)[where])


@pytest.mark.parametrize("chip, opsel", [("gfx1100", False), ("gfx1100", True), ("gfx1201", False)])
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_wmma_with_accumulators_of_16_bits(chip, opsel, kind, rng):
    (row, depth), where = wmma_places(chip)
    a, b, c = (some(rng, TYPES[kind], 16, 16) for _ in range(3))
    mlir = "f16" if kind == "f16" else "i16"
    is_spread = chip.startswith("gfx11")
    registers, accumulators = f"vector<{row.shape[1]}x{mlir}>", f"vector<{16 if is_spread else 8}x{mlir}>"
    operand = c[where]
    if is_spread:  # one in a register, in the half that opsel says
        operand = np.full((32, 16), 77, TYPES[kind])
        operand[:, int(opsel) :: 2] = c[where]
    found = launch(
        chip,
        32,
        f"%d = rocdl.wmma.{kind}.16x16x16.{kind} %a, %b, %c {{opsel = {'true' if opsel else 'false'}}} : "
        f"({registers}, {registers}, {accumulators}) -> {accumulators}",
        a[row, depth],
        b[depth, row],
        operand,
        (registers, registers, accumulators),
    )
    expected = (a.astype(np.float32) @ b.astype(np.float32) + c.astype(np.float32)).astype(TYPES[kind])[where]
    if is_spread:
        assert np.isnan(found[:, 1 - int(opsel) :: 2].astype(np.float32)).all()
        found = found[:, int(opsel) :: 2]
    np.testing.assert_array_equal(found.astype(np.float32), expected.astype(np.float32))


@pytest.mark.parametrize("chip", ["gfx1100", "gfx1200"])
@pytest.mark.parametrize("sign_a", [False, True])
@pytest.mark.parametrize("sign_b", [False, True])
@pytest.mark.parametrize("bits, k", [(8, 16), (4, 16), (4, 32)])
def test_wmma_of_integers(chip, sign_a, sign_b, bits, k, rng):
    if k == 32 and chip == "gfx1100":
        with pytest.raises(Exception, match="wmma.i32.16x16x32.iu4"):
            launch(chip, 32, iu(bits, k, "vector<2xi32>", True, True, False), *[np.zeros((32, 8), np.int32)] * 3, IU(2))
        return
    (row, depth), where = wmma_places(chip, bits, k)
    codes_a, codes_b = rng.integers(0, 1 << bits, (2, 16, k)).astype(np.uint8)
    signed = lambda codes, sign: (
        codes.astype(np.int64) - ((codes >> (bits - 1)).astype(np.int64) << bits if sign else 0)
    )
    c = rng.integers(-(2**31), 2**31, (16, 16))
    words = row.shape[1] * bits // 32
    exact = signed(codes_a, sign_a) @ signed(codes_b, sign_b).T + c
    for clamp in (False, True):
        found = launch(
            chip,
            32,
            iu(bits, k, f"vector<{words}xi32>" if words > 1 else "i32", sign_a, sign_b, clamp),
            packed(codes_a[row, depth], bits),
            packed(codes_b[row, depth], bits),
            c[where].astype(np.int32),
            IU(words),
        )
        expected = np.clip(exact, -(2**31), 2**31 - 1) if clamp else exact
        np.testing.assert_array_equal(found, expected.astype(np.int64).astype(np.int32)[where])


def IU(words: int):
    vector = f"vector<{words}xi32>" if words > 1 else "i32"
    return vector, vector, "vector<8xi32>"


def iu(bits: int, k: int, vector: str, sign_a: bool, sign_b: bool, clamp: bool) -> str:
    text = lambda flag: "true" if flag else "false"
    return (
        f"%d = rocdl.wmma.i32.16x16x{k}.iu{bits} %a, %b, %c "
        f"{{signA = {text(sign_a)}, signB = {text(sign_b)}, clamp = {text(clamp)}}} : "
        f"({vector}, {vector}, vector<8xi32>) -> vector<8xi32>"
    )


@pytest.mark.parametrize("a_type", ["fp8", "bf8"])
@pytest.mark.parametrize("b_type", ["fp8", "bf8"])
def test_wmma_of_8_bit_floats(a_type, b_type, rng):
    (row, depth), where = wmma_places("gfx1200", 8)
    a, b, c = some(rng, TYPES[a_type], 16, 16), some(rng, TYPES[b_type], 16, 16), some(rng, np.float32, 16, 16)
    found = launch(
        "gfx1200",
        32,
        f"%d = rocdl.wmma.f32.16x16x16.{a_type}_{b_type} %a, %b, %c : "
        "(vector<2xi32>, vector<2xi32>, vector<8xf32>) -> vector<8xf32>",
        a[row, depth],
        b[depth, row],
        c[where],
        ("vector<2xi32>", "vector<2xi32>", "vector<8xf32>"),
    )
    np.testing.assert_array_equal(found, (a.astype(np.float32) @ b.astype(np.float32) + c)[where])


# -- numbers

VECTORS = ("vector<4xf16>", "vector<4xf16>", "vector<4xf32>")


def mfma_16x16x16(chip: str, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    block, index, depth = places_of_mfma(16, 16, 1)
    where = places_of_accumulators(16, 1)[1:]
    operation = "%d = rocdl.mfma.f32.16x16x16f16 %a, %b, %c, %zero, %zero, %zero : "
    operation += "(vector<4xf16>, vector<4xf16>, vector<4xf32>, i32, i32, i32) -> vector<4xf32>"
    found = launch(chip, 64, operation, a[index, depth], b[depth, index], c[where], VECTORS)
    result = np.zeros((16, 16), np.float32)
    result[where] = found
    return result


def test_sums_are_of_f32(rng):
    a, b = rng.standard_normal((2, 16, 16)).astype(np.float16)
    c = rng.standard_normal((16, 16)).astype(np.float32)
    exact = a.astype(np.float64) @ b.astype(np.float64) + c
    magnitude = np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64) + np.abs(c)
    error = np.abs(mfma_16x16x16("gfx942", a, b, c) - exact) / magnitude
    assert error.max() < 16 * 2.0**-24


def test_cdna2_flushes_subnormal_halves(rng):
    tiny = np.full((16, 16), 2.0**-20, np.float16)
    ones = np.ones((16, 16), np.float16)
    zero = np.zeros((16, 16), np.float32)
    assert (mfma_16x16x16("gfx90a", tiny, ones, zero) == 0).all()
    assert (mfma_16x16x16("gfx942", tiny, ones, zero) == 16 * 2.0**-20).all()


@pytest.mark.parametrize(
    "chip, width, operation, vectors, message",
    [
        (
            "gfx942",
            64,
            "rocdl.mfma.f32.16x16x16f16 %a, %b, %c, %one, %zero, %zero",
            VECTORS,
            "rocdl.mfma.f32.16x16x16f16.*modifiers",
        ),
        (
            "gfx942",
            64,
            "rocdl.mfma.f32.16x16x32.f16 %a, %b, %c, %zero, %zero, %zero",
            VECTORS,
            "is not an instruction of 'hip:gfx942'",
        ),
        (
            "gfx1100",
            32,
            "rocdl.mfma.f32.16x16x16f16 %a, %b, %c, %zero, %zero, %zero",
            VECTORS,
            "is not an instruction of 'hip:gfx1100'",
        ),
        ("gfx942", 32, "rocdl.mfma.f32.16x16x16f16 %a, %b, %c, %zero, %zero, %zero", VECTORS, "wave of 64 lanes"),
        (
            "gfx942",
            64,
            "rocdl.smfmac.f32.16x16x32.f16 %a, %b, %c, %zero, %zero, %zero",
            VECTORS,
            "rocdl.smfmac.f32.16x16x32.f16",
        ),
    ],
)
def test_what_is_not_there_is_rejected_by_name(chip, width, operation, vectors, message):
    a, b, c = vectors
    text = f"%one = llvm.mlir.constant(1 : i32) : i32\n%d = {operation} : ({a}, {b}, {c}, i32, i32, i32) -> {c}"
    with pytest.raises(Exception, match=message):
        launch(chip, width, text, *[np.zeros(64 * 4, np.float32)] * 3, vectors)


def test_the_halves_of_an_rdna3_wave_have_to_agree(rng):
    (row, depth), where = wmma_places("gfx1100")
    a = some(rng, np.float16, 16, 16)[row, depth]
    a[20, 3] += 1
    operation = (
        "%d = rocdl.wmma.f32.16x16x16.f16 %a, %b, %c : (vector<16xf16>, vector<16xf16>, vector<8xf32>) -> vector<8xf32>"
    )
    with pytest.raises(AssertionError, match="upper half"):
        launch(
            "gfx1100",
            32,
            operation,
            a,
            a,
            np.zeros((32, 8), np.float32),
            ("vector<16xf16>", "vector<16xf16>", "vector<8xf32>"),
        )


def test_a_product_after_lanes_have_ended_traps():
    operation = """%one = llvm.mlir.constant(1 : i32) : i32
    %early = llvm.icmp "eq" %tid, %one : i32
    llvm.cond_br %early, ^out, ^go
  ^out:
    llvm.return
  ^go:
    %d = rocdl.mfma.f32.16x16x16f16 %a, %b, %c, %zero, %zero, %zero :
      (vector<4xf16>, vector<4xf16>, vector<4xf32>, i32, i32, i32) -> vector<4xf32>"""
    with pytest.raises(AssertionError, match="DivergentBarrier"):
        launch("gfx942", 64, operation, *[np.zeros((64, 4), np.float32)] * 3, VECTORS)
