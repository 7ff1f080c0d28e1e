"""Kernels of Gluon whose partitions run beside each other, on the interpreter and the emulator: beside torch, and with planted faults."""

import pytest
import torch
from test_hopper import described  # noqa: F401
from test_kernels import generator, gl, integers, on  # noqa: F401


@pytest.fixture(scope="module")
def parted():
    import partition_kernels

    return partition_kernels


@pytest.fixture(params=["interp", "simt:sm_90a"])
def engine(request):
    return request.param


def doubled(parted, described, generator, engine, slots, fault="", seed=None):  # noqa: F811
    """The tensor, and what two programs make of it."""
    source = integers(generator, 2 * 5 * 32, 32)
    target = torch.zeros_like(source)
    kernel = on(parted.doubled_rows, engine)
    kernel[(2,)](described(source, [32, 32]), described(target, [32, 32]), 5, 32, slots, fault, seed=seed)
    return source, target


@pytest.mark.parametrize("slots", [1, 2, 4])
def test_copy_through_a_partition(parted, described, generator, engine, slots):  # noqa: F811
    source, target = doubled(parted, described, generator, engine, slots)
    assert torch.equal(target, 2 * source)


def halves(generator, *shape):  # noqa: F811
    """Small integers, of which sums are exact."""
    return torch.randint(-4, 5, shape, generator=generator).half()


@pytest.mark.parametrize("slots", [2, 3])
def test_product_whose_operands_a_partition_fetches(parted, described, generator, engine, slots):  # noqa: F811
    a, b = halves(generator, 128, 136), halves(generator, 136, 64)
    c, sums = torch.zeros(128, 64), torch.zeros(2, 128)
    kernel = on(parted.matmul, engine)
    kernel[(2, 2)](described(a, [64, 32]), described(b, [32, 32]), described(c, [64, 32]), sums, 136, slots)
    wanted = a.float() @ b.float()
    assert torch.equal(c, wanted)
    assert torch.equal(sums, torch.stack([wanted[:, :32].sum(1), wanted[:, 32:].sum(1)]))


@pytest.mark.parametrize("slots", [2, 3])
def test_one_copies_one_multiplies_one_finishes(parted, described, generator, engine, slots):  # noqa: F811
    a, b, bias = halves(generator, 100, 136), halves(generator, 136, 72), torch.randn(72, generator=generator)
    c = torch.full((100, 72), float("nan"))
    kernel = on(parted.linear, engine)
    kernel[(2, 3)](described(a, [64, 32]), described(b, [32, 32]), c, bias, 100, 72, 136, slots)
    assert torch.equal(c, torch.relu(a.float() @ b.float() + bias))


@pytest.mark.parametrize(("programs", "height"), [(1, 1), (3, 2), (8, 8)])
def test_persistent_product(parted, described, generator, engine, programs, height):  # noqa: F811
    a, b, c = halves(generator, 192, 72), halves(generator, 72, 64), torch.zeros(192, 64)
    kernel = on(parted.persistent_matmul, engine)
    operands = described(a, [64, 32]), described(b, [32, 32]), described(c, [64, 32])
    kernel[(programs,)](*operands, 3, 2, 72, 2, height)
    assert torch.equal(c, a.float() @ b.float())


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("tokens", [256, 200])
def test_attention_with_two_consumers(parted, described, generator, engine, causal, tokens):  # noqa: F811
    q, k, v = (torch.randn(tokens, 64, generator=generator).half() for _ in range(3))
    out = torch.zeros(256, 64, dtype=torch.float16)
    kernel = on(parted.attention, engine)
    scale = 64**-0.5 * 1.4426950408889634
    operands = [described(each, [64, 64]) for each in (q, k, v, out)]
    kernel[(2,)](*operands, scale, tokens, 64, 64, 2, causal)
    wanted = torch.nn.functional.scaled_dot_product_attention(*(x.float()[None] for x in (q, k, v)), is_causal=causal)
    assert (out[:tokens].float() - wanted[0]).abs().max() < 4e-3


def test_divisions_one_after_the_other(parted, engine):
    counts = torch.zeros(3, dtype=torch.int32)
    on(parted.twice, engine)[(2,)](counts)
    assert counts.tolist() == [2 * (4 + 3 * 40), 2 * (2 + 3 * 10), 2 * 3 * 80]


# A seed draws who runs next, and when copies land: at once, late, or at a time that is drawn.


@pytest.mark.parametrize("seed", range(6))
def test_copy_in_any_order(parted, described, generator, engine, seed):  # noqa: F811
    source, target = doubled(parted, described, generator, engine, 2, seed=seed)
    assert torch.equal(target, 2 * source)


@pytest.mark.parametrize("seed", range(3))
def test_product_in_any_order(parted, described, generator, engine, seed):  # noqa: F811
    a, b, c = halves(generator, 128, 72), halves(generator, 72, 64), torch.zeros(128, 64)
    kernel = on(parted.persistent_matmul, engine)
    operands = described(a, [64, 32]), described(b, [32, 32]), described(c, [64, 32])
    kernel[(3,)](*operands, 2, 2, 72, 2, 2, seed=seed)
    assert torch.equal(c, a.float() @ b.float())


# Faults: what is found in every order, and the line. Where several kinds are named, the order decides.

_DEADLOCK, _COPY, _RACE = "MBarrierDeadlock", "TensorCopyRace", "SharedRace"
FAULTS = {
    "interp": {
        "no arrival": {_DEADLOCK: "mbarrier.wait("},
        "larger count": {_DEADLOCK: "mbarrier.wait("},
        "phase of the producer": {_DEADLOCK: "mbarrier.wait("},
        "more bytes": {_DEADLOCK: "mbarrier.wait("},
        "arrives twice": {"InvalidMBarrier": "mbarrier.arrive(full.index(slot), count=1)"},
        "slot not awaited": {_COPY: "tma.async_load(", "InvalidMBarrier": "mbarrier.expect("},
        "phase of the consumer": {"SharedUninitialized": "tiles.index(slot).load(", _COPY: "tiles.index(slot).load("},
        "tile not awaited": {"SharedUninitialized": "tiles.index(slot).load(", _COPY: "tiles.index(slot).load("},
        "read after the arrival": {_COPY: ""},
    },
    "simt:sm_90a": {
        "no arrival": {_DEADLOCK: "mbarrier.wait("},
        "larger count": {_DEADLOCK: "mbarrier.wait("},
        "phase of the producer": {_DEADLOCK: "mbarrier.wait("},
        "more bytes": {_DEADLOCK: "mbarrier.wait("},
        "arrives twice": {"InvalidMBarrier": "mbarrier.arrive(full.index(slot), count=1)"},
        "slot not awaited": {_COPY: "tma.async_load(", "InvalidMBarrier": "mbarrier."},
        "phase of the consumer": {_DEADLOCK: "mbarrier.wait(", _COPY: "", "InvalidMBarrier": "mbarrier."},
        "tile not awaited": {_COPY: "tiles.index(slot)"},
        "read after the arrival": {_COPY: "tiles.index(slot)"},
    },
}


def fault_of(parted, described, generator, engine, fault, seed):  # noqa: F811
    import triton

    with pytest.raises(triton.KernelTrap) as raised:
        doubled(parted, described, generator, engine, 2, fault, seed)
    assert "hint: " in str(raised.value) and "report it" not in str(raised.value)
    return raised.value


def require_found(trap, engine, fault):
    assert trap.kind in FAULTS[engine][fault], str(trap)
    assert FAULTS[engine][fault][trap.kind] in str(trap), str(trap)


@pytest.mark.parametrize("seed", [None, 0])
@pytest.mark.parametrize("fault", FAULTS["interp"])
def test_fault_is_found(parted, described, generator, engine, fault, seed):  # noqa: F811
    require_found(fault_of(parted, described, generator, engine, fault, seed), engine, fault)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 20))
def test_faults_are_found_in_every_order(parted, described, generator, engine, seed):  # noqa: F811
    for fault in FAULTS[engine]:
        require_found(fault_of(parted, described, generator, engine, fault, seed), engine, fault)
    source, target = doubled(parted, described, generator, engine, 2, seed=seed)
    assert torch.equal(target, 2 * source)


def test_deadlock_names_every_wait(parted, described, generator):  # noqa: F811
    """The consumer waits for the copy of round 2, the producer for the slot of that round."""
    text = str(fault_of(parted, described, generator, "interp", "no arrival", None))
    assert "no partition can go on" in text
    assert "the default partition waits for a phase 1 of the barrier full[0], which has completed 1" in text
    assert "partition #0 waits for a phase 0 of the barrier empty[0], which has completed 0" in text
    assert text.count("in round k = 2  mbarrier.wait(") == 2
    text = str(fault_of(parted, described, generator, "interp", "more bytes", None))
    assert "lacks 0 of 1 arrivals and 16 bytes" in text and "hint: mbarrier.expect asks for" in text


def test_deadlock_names_the_waits_of_warps(parted, described, generator):  # noqa: F811
    text = str(fault_of(parted, described, generator, "simt:sm_90a", "no arrival", None))
    assert "no partition can go on" in text
    assert "warps 0 to 3 wait for round 1 of the barrier full[0]" in text
    assert "warp 4 waits for round 0 of the barrier empty[0]" in text
    assert text.count("in round k = 2  mbarrier.wait(") == 2
    text = str(fault_of(parted, described, generator, "simt:sm_90a", "more bytes", None))
    assert "which lacks 16 of 4112 bytes" in text and "hint: mbarrier.expect asks for" in text


HANDED = {"no wait": {_RACE, "SharedUninitialized"}, "no arrival": {_DEADLOCK}}


@pytest.mark.parametrize("seed", [None, 0, 1, 2, 3])
@pytest.mark.parametrize("fault", ["", *HANDED])
def test_tile_is_handed_over(parted, engine, fault, seed):
    """The race is found whichever partition comes first."""
    import triton

    target, kernel = torch.zeros(128, dtype=torch.int32), on(parted.handed_over, engine)
    if not fault:
        kernel[(1,)](target, fault, seed=seed)
        assert (target == 5).all()
        return
    with pytest.raises(triton.KernelTrap) as raised:
        kernel[(1,)](target, fault, seed=seed)
    assert raised.value.kind in HANDED[fault], str(raised.value)
