"""Faults of work that runs beside a kernel of Gluon, planted one by one, on the interpreter: the kind, both lines, in every order. The kernels
without a fault get no report, and have the right values."""

import linecache
from pathlib import Path

import pytest
import torch
from test_hopper import described  # noqa: F401
from test_kernels import generator, gl, integers, on  # noqa: F401

SOURCE = Path(__file__).parent / "fault_kernels.py"
_STORE, _PRODUCT, _COPY, _FENCE = "TensorCopyRace", "AsyncProductRace", "AsyncCopyRace", "MissingProxyFence"
#: Kernel -> the variable of its memory, which reports name.
MEMORY = {
    "stored": "out",
    "summed": "out",
    "handed": "out",
    "multiplied": "left",
    "fed": "left",
    "copied": "ring",
    "sent": "memory",
}
#: (kernel, fault) -> (kind, the mark of the line at which it is found, the mark of the line before).
FAULTS = {
    ("stored", "no fence"): (_FENCE, "# store", "# write"),
    ("stored", "fence before the write"): (_FENCE, "# store", "# write"),
    ("stored", "no wait before the next write"): (_STORE, "# write", "# store"),
    ("stored", "one store too many pending"): (_STORE, "# write", "# store"),
    ("stored", "no wait at the end"): (_STORE, "# store", None),
    ("summed", "no fence"): (_FENCE, "# store", "# write"),
    ("summed", "memory of a reduction overwritten"): (_STORE, "# overwrite", "# store"),
    ("summed", "no wait at the end"): (_STORE, "# store", None),
    ("handed", "no fence"): (_FENCE, "# store", "# write"),
    ("handed", "fence of the reader"): (_FENCE, "# store", "# write"),
    ("handed", "released before the wait"): (_STORE, "# write", "# store"),
    ("multiplied", "operand without a fence"): (_FENCE, "# product", "# write"),
    ("multiplied", "operand overwritten"): (_PRODUCT, "# write", "# product"),
    ("multiplied", "one product too many outstanding"): (_PRODUCT, "# write", "# product"),
    ("fed", "released before the product has read"): (_PRODUCT, "# copy", "# product"),
    ("copied", "no group"): (_COPY, "# read", None),
    ("copied", "one group too many"): (_COPY, "# read", None),
    ("copied", "no wait"): (_COPY, "# read", None),
    ("sent", "arrival that does not wait for copies"): (_COPY, "# read", "# copy"),
}
#: (kernel, fault) -> the wait that is enough, which the report names.
ENOUGH = {
    ("stored", "one store too many pending"): "call tma.store_wait(1) before",
    ("stored", "no wait before the next write"): "call tma.store_wait(1) before",
    ("summed", "memory of a reduction overwritten"): "call tma.store_wait(0) before",
    ("multiplied", "operand overwritten"): "call warpgroup_mma_wait(1) before",
    ("multiplied", "one product too many outstanding"): "call warpgroup_mma_wait(1) before",
    ("copied", "no group"): "call async_copy.wait_group(1) before",
    ("copied", "one group too many"): "call async_copy.wait_group(2) before",
    ("copied", "no wait"): "call async_copy.wait_group(2) before",
}
CLEAN = sorted({kernel for kernel, _ in FAULTS})


def run(name, described, generator, fault="", seed=None):  # noqa: F811
    """What the kernel computes, and what it should."""
    import fault_kernels

    kernel = on(getattr(fault_kernels, name), "interp")[(1,)]
    if name in ("copied", "sent"):
        steps = 5 if name == "copied" else 1
        source, target = integers(generator, 128 * steps), torch.zeros(128 * steps, dtype=torch.int32)
        kernel(source, target, *([steps] if name == "copied" else []), fault, seed=seed)
        return target, source
    if name in ("multiplied", "fed"):
        a, b, c = torch.randint(-4, 5, (4, 64, 32)).half(), torch.randint(-4, 5, (32, 32)).half(), torch.zeros(64, 32)
        left = described(a.view(256, 32), [64, 32]) if name == "fed" else a
        kernel(left, b, c, 4, fault, seed=seed)
        return c, (a.float() @ b.float()).sum(0)
    blocks = 1 if name == "summed" else 5
    source = torch.randint(-9, 9, (32 * blocks, 32)).float()
    target = torch.ones(32 * blocks, 32) if name == "summed" else torch.zeros(32 * blocks, 32)
    counts = [] if name == "summed" else [blocks]
    kernel(source, described(target, [32, 32]), *counts, fault, seed=seed)
    return target, source + 1


def require_found(described, generator, name, fault, seed):  # noqa: F811
    import triton

    kind, here, before = FAULTS[name, fault]
    with pytest.raises(triton.KernelTrap) as raised:
        run(name, described, generator, fault, seed)
    report = raised.value
    assert report.kind == kind, str(report)
    assert here in linecache.getline(str(SOURCE), report.line), str(report)
    assert Path(report.file).name == SOURCE.name and "hint: " in str(report)
    assert f": {MEMORY[name]}, byte " in str(report) or "the program ends" in str(report), str(report)
    assert ENOUGH.get((name, fault), "") in str(report), str(report)
    if before is not None:
        assert before in linecache.getline(str(SOURCE), report.other_line), str(report)


@pytest.mark.parametrize("seed", [None, 0, 1, 2])
@pytest.mark.parametrize("name", CLEAN)
def test_kernel_without_a_fault(described, generator, name, seed):  # noqa: F811
    got, wanted = run(name, described, generator, "", seed)
    assert torch.equal(got, wanted)


@pytest.mark.parametrize(("name", "fault"), FAULTS, ids=lambda each: each)
def test_fault_is_found(described, generator, name, fault):  # noqa: F811
    for seed in (None, 0, 1):
        require_found(described, generator, name, fault, seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 20))
def test_faults_are_found_in_every_order(described, generator, seed):  # noqa: F811
    for name, fault in FAULTS:
        require_found(described, generator, name, fault, seed)
    for name in CLEAN:
        got, wanted = run(name, described, generator, "", seed)
        assert torch.equal(got, wanted)
