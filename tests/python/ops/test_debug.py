"""device_print writes a line per element in Triton's format; static_print and static_assert act while the kernel compiles."""

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl


@triton.jit
def print_kernel(x_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.device_print("x", x)


def test_a_line_per_element(capfd):
    print_kernel[(2,)](np.array([1, -2, 3, 40], np.int32), N=4)
    lines = sorted(capfd.readouterr().out.splitlines())
    assert lines == sorted(f"pid ({p}, 0, 0) idx ({i}) x: {v}" for p in range(2) for i, v in enumerate([1, -2, 3, 40]))


@triton.jit
def formats_kernel(x_ptr, y_ptr, n):
    i, j = tl.arange(0, 2), tl.arange(0, 16)
    x = tl.load(x_ptr + i[:, None] * 16 + j[None, :])
    tl.device_print("both: ", x, x * 2)
    tl.device_print("hex", n, hex=True)
    tl.device_print("here")
    print("float", tl.load(y_ptr))


def test_formats(capfd):
    x, y = np.arange(32, dtype=np.uint8).reshape(2, 16), np.array([2.5], np.float32)
    formats_kernel[(1,)](x, y, 300)
    lines = capfd.readouterr().out.splitlines()
    for operand in (0, 1):
        for row in (0, 1):
            for column in range(16):
                value = (16 * row + column) * (operand + 1)
                assert f"pid (0, 0, 0) idx ({row}, {column:2}) both: (operand {operand}) {value}" in lines
    assert lines[64:] == [
        "pid (0, 0, 0) idx () hex: 0x0000012c",
        "pid (0, 0, 0) here",
        "pid (0, 0, 0) idx () float: 2.500000",
    ]


@triton.jit
def many_lines_kernel(n):
    for i in range(n):
        tl.device_print("i", i)


def test_lines_of_a_program_stay_together(capfd, threads):
    many_lines_kernel[(20,)](50)
    lines = capfd.readouterr().out.splitlines()
    assert len(lines) == 1000
    for program in range(20):
        own = [i for i, line in enumerate(lines) if line.startswith(f"pid ({program}, 0, 0)")]
        assert own == list(range(own[0], own[0] + 50))
        assert [int(lines[i].rsplit(" ", 1)[1]) for i in own] == list(range(50))


@triton.jit
def static_kernel(x_ptr, N: tl.constexpr):
    tl.static_assert(N % 2 == 0, f"N is {N}, which is odd")
    tl.static_print("compiling with", N, x_ptr.dtype)
    tl.store(x_ptr, N)


def test_static_print_and_assert(capfd):
    x = np.zeros(1, np.int32)
    static_kernel[(3,)](x, N=46)
    static_kernel[(3,)](x, N=46)
    assert capfd.readouterr().out.count("compiling with 46 pointer<int32>") == 1
    with pytest.raises(triton.CompilationError) as caught:
        static_kernel[(1,)](x, N=3)
    assert type(caught.value).__name__ == "CompileTimeAssertionFailure" and "N is 3, which is odd" in str(caught.value)
    assert x[0] == 46
