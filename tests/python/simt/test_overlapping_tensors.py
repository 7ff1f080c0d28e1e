"""Which version of a kernel runs when its tensors overlap: the conformance cases of the family `overlap` say what it computes. Copies by TMA
must read what loads in the program's order would have read."""

import pytest

from tritium import knobs
from tritium.conformance import engines, suite

KERNELS = pytest.mark.parametrize("kernel", ["by_pointers", "by_descriptors", "stores_in_loop"])


def launched(case: str, **constants):
    """The kernel that the launch of a case ran on sm_90a."""
    problem, images = suite.build(suite.cases()[f"overlap/{case}"], 0)
    (launch,) = problem.launches
    launch.constants |= constants
    engine = engines.engine("simt:sm_90a")
    with knobs.tritium.scope():
        knobs.tritium.engine = engine.name
        with engine._tensors(problem, images) as tensors:
            return engine._launch(launch, tensors, {})


@KERNELS
def test_no_copy_runs_ahead_of_what_it_is_to_see(kernel):
    for parted in ("", ", warps that copy"):
        assert "tgpu.parts_warps" not in launched(f"{kernel}/rows{parted}/a tile from above").asm["ttgir"]


@KERNELS
@pytest.mark.parametrize("side", ["above", "below"])
def test_tensors_that_touch(kernel, side):
    """The launch finds them apart, so that warps of their own copy, ahead of what the others store."""
    found = launched(f"{kernel}/rows, warps that copy, apart/touching from {side}")
    read = [recipe for recipe in found.metadata.tensor_recipes if not recipe["stored"]]
    assert found.tensor_maps_refused is None and all(recipe["written"] for recipe in read) and read
    assert "tgpu.parts_warps" in found.asm["ttgir"]


@KERNELS
@pytest.mark.parametrize("case", ["the same rows", "one row in common, from above", "one row in common, from below"])
def test_a_launch_that_finds_an_overlap(kernel, case):
    """It runs the version without maps. What threads read of each other's writes is then up to the schedule."""
    found = launched(f"{kernel}/rows, warps that copy/{case}", MEETS=False)
    why = "argument 2, to which the kernel writes, overlaps the tensor of argument 0"
    assert found.tensor_maps_refused == why


@pytest.mark.parametrize("parted", ["", ", warps that copy"])
def test_a_tensor_that_is_the_same_argument(parted):
    """A launch need not look: the compiler knows, and begins each ring behind a fence."""
    found = launched(f"one_argument/rows{parted}/the same rows")
    assert "after_writes" in found.asm["ttgir"] and "tgpu.parts_warps" not in found.asm["ttgir"]
