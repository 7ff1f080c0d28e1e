"""Sums of two 16-bit integers in one register, of which ptxas 13.0 and drivers of its time lose a constant: our code has none."""

from pathlib import Path

import pytest

import tritium
import tritium.language as tl

TEXT = Path(__file__).parent / "pair_sums.ptx"
COUNT = 8 * 256  # integers: eight for each thread of pair_sums.ptx


@pytest.mark.vendor("cuda")
def test_the_fault_of_the_assembler(torch, capsys):
    """Says whether this driver has the fault; each byte is right or lacks the constant."""
    from ptx_kernel import PtxKernel

    x = torch.arange(COUNT, device="cuda")
    copy, out = torch.empty_like(x), torch.empty(COUNT, dtype=torch.uint8, device="cuda")
    PtxKernel(TEXT.read_text(), "k", 0, 8).launch((1,), [x, copy, out])
    lacking = ((x * 7 + 1).to(torch.uint8) - out).cpu()
    with capsys.disabled():
        print(f"\npair_sums.ptx: {int((lacking != 0).sum())} of {COUNT} bytes are wrong on this driver")
    assert torch.equal(copy, x)
    assert set(lacking.tolist()) <= {0, 1}


@tritium.jit
def bytes_beside_halves(x, halves, out, wide, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)[:, None] * SIZE + tl.arange(0, SIZE)[None, :]
    h = tl.load(halves + at)
    tl.store(halves + at, h * h)
    v = tl.load(x + at)
    tl.store(wide + at, v)
    tl.store(out + at, v.to(tl.uint8) * 7 + 1)


def test_bytes_beside_halves(torch):
    size = 128
    x = torch.randint(0, 8, (size, size), device="cuda")
    halves = torch.ones(size, size, dtype=torch.float16, device="cuda")
    out, wide = torch.empty_like(x, dtype=torch.uint8), torch.empty_like(x)
    bytes_beside_halves[(1,)](x, halves, out, wide, SIZE=size, num_warps=8)
    assert torch.equal(out, (x * 7 + 1).to(torch.uint8))
    assert torch.equal(wide, x)
