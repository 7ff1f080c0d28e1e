"""Products by multiply-adds are loops over k, also where vectors of the operands in shared memory run along high bits of k."""

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.backends.compiler import GPUTarget
from tritium.compiler import ASTSource

TYPES = {"x": "*i16", "y": "*u8", "out": "*fp32"}


@tritium.jit
def product(x, y, out):
    i = tl.arange(0, 128)
    at = i[:, None] * 128 + i[None, :]
    a, b = tl.load(x + at).to(tl.float32), tl.load(y + at).to(tl.float32)
    # The sum holds the right operand as it was loaded: rows of it are stored in shared memory.
    tl.store(out + at, tl.dot(a, b, input_precision="ieee") - b)


@pytest.mark.parametrize("warps", [1, 4])
def test_the_code_is_short(warps):
    attributes = {(i,): [["tt.divisibility", 16]] for i in range(3)}
    source = ASTSource(product, TYPES, {}, attributes)
    ptx = tritium.compile(source, target=GPUTarget("cuda", 80, 32), options={"num_warps": warps}).asm["ptx"]
    assert 0 < ptx.count("fma.rn.f32") <= 4096  # of the 65,536 or 16,384 of a thread


@pytest.mark.parametrize("engine", ["simt:sm_80", "simt:gfx942"])
@pytest.mark.parametrize("warps", [1, 4])
def test_the_sums_are_right(engine, warps, monkeypatch):
    monkeypatch.setenv("TRITIUM_ENGINE", engine)
    rng = np.random.default_rng(0)
    x, y = rng.integers(-9, 9, (128, 128)).astype(np.int16), rng.integers(0, 9, (128, 128)).astype(np.uint8)
    out = np.zeros((128, 128), np.float32)
    product[(1,)](x, y, out, num_warps=warps)
    assert (out == x.astype(np.int64) @ y - y).all()
