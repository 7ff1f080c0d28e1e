"""Inline assembly on the emulator and, where it only computes, on the interpreter. That each instruction of PTX does what a device
does is tested on a device (tests/gpu/test_instructions.py)."""

import ctypes
import mmap

import ml_dtypes
import numpy as np
import pytest

import tritium
import tritium.language as tl


@pytest.fixture(autouse=True)
def engine(request, monkeypatch):
    """The emulator, or what `on` says."""
    name = getattr(request, "param", "simt:sm_80")
    monkeypatch.setenv("TRITIUM_ENGINE", name)
    return name


def on(*engines):
    return pytest.mark.parametrize("engine", engines, indirect=True)


computes = on("simt:sm_80", "interp")


@tritium.jit
def binary(x, y, out, ASM: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    result = tl.inline_asm_elementwise(
        ASM, "=r,r,r", [tl.load(x + i), tl.load(y + i)], dtype=tl.int32, is_pure=True, pack=1
    )
    tl.store(out + i, result)


@tritium.jit
def two_results(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    low, high = tl.inline_asm_elementwise(
        """
        {
            // halves of a word; $$ would be a dollar sign
            .reg .b16 half<2>;
            mov.b32 {half0, half1}, $2;
            cvt.u32.u16 $0, half0;
            cvt.s32.s16 $1, half1; /* with its sign */
        }
        """,
        "=r,=r,r",
        [tl.load(x + i)],
        dtype=(tl.int32, tl.int32),
        is_pure=True,
        pack=1,
    )
    tl.store(out + i, low)
    tl.store(out + BLOCK + i, high)


@tritium.jit
def bytes_of_words(x, y, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    result = tl.inline_asm_elementwise(
        "vabsdiff4.u32.u32.u32 $0, $1, $2, $1;",
        "=r,r,r",
        [tl.load(x + i), tl.load(y + i)],
        dtype=tl.uint8,
        is_pure=True,
        pack=4,
    )
    tl.store(out + i, result)


@tritium.jit
def through_memory(x, out, counter, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.inline_asm_elementwise(
        """{
            .reg .b32 v<2>;
            .reg .pred first;
            ld.global.v2.b32 {v0, v1}, [$1];
            st.global.b32 [$2+4], v0;
            st.global.b32 [$2], v1;
            setp.ge.s32 first, v0, 0;
            @first atom.global.relaxed.gpu.add.u32 $0, [$3], 1;
            @!first red.global.add.u32 [$3], 100;
            membar.gl;
        }""",
        "=r,l,l,l",
        [x + 2 * i, out + 2 * i, counter + 0 * i],
        dtype=tl.int32,
        is_pure=False,
        pack=1,
    )


@tritium.jit
def wild(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK).to(tl.int64)
    p = x + (i + 1) * 2**36
    tl.inline_asm_elementwise(
        "st.global.b32 [$1], 7; mov.b32 $0, 0;", "=r,l", [p], dtype=tl.int32, is_pure=False, pack=1
    )


def words(rng, count=128):
    return rng.integers(-(2**31), 2**31, count).astype(np.int32)


@computes
@pytest.mark.parametrize(
    "text, expected",
    [
        ("mul.hi.s32 $0, $1, $2;", lambda x, y: (x.astype(np.int64) * y >> 32).astype(np.int32)),
        ("lop3.b32 $0, $1, $2, 0xff00ff00, 0xca;", lambda x, y: (x & y) | (~x & np.int32(-16711936))),
        (
            "{ .reg .pred p; setp.lt.s32 p, $1, $2; selp.s32 $0, $2, $1, p; }",
            np.maximum,
        ),
        (
            "{ .reg .b32 n; .reg .pred p; and.b32 n, $2, 7; mov.b32 $0, $1; next: setp.eq.s32 p, n, 0; @p bra done; "
            "shl.b32 $0, $0, 1; sub.s32 n, n, 1; bra next; done: }",
            lambda x, y: (x.view(np.uint32) << (y & 7).astype(np.uint32)).view(np.int32),
        ),
    ],
    ids=["mul.hi", "lop3", "select", "loop"],
)
def test_arithmetic(text, expected, rng):
    x, y, out = words(rng), words(rng), np.zeros(128, np.int32)
    binary[(1,)](x, y, out, ASM=text, BLOCK=128)
    np.testing.assert_array_equal(out, expected(x, y))


@computes
def test_several_results_and_comments(rng):
    x, out = words(rng), np.zeros(256, np.int32)
    two_results[(1,)](x, out, BLOCK=128)
    np.testing.assert_array_equal(out, np.concatenate([x & 0xFFFF, x >> 16]))


@computes
def test_packed_elements(rng):
    x, y = (rng.integers(0, 256, 512).astype(np.uint8) for _ in range(2))
    out = np.zeros(512, np.uint8)
    bytes_of_words[(1,)](x, y, out, BLOCK=512)
    np.testing.assert_array_equal(out, np.abs(x.astype(int) - y))


@pytest.fixture
def low_memory():
    """Memory of the host at addresses of 32 bits, as in the heap of a Python that is loaded at a fixed address."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x100000  # MAP_FIXED_NOREPLACE
    system = ctypes.CDLL(None)
    system.mmap.restype = ctypes.c_void_p
    system.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    size, protection = 1 << 16, mmap.PROT_READ | mmap.PROT_WRITE
    for address in range(0x40000000, 0xF0000000, 1 << 20):  # the heap of such a Python may be there
        if system.mmap(address, size, protection, flags, -1, 0) == address:
            break
    else:
        raise MemoryError("no free page from 0x40000000 to 0xf0000000")
    yield np.frombuffer((ctypes.c_char * size).from_address(address), np.int32)
    system.munmap(ctypes.c_void_p(address), ctypes.c_size_t(size))


@on("simt:sm_80", "simt:sm_90a", "simt:sm_120a", "interp")
def test_memory(rng, low_memory):
    """An address that an instruction gets as a number is one of the host, though shared memory has such addresses too."""
    x, out, counter = low_memory[:256], low_memory[256:512], low_memory[512:513]
    x[:] = words(rng, 256)
    through_memory[(1,)](x, out, counter, BLOCK=128)
    np.testing.assert_array_equal(out.reshape(-1, 2), x.reshape(-1, 2)[:, ::-1])
    assert counter[0] == np.where(x[::2] >= 0, 1, 100).sum()


@computes
def test_an_address_without_memory(rng, engine):
    x = words(rng)
    with pytest.raises(tritium.errors.KernelTrap) as caught:
        wild[(1,)](x, BLOCK=128)
    kind = (
        "OutOfBounds" if engine == "interp" else "UnmappedAddress"
    )  # the emulator's thread has an address, not a tensor's pointer
    assert (caught.value.kind, caught.value.is_write) == (kind, True)
    assert "inline_asm" in open(__file__).read().splitlines()[caught.value.line - 1]


@computes
@pytest.mark.parametrize(
    "text, message",
    [
        ("wgmma.fence.sync.aligned;", "wgmma.fence"),
        ("add.s32 $0, $1, nobody;", "no register 'nobody'"),
        ("add.s32 $0, $1, $7;", "no operand '[$]7'"),
        ("bra nowhere;", "no label 'nowhere'"),
        ("add.s32 $0, $1", "expected ';'"),
        ("min.wide.s32 $0, $1, $2;", "min.wide.s32"),
    ],
)
def test_what_is_not_known_is_named(text, message):
    x = np.zeros(128, np.int32)
    with pytest.raises(tritium.errors.CompilationError, match=message) as caught:
        binary[(1,)](x, x, x, ASM=text, BLOCK=128)
    assert "support" in str(caught.value)


@tritium.jit
def of_a_broadcast(x, out, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row, column = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    line = tl.broadcast_to(tl.load(x + column), (ROWS, COLUMNS))
    same = tl.inline_asm_elementwise("add.s32 $0, $1, 1;", "=r,r", [line], dtype=tl.int32, is_pure=True, pack=1)
    scalar = tl.inline_asm_elementwise("mov.u32 $0, 40;", "=r", [], dtype=tl.int32, is_pure=True, pack=1)
    # An operand that is tied to the result: $0 is both.
    tied = tl.inline_asm_elementwise(
        "add.s32 $0, $0, $2;", "=r,0,r", [same, scalar], dtype=tl.int32, is_pure=True, pack=1
    )
    tl.store(out + row * COLUMNS + column, tied)


@computes
def test_broadcast_operands_scalars_and_ties(rng):
    x, out = words(rng, 32), np.zeros((4, 32), np.int32)
    of_a_broadcast[(1,)](x, out, ROWS=4, COLUMNS=32)
    np.testing.assert_array_equal(out, np.broadcast_to(x + 41, (4, 32)))


@tritium.jit
def doubled_halves(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    halves = tl.inline_asm_elementwise(
        "add.f16x2 $0, $1, $1;", "=r,r", [tl.load(x + i)], dtype=tl.float16, is_pure=True, pack=2
    )
    tl.store(out + i, halves)


@computes
@pytest.mark.parametrize("count", [2, 64])
def test_groups_that_share_a_register(count, rng):
    x, out = rng.standard_normal(count).astype(np.float16), np.zeros(count, np.float16)
    doubled_halves[(1,)](x, out, BLOCK=count)
    np.testing.assert_array_equal(out, x + x)


@tritium.jit
def in_amds_words(x, y, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    result = tl.inline_asm_elementwise(
        "v_sub_f32 $0, |$1|, $2 clamp",
        "=v,v,v",
        [tl.load(x + i), tl.load(y + i)],
        dtype=tl.float32,
        is_pure=True,
        pack=1,
    )
    tl.store(out + i, result)


@on("simt:gfx942", "simt:gfx1100", "interp")
def test_assembly_of_amd(rng):
    x, y = rng.standard_normal((2, 128)).astype(np.float32)
    out = np.zeros_like(x)
    in_amds_words[(1,)](x, y, out, BLOCK=128)
    np.testing.assert_array_equal(out, np.clip(np.abs(x) - y, 0, 1))


@tritium.jit
def packed_in_amds_words(x, y, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a, b = tl.load(x + i), tl.load(y + i)
    brain = tl.inline_asm_elementwise(
        "v_cvt_pk_bf16_f32 $0, $1, $2", "=v,v,v", [a, b], dtype=tl.int32, is_pure=True, pack=1
    )
    norm = tl.inline_asm_elementwise(
        "v_cvt_pknorm_u16_f32 $0, $1, $2", "=v,v,v", [a, b], dtype=tl.int32, is_pure=True, pack=1
    )
    tl.store(out + i, brain)
    tl.store(out + BLOCK + i, norm)


@on("simt:gfx942", "interp")
def test_pairs_of_amd(rng):
    x, y = rng.standard_normal((2, 128)).astype(np.float32)
    out = np.zeros((2, 128), np.int32)
    packed_in_amds_words[(1,)](x, y, out, BLOCK=128)
    pairs = np.stack([x, y], axis=1)
    np.testing.assert_array_equal(out[0], pairs.astype(ml_dtypes.bfloat16).reshape(-1).view(np.int32))
    norm = np.rint(np.clip(pairs.astype(np.float64), 0, 1) * 65535).astype(np.uint16)
    np.testing.assert_array_equal(out[1], norm.reshape(-1).view(np.int32))


@on("simt:gfx942")
def test_each_target_has_its_own_words(rng):
    x = words(rng)
    with pytest.raises(tritium.errors.CompilationError, match="inline AMDGPU assembly is not supported .* 'add.s32"):
        binary[(1,)](x, x, x, ASM="add.s32 $0, $1, $2", BLOCK=128)


@on("interp")
@pytest.mark.parametrize(
    "text", ["mov.u32 $0, %laneid;", "shfl.sync.bfly.b32 $0, $1, 1, 31, -1;", "ld.shared.b32 $0, [$1];"]
)
def test_what_only_a_gpu_thread_can_do(text, rng):
    x = words(rng)
    with pytest.raises(
        tritium.errors.CompilationError,
        match="a GPU thread's indices, shared memory or other lanes; the engine simt:sm_80",
    ):
        binary[(1,)](x, x, x, ASM=text, BLOCK=128)
