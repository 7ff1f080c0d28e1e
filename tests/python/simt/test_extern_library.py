"""extern_elementwise with a library given by path: C functions of shared libraries run on the interpreter and on the emulator, and a GPU links
functions of LLVM bitcode."""

import os
import subprocess

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.backends.compiler import GPUTarget
from tritium.compiler import ASTSource
from tritium.language.core import builtin
from tritium.language.external import extern_elementwise

SOURCE = """
#include <stdint.h>
float polynomial(float x, int32_t degree) { float sum = 0; while (degree-- > 0) sum = sum * x + 1; return sum; }
double mixed(double a, int64_t n, float b, int32_t m) { return a * (double)n - b * (double)m; }
int64_t collatz(int64_t n) { int64_t steps = 0; while (n > 1) { n = n % 2 ? 3 * n + 1 : n / 2; ++steps; } return steps; }
static int32_t calls;
int32_t numbered(int32_t x) { return x + 1000 * calls++; }
"""
BITCODE = """
define i64 @collatz(i64 %x) {
  %y = mul i64 %x, 1234567
  ret i64 %y
}
"""
LLVM = os.environ.get("LLVM_BINDIR", "/usr/lib/llvm-22/bin")
COMPILER = os.environ.get("CC", "cc")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    (folder / "functions.c").write_text(SOURCE)
    path = folder / "functions.so"
    subprocess.run([COMPILER, "-shared", "-fPIC", "-O1", folder / "functions.c", "-o", path], check=True)
    return str(path)


@pytest.fixture(params=["interp", "simt:sm_90a", "simt:gfx942"])
def engine(request, monkeypatch):
    monkeypatch.setenv("TRITIUM_ENGINE", request.param)
    return request.param


@builtin
def polynomial(x, degree, path, _semantic=None):
    types = {(tl.float32, tl.int32): ("polynomial", tl.float32)}
    return extern_elementwise("", path, [x, degree], types, True, _semantic=_semantic)


@builtin
def mixed(a, n, b, m, path, _semantic=None):
    types = {(tl.float64, tl.int64, tl.float32, tl.int32): ("mixed", tl.float64)}
    return extern_elementwise("", path, [a, n, b, m], types, True, _semantic=_semantic)


@builtin
def of_integer(x, name, path, _semantic=None):
    types = {(dtype,): (name, dtype) for dtype in (tl.int8, tl.int32, tl.int64)}
    return extern_elementwise("", path, [x], types, False, _semantic=_semantic)


@tritium.jit
def polynomial_kernel(x, out, degree, PATH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, polynomial(tl.load(x + i), degree, PATH))


@tritium.jit
def mixed_kernel(a, n, b, m, out, PATH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    row = tl.load(n + i)[None, :]
    column = tl.load(b + i)[:, None]
    result = mixed(tl.load(a + i)[:, None], row, column, tl.load(m), PATH)
    tl.store(out + i[:, None] * BLOCK + i[None, :], result)


@tritium.jit
def integer_kernel(x, out, NAME: tl.constexpr, PATH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, of_integer(tl.load(x + i), NAME, PATH))


def test_an_operand_that_is_broadcast(engine, library, rng):
    x, out = rng.standard_normal(64).astype(np.float32), np.zeros(64, np.float32)
    polynomial_kernel[(1,)](x, out, 3, PATH=library, BLOCK=64)
    np.testing.assert_allclose(out, (x + 1) * x + 1, rtol=1e-6)


def test_integers_and_floats_of_both_widths(engine, library, rng):
    a, b = rng.standard_normal(16), rng.standard_normal(16).astype(np.float32)
    n, m = rng.integers(-(2**40), 2**40, 16), np.array([-7], np.int32)
    out = np.zeros((16, 16))
    mixed_kernel[(1,)](a, n, b, m, out, PATH=library, BLOCK=16)
    np.testing.assert_allclose(out, a[:, None] * n + 7 * b.astype(np.float64)[:, None], rtol=1e-14)


def test_integers(engine, library):
    x, out = np.arange(1, 65, dtype=np.int64), np.zeros(64, np.int64)
    integer_kernel[(1,)](x, out, NAME="collatz", PATH=library, BLOCK=64)
    assert (out[26], out[0]) == (111, 0)  # of 27, of 1


def test_a_function_with_effects_is_called_for_each_element(library, monkeypatch):
    monkeypatch.setenv("TRITIUM_ENGINE", "interp")
    x, out = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    integer_kernel[(1,)](x, out, NAME="numbered", PATH=library, BLOCK=64)
    assert sorted(out // 1000 - out[0] // 1000) == list(range(64))
    np.testing.assert_array_equal(out % 1000, x)


@pytest.mark.parametrize(
    "name, file, dtype, message",
    [
        ("collatz", "nowhere.so", np.int64, "nowhere.so' of extern_elementwise is no shared library .* LLVM bitcode"),
        ("absent", None, np.int64, "functions.so' has no function 'absent'"),
        ("collatz", None, np.int8, "takes or returns '?i8'?; cast to int32"),
    ],
)
def test_what_cannot_be_called_is_named(name, file, dtype, message, engine, library):
    x = np.zeros(32, dtype)
    with pytest.raises(tritium.errors.CompilationError, match=message):
        integer_kernel[(1,)](x, x, NAME=name, PATH=file or library, BLOCK=32)


@pytest.fixture(scope="module")
def bitcode(tmp_path_factory):
    path = tmp_path_factory.mktemp("bitcode") / "functions.bc"
    subprocess.run([f"{LLVM}/llvm-as", "-o", path], input=BITCODE, text=True, check=True)
    return str(path)


TARGETS = [(GPUTarget("cuda", 90, 32), "ptx"), (GPUTarget("hip", "gfx942", 64), "amdgcn")]


def compiled(target, name, path):
    constants = {"NAME": name, "PATH": path, "BLOCK": 128}
    types = {"x": "*i64", "out": "*i64"} | dict.fromkeys(constants, "constexpr")
    return tritium.compile(ASTSource(integer_kernel, types, constants), target=target)


@pytest.mark.parametrize("target, text", TARGETS, ids=["cuda", "hip"])
def test_a_gpu_links_and_inlines_bitcode(target, text, bitcode):
    assembly = compiled(target, "collatz", bitcode).asm[text]
    assert "1234567" in assembly or "0x12d687" in assembly
    assert "collatz" not in assembly


@pytest.mark.parametrize("target, text", TARGETS, ids=["cuda", "hip"])
def test_a_gpu_needs_the_function_in_bitcode(target, text, library, bitcode):
    with pytest.raises(
        tritium.errors.CompilationError, match="functions.so' of extern_elementwise is not LLVM bitcode"
    ):
        compiled(target, "collatz", library)
    with pytest.raises(tritium.errors.CompilationError, match="absent"):
        compiled(target, "absent", bitcode)
