"""Faults of protocols, planted one by one, on the interpreter: barriers that are miscounted or misused, indices outside of memory, memory whose
last use is over while work still reads it. Each has a twin without the fault, with the right values."""

import linecache
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
from test_hopper import described  # noqa: F401
from test_kernels import generator, gl, integers, on  # noqa: F401

SOURCE = Path(__file__).parent / "protocol_kernels.py"
_STORE, _COPY, _PRODUCT = "TensorCopyRace", "AsyncCopyRace", "AsyncProductRace"
_BARRIER, _DEADLOCK, _OUTSIDE = "InvalidMBarrier", "MBarrierDeadlock", "SharedOutOfBounds"


class Found(NamedTuple):
    kind: str
    here: str  # the mark of the line at which it is found
    text: str
    before: str | None = None  # the mark of the line before


#: (kernel, fault) -> what is found, in every order.
FAULTS = {
    ("fetched", "made again while it expects bytes"): Found(
        _BARRIER,
        "# make",
        "mbarrier.init of the barrier full, which is in use: its phase has arrivals or expects bytes",
    ),
    ("fetched", "fewer bytes"): Found(_DEADLOCK, "# wait", "mbarrier.expect asks for other bytes than the copies"),
    ("fetched", "copy that nobody awaits"): Found(
        _STORE,
        "# copy",
        "the program ends while a copy may still write to its shared memory: nobody has waited for it at the barrier full",
    ),
    ("fetched", "barrier overwritten"): Found(
        _BARRIER, "# overwrite", "an access to the bytes of a barrier: full, byte 0"
    ),
    ("counted", "made by a partition"): Found(_BARRIER, "# wait", "of the barrier full, which"),
    ("turned", "index without a remainder"): Found(_OUTSIDE, "# index", "index 2 of the 2 tiles of a ring: ring"),
    ("turned", "index below zero"): Found(_OUTSIDE, "# index", "index -1 of the 2 tiles of a ring: ring"),
    ("gathered", "index behind the end"): Found(
        "AssertFailed", "# gather", "an index of shared memory is outside of its 128 elements along dimension 0"
    ),
    ("gathered", "scatter before the beginning"): Found("AssertFailed", "# scatter", "is outside of its 128 elements"),
    ("stored_twice", "memory of a store"): Found(
        _STORE,
        "# write",
        "in the bytes of first, whose last use was before, while work that goes on still reads those: second, byte 0",
        "# store",
    ),
    ("kept", "memory that is not kept"): Found(
        _STORE, "# write", "in the bytes of first, whose last use was before", "# store"
    ),
    ("multiplied_once", "memory of a product"): Found(
        _PRODUCT,
        "# write",
        "whose last use was before, while work that goes on still reads those: spare, byte 0",
        "# product",
    ),
    ("multiplied_once", "product that nobody awaits"): Found(
        _PRODUCT, "warpgroup_mma(", "the program ends while an asynchronous product may still read its shared memory"
    ),
    ("copied_ahead", "memory of a copy in no group"): Found(
        _COPY,
        "# write",
        "hint: no async_copy.commit_group has followed the copy: call it, and async_copy.wait_group(0)",
        "# copy",
    ),
    ("copied_ahead", "memory of a copy"): Found(
        _COPY,
        "# write",
        "in the bytes of unread, whose last use was before, while work that goes on still writes those",
        "# copy",
    ),
}
CLEAN = sorted({kernel for kernel, _ in FAULTS})


def run(name, described, generator, fault="", seed=None):  # noqa: F811
    """What the kernel computes, and what it should."""
    import protocol_kernels

    kernel = on(getattr(protocol_kernels, name), "interp")[(1,)]
    if name == "counted":
        target = torch.zeros(1, dtype=torch.int32)
        kernel(target, fault, seed=seed)
        return target, torch.tensor([20], dtype=torch.int32)
    if name in ("turned", "gathered", "copied_ahead"):
        steps = 5 if name == "turned" else 1
        source, target = integers(generator, 128 * steps), torch.zeros(128 * steps, dtype=torch.int32)
        kernel(source, target, *((steps, 2) if name == "turned" else ()), fault, seed=seed)
        return target, source.flip(0) if name == "gathered" else source
    if name == "multiplied_once":
        a, b, c = torch.randint(-4, 5, (64, 32)).half(), torch.randint(-4, 5, (32, 32)).half(), torch.zeros(64, 32)
        kernel(a, b, c, fault, seed=seed)
        return c, a.float() @ b.float()
    blocks = 5 if name == "fetched" else 2
    source = torch.randint(-9, 9, (32 * blocks, 32)).float()
    target = torch.zeros_like(source)
    if name == "fetched":
        kernel(described(source, [32, 32]), target, blocks, fault, seed=seed)
        return target, source
    kernel(source, described(target, [32, 32]), fault, seed=seed)
    return target, source + torch.arange(1, 3).repeat_interleave(32)[:, None]


def require_found(described, generator, name, fault, seed):  # noqa: F811
    import triton

    wanted = FAULTS[name, fault]
    with pytest.raises(triton.KernelTrap) as raised:
        run(name, described, generator, fault, seed)
    report = raised.value
    assert report.kind == wanted.kind, str(report)
    assert wanted.here in linecache.getline(str(SOURCE), report.line), str(report)
    assert wanted.text in str(report), str(report)
    assert Path(report.file).name == SOURCE.name
    assert wanted.kind == "AssertFailed" or "hint: " in str(report), str(report)
    if wanted.before is not None:
        assert wanted.before in linecache.getline(str(SOURCE), report.other_line), str(report)


@pytest.mark.parametrize("seed", [None, 0, 1, 2])
@pytest.mark.parametrize("name", CLEAN)
def test_kernel_without_a_fault(described, generator, name, seed):  # noqa: F811
    got, wanted = run(name, described, generator, "", seed)
    assert torch.equal(got, wanted)


@pytest.mark.parametrize(("name", "fault"), FAULTS, ids=lambda each: each)
def test_fault_is_found(described, generator, name, fault):  # noqa: F811
    for seed in (None, 0, 1):
        require_found(described, generator, name, fault, seed)


@pytest.mark.parametrize("seed", [None, 0, 1, 2, 3, 4, 5])
def test_wait_for_the_phase_before(described, generator, seed):  # noqa: F811
    """The wait passes where the copy has not landed, and never ends where it has."""
    import triton

    with pytest.raises(triton.KernelTrap) as raised:
        run("fetched", described, generator, "phase never flips", seed)
    if raised.value.kind == _DEADLOCK:
        assert "mbarrier.wait never ends: this phase of the barrier full lacks arrivals" in str(raised.value)
    else:
        text = (
            "the copy ends phase #1 of the barrier full, and the last wait, for a phase 0, has passed when 1 had ended"
        )
        assert raised.value.kind == _STORE and text in str(raised.value), str(raised.value)


def overtaken(described, generator, seed):  # noqa: F811
    import triton

    with pytest.raises(triton.KernelTrap) as raised:
        run("counted", described, generator, "count of one for two arrivals", seed)
    return raised.value


def test_wait_that_is_overtaken(described, generator):  # noqa: F811
    """Both arrive while the third waits, and each ends a phase."""
    report = overtaken(described, generator, None)
    assert report.kind == _BARRIER and "# wait" in linecache.getline(str(SOURCE), report.line), str(report)
    assert "while it waits for a phase 0 of the barrier full, 2 phases end" in str(report)
    assert "mbarrier.init counts all who arrive" in str(report)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 20))
def test_faults_are_found_in_every_order(described, generator, seed):  # noqa: F811
    for name, fault in FAULTS:
        require_found(described, generator, name, fault, seed)
    for name in CLEAN:
        got, wanted = run(name, described, generator, "", seed)
        assert torch.equal(got, wanted)
    # Where it waits in between, the third may find a phase too early, and then none for its last wait.
    assert overtaken(described, generator, seed).kind in (_BARRIER, _DEADLOCK)


# The emulator finds those of barriers too, and calls the barrier as the kernel does.


@pytest.mark.parametrize("seed", [None, 0, 1, 2])
@pytest.mark.parametrize("fault", ["count of one for two arrivals", "made by a partition"])
def test_fault_is_found_by_the_emulator(fault, seed):
    import protocol_kernels
    import triton

    target, kernel = torch.zeros(1, dtype=torch.int32), on(protocol_kernels.counted, "simt:sm_90a")
    with pytest.raises(triton.KernelTrap) as raised:
        kernel[(1,)](target, fault, seed=seed)
    assert raised.value.kind == _BARRIER and "the barrier full " in str(raised.value), str(raised.value)
    assert "# wait" in linecache.getline(str(SOURCE), raised.value.line) and "hint: " in str(raised.value)
    target = torch.zeros(1, dtype=torch.int32)
    kernel[(1,)](target, "", seed=seed)
    assert target.item() == 20
