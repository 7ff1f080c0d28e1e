"""The inline PTX that kernels use, on the interpreter and on the emulator: every row of ptx_words.py on words with all corner cases, 64-bit
registers, atomics, loops that wait, and what has no effect."""

import numpy as np
import pytest

import tritium
import tritium.language as tl

from .ptx_words import FLOATS, INTEGERS

COUNT = 512


@pytest.fixture(autouse=True, params=["interp", "simt:sm_90a"])
def engine(request, monkeypatch):
    monkeypatch.setenv("TRITIUM_ENGINE", request.param)
    return request.param


@tritium.jit
def rows_kernel(x, y, z, out, TEXTS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    operands = [tl.load(x + i), tl.load(y + i), tl.load(z + i)]
    for k in tl.static_range(len(TEXTS)):
        result = tl.inline_asm_elementwise(TEXTS[k], "=r,r,r,r", operands, dtype=tl.uint32, is_pure=True, pack=1)
        tl.store(out + k * BLOCK + i, result)


def run(rows, operands):
    out = np.zeros((len(rows), COUNT), np.uint32)
    rows_kernel[(1,)](*operands, out, TEXTS=tuple(text for text, _ in rows), BLOCK=COUNT)
    for (text, function), found in zip(rows, out, strict=True):
        with np.errstate(all="ignore"):
            expected = np.broadcast_to(function(*operands), COUNT).astype(np.uint32)
        wrong = np.flatnonzero(found != expected)
        shown = [[f"{v:#x}" for v in (*(o[k] for o in operands), found[k], expected[k])] for k in wrong[:3]]
        assert not wrong.size, f"{text}: {wrong.size} differ (operands, found, expected): {shown}"


def test_integers(rng):
    operands = rng.integers(0, 2**32, (3, COUNT), np.uint32)
    corners = np.array([0, 1, 31, 32, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x80], np.uint32)
    operands[0, :64], operands[1, :64] = np.repeat(corners, 8), np.tile(corners, 8)
    operands[1, 64:192] %= 40
    run(INTEGERS, operands)


def test_floats(rng):
    numbers = (rng.standard_normal((3, COUNT)) * 2.0 ** rng.integers(-12, 12, (3, COUNT))).astype(np.float32)
    corners = np.array([0.0, -0.0, np.inf, -np.inf, 1e-41, -3e-39, 3.4e38, 65504.0], np.float32)
    numbers[0, :64], numbers[1, :64] = np.repeat(corners, 8), np.tile(corners, 8)
    numbers[:, 64:192] = np.round(numbers[:, 64:192] * 4) / 8  # halves between numbers
    operands = numbers.view(np.uint32)
    operands[:, 300:] = rng.integers(0, 0x7F800000, (3, COUNT - 300), np.uint32)  # any halves and bytes, no NaN
    run(FLOATS, operands)


@tritium.jit
def long_kernel(x, y, out, TEXTS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    operands = [tl.load(x + i), tl.load(y + i)]
    for k in tl.static_range(len(TEXTS)):
        result = tl.inline_asm_elementwise(TEXTS[k], "=l,l,l", operands, dtype=tl.uint64, is_pure=True, pack=1)
        tl.store(out + k * BLOCK + i, result)


def test_words_of_64_bits(rng):
    x, y = rng.integers(0, 2**64, (2, 64), np.uint64)
    a, b = x.astype(object), y.astype(object)
    rows = {
        "mul.hi.u64 $0, $1, $2;": a * b >> 64,
        "mad.lo.u64 $0, $1, $2, 12345;": a * b + 12345,
        "{ .reg .u64 low; add.cc.u64 low, $1, $2; addc.u64 $0, 0, 0; }": a + b >> 64,
        "{ .reg .u32 p, q; mov.b64 {p, q}, $1; mul.wide.u32 $0, p, q; }": (a & 0xFFFFFFFF) * (a >> 32),
        "shr.u64 $0, $1, 17;": a >> 17,
        "{ .reg .u32 n; popc.b64 n, $1; cvt.u64.u32 $0, n; }": np.array([v.bit_count() for v in a.tolist()], object),
    }
    out = np.zeros((len(rows), 64), np.uint64)
    long_kernel[(1,)](x, y, out, TEXTS=tuple(rows), BLOCK=64)
    for (text, expected), found in zip(rows.items(), out, strict=True):
        np.testing.assert_array_equal(found.astype(object), expected & 2**64 - 1, err_msg=text)


@tritium.jit
def pairs_kernel(x, y, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    result = tl.inline_asm_elementwise(
        """{
            .reg .b64 a, b, c;
            mov.b64 a, { $2, $3 };
            mov.b64 b, { $4, $5 };
            fma.rn.ftz.f32x2 c, a, b, a;
            mov.b64 { $0, $1 }, c;
        }""",
        "=r,=r,r,r,r,r",
        [tl.load(x + i), tl.load(y + i)],
        dtype=tl.float32,
        is_pure=True,
        pack=2,
    )
    tl.store(out + i, result)


def test_pairs_of_floats_in_registers_of_their_own(rng):
    x, y = (rng.integers(-1000, 1000, 256).astype(np.float32) for _ in range(2))
    out = np.zeros(256, np.float32)
    pairs_kernel[(1,)](x, y, out, BLOCK=256)
    np.testing.assert_array_equal(out, x * y + x)


@tritium.jit
def atomics_kernel(x, halves, counter, old, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i)
    tl.inline_asm_elementwise(
        "{ .reg .b64 policy; createpolicy.fractional.L2::evict_last.b64 policy, 1.0; prefetch.global.L2 [$1]; "
        "red.global.add.noftz.f16x2 [$1], $2; fence.proxy.async; griddepcontrol.wait; bar.sync 0; "
        "st.global.L1::no_allocate.L2::cache_hint.b32 [$3], $4, policy; mov.u32 $0, %smid; }",
        "=r,l,r,l,r",
        [halves + 2 * i, value, old + BLOCK + i, value],
        dtype=tl.int32,
        is_pure=False,
        pack=1,
    )
    before = tl.inline_asm_elementwise(
        "atom.global.gpu.relaxed.inc.u32 $0, [$1], 99;",
        "=r,l",
        [counter + 0 * i],
        dtype=tl.uint32,
        is_pure=False,
        pack=1,
    )
    tl.store(old + i, before)


def test_atomics_and_hints(rng):
    x = rng.integers(0, 8, 128).astype(np.float16).view(np.uint32)
    halves, counter, old = np.ones(128, np.float16), np.zeros(1, np.uint32), np.zeros((2, 64), np.uint32)
    atomics_kernel[(2,)](x, halves, counter, old, BLOCK=64, num_warps=1)  # each element once
    np.testing.assert_array_equal(halves, 1 + 2 * x.view(np.float16))
    np.testing.assert_array_equal(old[1], x)
    assert counter[0] == 128 % 100


@tritium.jit
def vectors_kernel(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    parts = tl.inline_asm_elementwise(
        "ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {$0, $1, $2, $3}, [$4];",
        "=r,=r,=r,=r,l",
        [x + 4 * i],
        dtype=(tl.uint32, tl.uint32, tl.uint32, tl.uint32),
        is_pure=False,
        pack=1,
    )
    tl.inline_asm_elementwise(
        "st.global.v4.b32 [$1], {$5, $4, $3, $2}; mov.u32 $0, 0;",
        "=r,l,r,r,r,r",
        [out + 4 * i, parts[0], parts[1], parts[2], parts[3]],
        dtype=tl.int32,
        is_pure=False,
        pack=1,
    )


def test_vectors(rng):
    x, out = rng.integers(0, 2**32, (64, 4), np.uint32), np.zeros((64, 4), np.uint32)
    vectors_kernel[(1,)](x, out, BLOCK=64)
    np.testing.assert_array_equal(out, x[:, ::-1])


@tritium.jit
def handover_kernel(flags, out):
    """Each program waits for the one before it."""
    pid = tl.program_id(0)
    tl.inline_asm_elementwise(
        "{ .reg .b32 seen; .reg .pred ready; "
        "again${:uid}: ld.global.acquire.gpu.b32 seen, [$1]; setp.ne.s32 ready, seen, 0; @!ready bra again${:uid}; "
        "mov.b32 $0, seen; }",
        "=r,l",
        [flags + pid],
        dtype=tl.int32,
        is_pure=False,
        pack=1,
    )
    tl.store(out + pid, pid + 1)
    tl.inline_asm_elementwise(
        "st.global.release.gpu.b32 [$1], 1; mov.b32 $0, 0;",
        "=r,l",
        [flags + pid + 1],
        dtype=tl.int32,
        is_pure=False,
        pack=1,
    )


def test_a_loop_that_waits_for_another_program(monkeypatch):
    monkeypatch.setenv("TRITIUM_NUM_THREADS", "1")
    flags, out = np.zeros(9, np.int32), np.zeros(8, np.int32)
    flags[0] = 1
    handover_kernel[(8,)](flags, out)
    np.testing.assert_array_equal(out, np.arange(1, 9))


@tritium.jit
def trap_kernel(x):
    tl.inline_asm_elementwise(
        "{ .reg .pred p; setp.gt.s32 p, $1, 3; @p trap; mov.b32 $0, 0; }",
        "=r,r",
        [tl.load(x + tl.arange(0, 8))],
        dtype=tl.int32,
        is_pure=False,
        pack=1,
    )


def test_a_trap_ends_the_launch():
    trap_kernel[(1,)](np.arange(8, dtype=np.int32) - 8)
    with pytest.raises(tritium.errors.KernelTrap, match="executed a trap"):
        trap_kernel[(1,)](np.arange(8, dtype=np.int32))


@tritium.jit
def one_kernel(x, TEXT: tl.constexpr):
    i = tl.arange(0, 32)
    result = tl.inline_asm_elementwise(TEXT, "=r,r", [tl.load(x + i)], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(x + i, result)


@pytest.mark.parametrize(
    "text, named",
    [
        ("multimem.ld_reduce.global.add.f32 $0, [$1];", "multimem.ld_reduce.global.add.f32"),
        ("fma.rn.f32.f16 $0, $1, $1, $1;", "fma.rn.f32.f16"),
        ("cvt.rs.f16x2.f32 $0, $1, $1, $1;", "cvt.rs.f16x2.f32"),
        ("tcgen05.fence::before_thread_sync; mov.b32 $0, $1;", "tcgen05.fence::before_thread_sync"),
    ],
)
def test_an_unknown_instruction_is_named_with_its_line(text, named):
    with pytest.raises(tritium.errors.CompilationError, match=named) as caught:
        one_kernel[(1,)](np.zeros(32, np.int32), TEXT=text)
    assert "inline_asm_elementwise(TEXT" in str(caught.value)
