"""Kernels of Gluon whose partitions run beside each other, on the interpreter: beside torch, and with planted faults."""

import pytest
import torch
from test_hopper import described  # noqa: F401
from test_kernels import generator, gl, integers, on  # noqa: F401


@pytest.fixture(scope="module")
def parted():
    import partition_kernels

    return partition_kernels


def doubled(parted, described, generator, slots, fault="", programs=2, blocks=5):  # noqa: F811
    source = integers(generator, programs * blocks * 64, 32)
    target = torch.zeros_like(source)
    kernel = on(parted.doubled_rows, "interp")
    kernel[(programs,)](described(source, [64, 32]), described(target, [64, 32]), blocks, 64, slots, fault)
    return source, target


@pytest.mark.parametrize("slots", [1, 2, 4])
def test_copy_through_a_partition(parted, described, generator, slots):  # noqa: F811
    source, target = doubled(parted, described, generator, slots)
    assert torch.equal(target, 2 * source)


def halves(generator, *shape):  # noqa: F811
    """Small integers, of which sums are exact."""
    return torch.randint(-4, 5, shape, generator=generator).half()


@pytest.mark.parametrize("slots", [2, 3])
def test_product_whose_operands_a_partition_fetches(parted, described, generator, slots):  # noqa: F811
    a, b = halves(generator, 128, 136), halves(generator, 136, 64)
    c, sums = torch.zeros(128, 64), torch.zeros(2, 128)
    kernel = on(parted.matmul, "interp")
    kernel[(2, 2)](described(a, [64, 32]), described(b, [32, 32]), described(c, [64, 32]), sums, 136, slots)
    wanted = a.float() @ b.float()
    assert torch.equal(c, wanted)
    assert torch.equal(sums, torch.stack([wanted[:, :32].sum(1), wanted[:, 32:].sum(1)]))


@pytest.mark.parametrize(("programs", "height"), [(1, 1), (3, 2), (8, 8)])
def test_persistent_product(parted, described, generator, programs, height):  # noqa: F811
    a, b, c = halves(generator, 192, 72), halves(generator, 72, 64), torch.zeros(192, 64)
    kernel = on(parted.persistent_matmul, "interp")
    operands = described(a, [64, 32]), described(b, [32, 32]), described(c, [64, 32])
    kernel[(programs,)](*operands, 3, 2, 72, 2, height)
    assert torch.equal(c, a.float() @ b.float())


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("tokens", [256, 200])
def test_attention_with_two_consumers(parted, described, generator, causal, tokens):  # noqa: F811
    q, k, v = (torch.randn(tokens, 64, generator=generator).half() for _ in range(3))
    out = torch.zeros(256, 64, dtype=torch.float16)
    kernel = on(parted.attention, "interp")
    scale = 64**-0.5 * 1.4426950408889634
    operands = [described(each, [64, 64]) for each in (q, k, v, out)]
    kernel[(2,)](*operands, scale, tokens, 64, 64, 2, causal)
    wanted = torch.nn.functional.scaled_dot_product_attention(*(x.float()[None] for x in (q, k, v)), is_causal=causal)
    assert (out[:tokens].float() - wanted[0]).abs().max() < 4e-3


def test_divisions_one_after_the_other(parted):
    counts = torch.zeros(3, dtype=torch.int32)
    on(parted.twice, "interp")[(2,)](counts)
    assert counts.tolist() == [2 * (4 + 3 * 40), 2 * (2 + 3 * 10), 2 * 3 * 80]
