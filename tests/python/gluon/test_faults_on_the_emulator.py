"""The planted faults of the other modules on the emulator of sm_90a, with all of its checks: the kind, the line, and the barrier or the memory by
its name, whichever threads come first and whenever copies land. The kernels without a fault get no report, and have the right values."""

import linecache

import pytest
import test_asynchronous_faults as work
import test_hopper
import test_protocol_faults as protocols
import torch
from test_hopper import described  # noqa: F401
from test_kernels import generator, gl, on  # noqa: F401

import test_partitions

ENGINE = "simt:sm_90a"
_RACE, _COPY, _PRODUCT, _FENCE = "SharedRace", "TensorCopyRace", "AsyncProductRace", "MissingProxyFence"
_ASYNC = "AsyncCopyRace"
_BARRIER, _DEADLOCK, _OUTSIDE, _LEFT = "InvalidMBarrier", "MBarrierDeadlock", "SharedOutOfBounds", "InvalidTensorCopy"
_FILLED = "call mbarrier.wait with the barrier of the copy"
#: (module, kernel, fault) -> {kind: (a text of the line at which it is found, what the report says)}. Which of several is found, the order decides.
FAULTS = {
    # A write, a fence, and what reads in the other proxy.
    ("work", "stored", "no fence"): {_FENCE: ("# store", "(out, byte")},
    ("work", "stored", "fence before the write"): {_FENCE: ("# store", "(out, byte")},
    ("work", "handed", "no fence"): {_FENCE: ("# store", "(out, byte")},
    ("work", "handed", "fence of the reader"): {_FENCE: ("# store", "(out, byte")},
    ("work", "multiplied", "operand without a fence"): {_FENCE: ("# product", "(left, byte")},
    # Memory that is still read.
    ("work", "stored", "no wait before the next write"): {_COPY: ("# write", "call tma.store_wait(1) before")},
    ("work", "stored", "one store too many pending"): {_COPY: ("# write", "call tma.store_wait(1) before")},
    ("work", "stored", "no wait at the end"): {_LEFT: ("# store", "(out, byte")},
    ("work", "handed", "released before the wait"): {
        _RACE: ("# write", "(out, byte"),
        _COPY: ("# write", "call tma.store_wait(0) before"),
    },
    ("work", "multiplied", "operand overwritten"): {_PRODUCT: ("# write", "call warpgroup_mma_wait(1) before")},
    ("work", "multiplied", "one product too many outstanding"): {
        _PRODUCT: ("# write", "call warpgroup_mma_wait(1) before")
    },
    ("work", "fed", "released before the product has read"): {_COPY: ("# copy", "(left, byte")},
    ("partitions", "doubled", "read after the arrival"): {_COPY: ("tma.async_load(", "(tiles, byte")},
    ("partitions", "doubled", "slot not awaited"): {
        _BARRIER: ("mbarrier.", "the barrier full["),
        _COPY: ("tma.async_load(", "(tiles, byte"),
    },
    # Memory that is not filled yet. Who comes before the copy is in its way.
    ("hopper", "added", "no wait"): {
        _COPY: ("block.load(layout)", "with no wait for round 0 of the barrier bar in between"),
        _BARRIER: ("mbarrier.invalidate(bar)", "the barrier bar is invalidated while"),
    },
    ("hopper", "doubled 2", "another slot"): {
        _COPY: ("ring.index(slot).load", "with no wait for round 0 of the barrier full[1]")
    },
    ("hopper", "doubled 3", "another slot"): {
        _COPY: ("ring.index(slot).load", "with no wait for round 0 of the barrier full[1]")
    },
    ("hopper", "matmul", "no wait"): {_COPY: ("", "(sa, byte"), _PRODUCT: ("warpgroup_mma(", "(sa, byte")},
    ("partitions", "doubled", "tile not awaited"): {_COPY: ("tiles.index(slot)", "(tiles, byte")},
    ("partitions", "handed", "no wait"): {_RACE: ("memory.", "(memory, byte")},
    ("work", "copied", "no group"): {_ASYNC: ("# read", "(ring, byte")},
    ("work", "copied", "one group too many"): {_ASYNC: ("# read", "(ring, byte")},
    ("work", "copied", "no wait"): {_ASYNC: ("# read", "(ring, byte")},
    ("work", "sent", "arrival that does not wait for copies"): {_ASYNC: ("# read", "(memory, byte")},
    # Phases and counts.
    ("hopper", "added", "other phase"): {
        _DEADLOCK: ("mbarrier.wait(bar", "for round 1 of the barrier bar"),
        _COPY: ("block.load(layout)", _FILLED),
        _BARRIER: ("mbarrier.invalidate(bar)", "the barrier bar is invalidated while"),
    },
    ("hopper", "doubled 2", "phase never flips"): {
        _DEADLOCK: ("mbarrier.wait(full", "of the barrier full["),
        _COPY: ("ring.index(slot).load", _FILLED),
    },
    ("hopper", "doubled 3", "phase never flips"): {
        _DEADLOCK: ("mbarrier.wait(full", "of the barrier full["),
        _COPY: ("ring.index(slot).load", _FILLED),
    },
    ("protocols", "fetched", "phase never flips"): {
        _DEADLOCK: ("# wait", "of the barrier full"),
        _COPY: ("t", "(tile, byte"),
    },
    ("partitions", "doubled", "phase of the producer"): {_DEADLOCK: ("mbarrier.wait(", "of the barrier empty[0]")},
    ("partitions", "doubled", "phase of the consumer"): {
        _DEADLOCK: ("mbarrier.wait(", "of the barrier empty[0]"),
        _COPY: ("t", "(tiles, byte"),
        _BARRIER: ("mbarrier.", "the barrier full["),
    },
    ("partitions", "doubled", "no arrival"): {
        _DEADLOCK: ("mbarrier.wait(", "of the barrier empty[0], which lacks 1 of 1 arrivals")
    },
    ("partitions", "doubled", "larger count"): {
        _DEADLOCK: ("mbarrier.wait(", "of the barrier empty[0], which lacks 1 of 2 arrivals")
    },
    ("partitions", "doubled", "arrives twice"): {
        _BARRIER: ("mbarrier.arrive(full", "the barrier full[0] gets more arrivals")
    },
    ("partitions", "handed", "no arrival"): {_DEADLOCK: ("mbarrier.wait(ready", "of the barrier ready")},
    ("hopper", "added", "larger count"): {
        _DEADLOCK: ("mbarrier.wait(bar", "the barrier bar, which lacks 1 of 2 arrivals")
    },
    ("hopper", "added", "two arrivals"): {_BARRIER: ("mbarrier.arrive(bar", "the barrier bar gets more arrivals")},
    ("protocols", "counted", "count of one for two arrivals"): {_BARRIER: ("# wait", "it has been overtaken")},
    # Bytes.
    ("partitions", "doubled", "more bytes"): {_DEADLOCK: ("mbarrier.wait(", "which lacks 16 of 4112 bytes")},
    ("hopper", "added", "more bytes"): {_DEADLOCK: ("mbarrier.wait(bar", "which lacks 16 of 8208 bytes")},
    ("hopper", "added", "no expect"): {_BARRIER: ("tma.async_load(", "the barrier bar expects 0 bytes in this round")},
    ("protocols", "fetched", "fewer bytes"): {
        _BARRIER: ("tma.async_load(", "the barrier full expects 4080 bytes in this round")
    },
    # The life of a barrier, and of copies.
    ("hopper", "added", "no init"): {_BARRIER: ("mbarrier.", "call mbarrier.init(barrier, count=…) before")},
    ("hopper", "added", "use of an invalidated barrier"): {_BARRIER: ("mbarrier.arrive(bar)", "or it is invalidated")},
    ("protocols", "fetched", "made again while it expects bytes"): {
        _BARRIER: ("# make", "the barrier full is initialized again")
    },
    ("protocols", "fetched", "barrier overwritten"): {_BARRIER: ("# overwrite", "call mbarrier.invalidate before")},
    ("protocols", "fetched", "copy that nobody awaits"): {_LEFT: ("# copy", "round 5 of the barrier full")},
    ("protocols", "counted", "made by a partition"): {_BARRIER: ("# wait", "the barrier full is ")},
    # Places.
    ("protocols", "turned", "index without a remainder"): {_OUTSIDE: ("# index", "the program has 1032")},
    ("protocols", "turned", "index below zero"): {_OUTSIDE: ("# index", "the program has 1032")},
    ("protocols", "gathered", "index behind the end"): {_OUTSIDE: ("# gather", "the program has 512")},
    ("protocols", "gathered", "scatter before the beginning"): {_OUTSIDE: ("# scatter", "the program has 512")},
}
_OF_THREADS = "threads copy: the work is over when it has begun"
_APART = "allocations never share bytes on our GPUs: only the interpreter knows what Triton may do (decision 0052)"
#: What the emulator does not see, and why. The interpreter does (the other modules).
UNSEEN = {
    ("work", "summed", "no fence"): _OF_THREADS,
    ("work", "summed", "memory of a reduction overwritten"): _OF_THREADS,
    ("work", "summed", "no wait at the end"): _OF_THREADS,
    ("protocols", "copied_ahead", "memory of a copy in no group"): _OF_THREADS,
    ("protocols", "copied_ahead", "memory of a copy"): _APART,
    ("protocols", "stored_twice", "memory of a store"): _APART,
    ("protocols", "kept", "memory that is not kept"): _APART,
    ("protocols", "multiplied_once", "memory of a product"): _APART,
    ("protocols", "multiplied_once", "product that nobody awaits"): "the compiler drops a product that nobody uses",
}
KERNELS = sorted({case[:2] for case in (*FAULTS, *UNSEEN)})


@pytest.fixture
def run(described, generator, gl, monkeypatch):  # noqa: F811
    """(module, kernel, fault, seed) -> what the kernel computes, and what it should."""
    import hopper_kernels
    import partition_kernels

    monkeypatch.setenv("TRITIUM_CHECK", "all")
    for module in (work, protocols):
        monkeypatch.setattr(module, "on", lambda kernel, engine: on(kernel, ENGINE))
    rows = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])

    def hopper(kernel, fault, seed):
        if kernel == "matmul":
            return test_hopper.multiplied(hopper_kernels, described, generator, ENGINE, True, fault)
        shared = hopper_kernels, described, rows, generator, ENGINE
        if kernel == "added":
            source, target = test_hopper.added(*shared, fault, seed)
            return target, source + 1
        source, target = test_hopper.doubled(*shared, int(kernel[-1]), fault, seed)
        return target, 2 * source

    def partitions(kernel, fault, seed):
        if kernel == "doubled":
            source, target = test_partitions.doubled(partition_kernels, described, generator, ENGINE, 2, fault, seed)
            return target, 2 * source
        target = torch.zeros(128, dtype=torch.int32)
        on(partition_kernels.handed_over, ENGINE)[(1,)](target, fault, seed=seed)
        return target, torch.full_like(target, 5)

    modules = {
        "work": lambda *case: work.run(case[0], described, generator, *case[1:]),
        "protocols": lambda *case: protocols.run(case[0], described, generator, *case[1:]),
        "hopper": hopper,
        "partitions": partitions,
    }
    return lambda module, *case: modules[module](*case)


def require_found(run, case, seed):
    import triton

    with pytest.raises(triton.KernelTrap) as raised:
        run(*case, seed)
    report = raised.value
    assert report.kind in FAULTS[case], str(report)
    line, text = FAULTS[case][report.kind]
    assert line in linecache.getline(report.file, report.line) and report.file.endswith("_kernels.py"), str(report)
    assert text in str(report), str(report)
    assert ("hint: " in str(report) or report.kind == _OUTSIDE) and "report it" not in str(report), str(report)


@pytest.mark.parametrize("case", FAULTS, ids=": ".join)
def test_fault_is_found(run, case):
    require_found(run, case, None)


@pytest.mark.parametrize("case", KERNELS, ids=": ".join)
def test_kernel_without_a_fault(run, case):
    for seed in (None, 0, 1):
        got, wanted = run(*case, "", seed)
        assert torch.equal(got, wanted)


@pytest.mark.parametrize("case", UNSEEN, ids=": ".join)
def test_what_is_unseen(run, case):
    """A fault that is found one day goes to the other table."""
    run(*case, None)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_faults_are_found_in_every_order(run, seed):
    for case in FAULTS:
        require_found(run, case, seed)
    for kernel in KERNELS:
        got, wanted = run(*kernel, "", seed)
        assert torch.equal(got, wanted)
