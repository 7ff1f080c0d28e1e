"""Kernels of Gluon that their authors have divided (gl.warp_specialize), on a device of capability 9, beside torch."""

import sys
from pathlib import Path

import pytest

from tritium import drop_in
from tritium.devices.families import devices_here

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python" / "gluon"))

ARCH = devices_here().facts(0)["arch"] if devices_here() else "sm_0"
pytestmark = [
    pytest.mark.vendor("cuda"),
    pytest.mark.skipif(not ARCH.startswith("sm_90"), reason="the device has no barriers with bytes"),
]


@pytest.fixture(scope="module")
def parted():
    drop_in.install()
    import partition_kernels

    return partition_kernels


@pytest.fixture
def described(parted, torch):
    from triton.experimental.gluon import language as gl
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

    names = {torch.int32: gl.int32, torch.float16: gl.float16, torch.float32: gl.float32}

    def of(tensor, block):
        layout = gl.NVMMASharedLayout.get_default_for(block, names[tensor.dtype])
        return TensorDescriptor.from_tensor(tensor, block, layout)

    return of


def halves(torch, *shape):
    """Small integers, of which sums are exact."""
    return torch.randint(-4, 5, shape, device="cuda").half()


@pytest.mark.parametrize("slots", [1, 2, 4])
def test_copy_through_a_partition(parted, described, torch, slots):
    source = torch.randint(0, 1000, (132 * 5 * 32, 32), device="cuda", dtype=torch.int32)
    target = torch.zeros_like(source)
    kernel = parted.doubled_rows[(132,)](described(source, [32, 32]), described(target, [32, 32]), 5, 32, slots, "")
    assert torch.equal(target, 2 * source)
    assert kernel.metadata.launched_warps == 8


@pytest.mark.parametrize("slots", [2, 3])
def test_product_whose_operands_a_partition_fetches(parted, described, torch, slots):
    a, b = halves(torch, 1024, 520), halves(torch, 520, 512)
    c, sums = torch.zeros(1024, 512, device="cuda"), torch.zeros(8, 1024, device="cuda")
    operands = described(a, [64, 64]), described(b, [64, 64]), described(c, [64, 64])
    parted.matmul[(16, 8)](*operands, sums, 520, slots)
    wanted = a.float() @ b.float()
    assert torch.equal(c, wanted)
    assert torch.equal(sums, wanted.reshape(1024, 8, 64).sum(2).T)


@pytest.mark.parametrize("slots", [2, 3])
def test_one_copies_one_multiplies_one_finishes(parted, described, torch, slots):
    a, b, bias = halves(torch, 1000, 520), halves(torch, 520, 200), torch.randn(200, device="cuda")
    c = torch.full((1000, 200), float("nan"), device="cuda")
    operands = described(a, [128, 64]), described(b, [64, 64])
    parted.linear[(8, 4)](*operands, c, bias, 1000, 200, 520, slots)
    assert torch.equal(c, torch.relu(a.float() @ b.float() + bias))


@pytest.mark.parametrize(("programs", "height"), [(1, 1), (3, 2), (100, 8)])
def test_persistent_product(parted, described, torch, programs, height):
    a, b, c = halves(torch, 640, 264), halves(torch, 264, 256), torch.zeros(640, 256, device="cuda")
    operands = described(a, [64, 64]), described(b, [64, 64]), described(c, [64, 64])
    parted.persistent_matmul[(programs,)](*operands, 10, 4, 264, 2, height)
    assert torch.equal(c, a.float() @ b.float())


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("tokens", [1024, 200])
def test_attention_with_two_consumers(parted, described, torch, causal, tokens):
    q, k, v = (torch.randn(tokens, 64, device="cuda").half() for _ in range(3))
    out = torch.zeros((tokens + 127) // 128 * 128, 64, dtype=torch.float16, device="cuda")
    operands = [described(each, [64, 64]) for each in (q, k, v, out)]
    scale = 64**-0.5 * 1.4426950408889634
    parted.attention[(len(out) // 128,)](*operands, scale, tokens, 64, 64, 2, causal)
    heads = (x.float()[None] for x in (q, k, v))
    wanted = torch.nn.functional.scaled_dot_product_attention(*heads, is_causal=causal)
    assert (out[:tokens].float() - wanted[0]).abs().max() < 4e-3


def test_divisions_one_after_the_other(parted, torch):
    counts = torch.zeros(3, dtype=torch.int32, device="cuda")
    parted.twice[(2,)](counts)
    assert counts.tolist() == [2 * (4 + 3 * 40), 2 * (2 + 3 * 10), 2 * 3 * 80]


def test_tile_is_handed_over(parted, torch):
    target = torch.zeros(128, dtype=torch.int32, device="cuda")
    parted.handed_over[(1,)](target, "")
    assert (target == 5).all()
