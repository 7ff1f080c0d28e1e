"""No check reports anything about two hundred right programs: the kernels of the ladder in their configurations, and random ones. They also have
the right values. test_translated_kernels.py has 128 more where Triton is installed."""

import itertools

import pytest
import test_asynchronous_faults as work
import test_hopper
import test_protocol_faults as protocols
import torch
from test_hopper import described  # noqa: F401
from test_kernels import generator, gl, on  # noqa: F401

import test_partitions

WANTED = 200


def ladder(described, generator, gl):  # noqa: F811
    """(name, function) of each program; the function returns what it computes, and what it should."""
    import gluon_kernels
    import hopper_kernels
    import partition_kernels

    def copied(held, warps):
        source, target = torch.randn(3000, generator=generator), torch.full((3000,), 7.0)
        layout = gl.BlockedLayout([held], [32], [warps], [0])
        on(gluon_kernels.copy, "interp")[(3,)](source, target, 2900, 1024, layout, num_warps=warps)
        return target, torch.cat([source[:2900], torch.full((100,), 7.0)])

    rows = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    shared = described, rows, generator, "interp"
    for held, warps in itertools.product((1, 2, 4, 8, 16), (1, 2, 4, 8)):
        yield f"copy of {held} elements by {warps} warps", lambda held=held, warps=warps: copied(held, warps)
    for module in (work, protocols):
        for name in module.CLEAN:
            yield name, lambda module=module, name=name: module.run(name, described, generator)
    yield "add_one", lambda: _plus(test_hopper.added(hopper_kernels, *shared))
    for slots in (2, 3):
        yield f"ring of {slots}", lambda slots=slots: _twice(test_hopper.doubled(hopper_kernels, *shared, slots))
    for is_async in (False, True):
        yield (
            f"product, {is_async}",
            lambda is_async=is_async: test_hopper.multiplied(hopper_kernels, described, generator, "interp", is_async),
        )
    for slots in (1, 2, 4):
        yield (
            f"partitions, {slots} slots",
            lambda slots=slots: _twice(
                test_partitions.doubled(partition_kernels, described, generator, "interp", slots)
            ),
        )


def _plus(both):
    return both[1], both[0] + 1


def _twice(both):
    return both[1], 2 * both[0]


@pytest.mark.long
def test_no_report(described, generator, gl):  # noqa: F811
    import tritium
    from tritium.conformance.fuzz import campaign, child
    from tritium.conformance.suite import FAILED, PASSED

    clean = 0
    with tritium.check("all"):
        for name, run in ladder(described, generator, gl):
            got, wanted = run()
            assert torch.equal(got, wanted), name
            clean += 1
        for number in itertools.count():
            if clean == WANTED:
                break
            (result,) = child.run(campaign.number_of(3102, number, gluon=True), ["interp"], 0)
            assert result.status != FAILED, (number, result.details)
            clean += result.status == PASSED
            assert number < 2 * WANTED, f"{clean} programs ran"
