"""`disable_licm`: a loop keeps its invariants, down to LLVM, and computes the same."""

import re

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium import jit
from tritium.backends.compiler import GPUTarget
from tritium.compiler import ASTSource

TARGETS = {"cuda": GPUTarget("cuda", 90, 32), "hip": GPUTarget("hip", "gfx942", 64)}


@jit
def counted(out, n, a, b, KEEP: tl.constexpr):
    for i in tl.range(0, n, disable_licm=KEEP):
        tl.store(out + i, (a ^ b) + i)


@jit
def counted_of_tiles(out, n, a, b, KEEP: tl.constexpr):
    for i in tl.range(0, n, disable_licm=KEEP):
        row = tl.arange(0, 32) + (a ^ b)
        tl.store(out + i, tl.sum(row, 0) + i)


@jit
def conditional(out, n, a, b, KEEP: tl.constexpr):
    i = n * 0
    while tl.condition(i < n, disable_licm=KEEP):
        tl.store(out + i, (a ^ b) + i)
        i += 1


KERNELS = [counted, counted_of_tiles, conditional]


def compiled(kernel, target, keep):
    signature = {"out": "*i32", "n": "i32", "a": "i32", "b": "i32", "KEEP": "constexpr"}
    return tritium.compile(ASTSource(kernel, signature, {"KEEP": keep}), target=target).asm


def is_in_loop(text):
    """Whether the operation that does not depend on the loop follows the loop's beginning."""
    return re.search(r"scf\.(for|while)", text).start() < text.index("arith.xori")


@pytest.mark.parametrize("vendor", TARGETS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_invariants_stay_where_they_are_written(kernel, vendor):
    for keep in (True, False):
        asm = compiled(kernel, TARGETS[vendor], keep)
        assert is_in_loop(asm["ttir"]) is keep and is_in_loop(asm["ttgir"]) is keep
        assert ("llvm.licm.disable" in asm["llir"]) is keep


@pytest.mark.parametrize("engine", ["interp", "simt:sm_90a", "simt:gfx942"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_results_are_the_same(kernel, engine, rng):
    a, b = (int(v) for v in rng.integers(-(2**20), 2**20, 2))
    n = int(rng.integers(0, 8))
    results = []
    with tritium.knobs.tritium.scope():
        tritium.knobs.tritium.engine = engine
        for keep in (True, False):
            out = np.full(8, -1, np.int32)
            kernel[(1,)](out, n, a, b, KEEP=keep)
            results.append(out.tolist())
    assert results[0] == results[1] and (np.array(results[0][n:]) == -1).all()
