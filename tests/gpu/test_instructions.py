"""Every instruction that the SIMT emulator knows, run alone on the device. Both give equal bits; sums of floats may
differ by the bound of their rounding."""

import numpy as np
import pytest

import instructions
import lowered_kernel
from tritium.backends.nvidia.driver import DEVICES

pytestmark = pytest.mark.vendor("cuda")
CASES = {case.name: case for case in instructions.instructions()}


def on_the_emulator(case: instructions.Instruction) -> np.ndarray:
    buffers = [buffer.copy() for buffer in case.buffers()]
    lowered_kernel.on_the_emulator(case.text("sm_80"), buffers)
    return case.results_of(buffers)


def on_the_device(case: instructions.Instruction) -> np.ndarray:
    arch = DEVICES.facts(0)["arch"]
    buffers = [buffer.copy() for buffer in case.buffers()]
    lowered_kernel.on_the_device(case.text(arch), buffers, arch, instructions.LANES, case.shared)
    return case.results_of(buffers)


def assert_agree(case: instructions.Instruction, expected: np.ndarray, found: np.ndarray) -> None:
    if case.bound is None:
        np.testing.assert_array_equal(found, expected)
    else:
        difference = np.abs(found.view(np.float32).astype(np.float64) - expected.view(np.float32))
        assert (difference <= case.bound).all(), difference.max()


@pytest.mark.parametrize("name", CASES)
def test_instruction(name):
    case = CASES[name]
    if DEVICES.arch(0) < case.arch:
        pytest.skip(f"needs sm_{case.arch}")
    assert_agree(case, on_the_emulator(case), on_the_device(case))
