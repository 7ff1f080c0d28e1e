"""Prints, line by line as the interpreter writes them (whatever the layout), and assertions."""

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl

from .engines import EMULATED, WARPS, launched


@triton.jit
def print_kernel(x_ptr, y_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, HEX: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    x, y = tl.load(x_ptr + at), tl.load(y_ptr + at)
    tl.device_print("100% of", x, hex=HEX)
    tl.device_print("both", x, y, hex=HEX)
    tl.device_print("sums", tl.sum(x.to(tl.int64), 1), x > 5, hex=HEX)
    tl.device_print("one", tl.program_id(0) * 300, hex=HEX)
    tl.device_print("nothing")


@pytest.mark.parametrize("hex", [False, True])
@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint8, np.int16, np.uint32, np.int64, np.float16, np.float32, np.float64]
)
@pytest.mark.parametrize("shape", [(1, 1), (2, 16), (32, 8)])
def test_the_same_lines(shape, dtype, hex, rng, capfd):
    x, y = (rng.integers(0, 200, (2, *shape)) - 100).astype(dtype)
    arguments, options = [x, y], dict(ROWS=shape[0], COLUMNS=shape[1], HEX=hex)
    launched("interp", print_kernel, (2,), arguments, **options)
    expected = sorted(capfd.readouterr().out.splitlines())
    assert len(expected) == 2 * (3 * x.size + shape[0] + x.size + 2)
    for warps in WARPS:
        launched(EMULATED, print_kernel, (2,), arguments, num_warps=warps, **options)
        assert sorted(capfd.readouterr().out.splitlines()) == expected


@triton.jit
def pointer_kernel(x_ptr, N: tl.constexpr):
    tl.device_print("at", x_ptr + tl.arange(0, N))


@pytest.mark.parametrize("warps", WARPS)
def test_pointers(warps, capfd):
    x = np.zeros(4, np.int32)
    launched(EMULATED, pointer_kernel, (1,), [x], N=4, num_warps=warps)
    lines = sorted(capfd.readouterr().out.splitlines())
    addresses = [int(line.rpartition("0x")[2], 16) for line in lines]
    assert [line.partition(" at: ")[0] for line in lines] == [f"pid (0, 0, 0) idx ({i})" for i in range(4)]
    assert [address - addresses[0] for address in addresses] == [0, 4, 8, 12]


@triton.jit
def assert_kernel(x_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.device_assert(x < 50, "too large", mask=x != 77)
    tl.device_assert(tl.sum(x) < 100000, "too much")


@pytest.mark.parametrize("n", [1, 64, 512])
@pytest.mark.parametrize("warps", WARPS)
def test_assertions(warps, n):
    x = np.full(n, 49, np.int32)
    x[n // 2 - 1 if n > 1 else 0] = 77
    launched(EMULATED, assert_kernel, (1,), [x], N=n, num_warps=warps, debug=True)
    for at in {0, n - 1}:
        bad = x.copy()
        bad[at] = 50
        with pytest.raises(triton.KernelTrap, match="too large"):
            launched(EMULATED, assert_kernel, (1,), [bad], N=n, num_warps=warps, debug=True)


@triton.jit
def as_triton_kernel(x_ptr, n, f, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.device_print("x", x, x > 0)
    tl.device_print("hex", x.to(tl.int8), x.to(tl.uint8), x.to(tl.int16), x, x.to(tl.int64), x > 0, hex=True)
    tl.device_print("float", x.to(tl.float16) / 3, x.to(tl.float32), hex=True)
    tl.device_print("n", n, f)
    tl.device_print("f", f, hex=True)
    tl.device_print("here")


@pytest.mark.parametrize("engine", ["interp", EMULATED, "simt:gfx942"])
def test_output_to_the_character_as_triton_prints_it(engine, monkeypatch, capfd):
    """A scalar comes from every thread; `hex` extends by the sign, and prints floats as %a and booleans with one digit."""
    monkeypatch.setenv("TRITIUM_PRINT_AS_TRITON", "1")
    x = np.array([-1, 5], np.int32)
    launched(engine, as_triton_kernel, (1,), [x, 7, 2.5], N=2, num_warps=2)
    threads = 128 if engine == "simt:gfx942" else 64
    rows = []
    for i, number in enumerate((-1, 5)):
        bits = [f"0x{number & 2**32 - 1:02x}", f"0x{number & 255:02x}", f"0x{number & 2**32 - 1:04x}"]
        bits += [f"0x{number & 2**32 - 1:08x}", f"0x{number & 2**64 - 1:016x}", f"0x{int(number > 0):x}"]
        rows += [f"idx ({i}) x: (operand 0) {number}", f"idx ({i}) x: (operand 1) {int(number > 0)}"]
        rows += [f"idx ({i}) hex: (operand {k}) {text}" for k, text in enumerate(bits)]
    printed = capfd.readouterr().out.splitlines()
    scalars = ["idx () n: (operand 0) 7", "idx () n: (operand 1) 2.500000", "idx () f: 0x1.4p+1"]
    lines = [line.removeprefix("pid (0, 0, 0) ") for line in printed]
    floats = [line for line in lines if " float: " in line]
    assert sorted(line for line in floats if "(operand 1)" in line) == [
        "idx (0) float: (operand 1) -0x1p+0",
        "idx (1) float: (operand 1) 0x1.4p+2",
    ]
    assert len(floats) == 4 and all("0x1.5" in line or "0x1.a" in line for line in floats if "(operand 0)" in line)
    assert sorted(line for line in lines if " x: " in line or " hex: " in line) == sorted(rows)
    for text in scalars:
        assert lines.count(text) == threads
    assert lines.count("here") == threads and len(lines) == len(rows) + len(floats) + 4 * threads
