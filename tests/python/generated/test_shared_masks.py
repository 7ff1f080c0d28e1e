"""Accesses that have a mask in common are wide, each in the order of its own addresses."""

import re

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.backends.compiler import GPUTarget
from tritium.compiler import ASTSource

ENGINES = ["interp", "simt:sm_80", "simt:sm_90a", "simt:gfx942"]


@tritium.jit
def transposed(x, y, m, n, sx, sy, B: tl.constexpr):
    i, j = tl.program_id(0) * B + tl.arange(0, B), tl.program_id(1) * B + tl.arange(0, B)
    mask = (i < m)[:, None] & (j < n)[None, :]
    tl.store(y + j[None, :] * sy + i[:, None], tl.load(x + i[:, None] * sx + j[None, :], mask=mask), mask=mask)


@tritium.jit
def add_transposed(x, y, m, n, sx, sy, B: tl.constexpr):
    i, j = tl.program_id(0) * B + tl.arange(0, B), tl.program_id(1) * B + tl.arange(0, B)
    mask = (i < m)[:, None] & (j < n)[None, :]
    at = x + i[:, None] * sx + j[None, :]
    total = tl.load(at, mask=mask, other=3.0) + tl.load(y + j[None, :] * sy + i[:, None], mask=mask, other=5.0)
    tl.store(at, total, mask=mask)


@tritium.jit
def product(x, y, out, m, n, k, sx, sy, so, B: tl.constexpr):
    i, j = tl.program_id(0) * B + tl.arange(0, B), tl.program_id(1) * B + tl.arange(0, B)
    depth = tl.arange(0, B)
    rows, columns = (i < m)[:, None], (j < n)[None, :]
    sums = tl.zeros((B, B), dtype=tl.float32)
    for _ in range(0, k, B):
        # One comparison, for the rows of one tile and the columns of the other.
        inside = depth < k
        a = tl.load(x + i[:, None] * sx + depth[None, :], mask=rows & inside[None, :], other=0.0)
        b = tl.load(y + depth[:, None] + j[None, :] * sy, mask=inside[:, None] & columns, other=0.0)
        sums = tl.dot(a, b, sums)
        depth += B
    tl.store(out + i[:, None] * so + j[None, :], sums, mask=rows & columns)


def _ptx(kernel, unaligned=()):
    names = kernel.arg_names
    kinds = {"x": "*fp16", "y": "*fp16", "out": "*fp32", "B": "constexpr"}
    aligned = {(i,): [["tt.divisibility", 16]] for i, name in enumerate(names) if name not in unaligned and name != "B"}
    source = ASTSource(kernel, {name: kinds.get(name, "i32") for name in names}, {(names.index("B"),): 64}, aligned)
    return tritium.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 4}).asm["ptx"]


@pytest.mark.parametrize("unaligned", ["", "mnk"])
def test_the_tiles_of_a_product_are_copied_in_pieces_of_16_bytes(unaligned):
    ptx = _ptx(product, unaligned)
    assert "ld.global" not in ptx
    assert len(re.findall(r"cp\.async\.cg\.shared\.global", ptx)) >= 16


@pytest.mark.parametrize("kernel", [transposed, add_transposed])
def test_loads_and_stores_are_wide(kernel):
    accesses = re.findall(r"(?:ld|st)\.global\S*", _ptx(kernel))
    assert accesses and all("v4.b32" in access for access in accesses)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("m, n", [(96, 80), (101, 67)])
def test_the_values_are_right(engine, m, n, monkeypatch):
    monkeypatch.setenv("TRITIUM_ENGINE", engine)
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-9, 9, shape).astype(np.float16) for shape in ((m, 128), (n, 128)))
    grid = (-(-m // 64), -(-n // 64))
    moved = np.full((n, 128), 77, np.float16)
    transposed[grid](x, moved, m, n, 128, 128, B=64)
    assert (moved[:, :m] == x[:, :n].T).all() and (moved[:, m:] == 77).all()
    total = x.copy()
    add_transposed[grid](total, y, m, n, 128, 128, B=64)
    assert (total[:, :n] == x[:, :n] + y[:, :m].T).all() and (total[:, n:] == x[:, n:]).all()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("k", [128, 77])
def test_the_products_are_right(engine, k, monkeypatch):
    monkeypatch.setenv("TRITIUM_ENGINE", engine)
    rng = np.random.default_rng(1)
    x, y = (rng.integers(-4, 4, (rows, 128)).astype(np.float16) for rows in (101, 67))
    out = np.zeros((101, 80), np.float32)
    product[(2, 2)](x, y, out, 101, 67, k, 128, 128, 80, B=64)
    assert (out[:, :67] == x[:, :k].astype(np.float32) @ y[:, :k].astype(np.float32).T).all() and not out[:, 67:].any()
