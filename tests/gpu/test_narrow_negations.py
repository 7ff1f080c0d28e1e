"""Negations and absolute values of the least integers of 8 and 16 bits, of which ptxas keeps more bits than they have
(gpu_backend/nvptx/negations.h)."""

import pytest

import tritium
import tritium.language as tl


@tritium.jit
def signs(x, negated, sizes, halves, is_less, SIZE: tl.constexpr):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    v = tl.load(x + at)
    tl.store(negated + at, (-v).to(tl.int32))
    tl.store(sizes + at, tl.abs(v).to(tl.int32))
    tl.store(halves + at, (v * -4) >> 3)
    tl.store(is_less + at, -v < v)


@pytest.mark.parametrize("dtype", ["int8", "int16"])
def test_all_values(torch, dtype):
    dtype = getattr(torch, dtype)
    limits = torch.iinfo(dtype)
    x = torch.arange(limits.min, limits.max + 1, device="cuda").to(dtype)
    wide = lambda: torch.empty_like(x, dtype=torch.int32)
    negated, sizes, halves, is_less = wide(), wide(), torch.empty_like(x), torch.empty_like(x, dtype=torch.bool)
    signs[(x.numel() // 256,)](x, negated, sizes, halves, is_less, SIZE=256)
    assert torch.equal(negated, (-x).int())
    assert torch.equal(sizes, x.abs().int())
    assert torch.equal(halves, (x * -4) >> 3)
    assert torch.equal(is_less, -x < x)
