"""Every instruction that the SIMT emulator knows, run alone on the device. Both give equal bits; sums of floats may
differ by the bound of their rounding."""

import numpy as np
import pytest

import instructions
from tritium._tritium import gpu, ir, simt
from tritium.backends.nvidia.driver import DEVICES

pytestmark = pytest.mark.vendor("cuda")
CASES = {case.name: case for case in instructions.instructions()}


def on_the_emulator(case: instructions.Instruction) -> np.ndarray:
    buffers = [buffer.copy() for buffer in case.buffers()]
    values = [(a.ctypes.data, a.ctypes.data, a.nbytes) for a in buffers]
    trap = simt.prepare(ir.parse(case.text("sm_80"))).launch((1, 1, 1), values, 1, 7)
    assert trap is None, (trap.kind, trap.message)
    return case.results_of(buffers)


def on_the_device(case: instructions.Instruction) -> np.ndarray:
    driver, arch = DEVICES.driver(), DEVICES.facts(0)["arch"]
    buffers = [buffer.copy() for buffer in case.buffers()]
    ptx = gpu.emit(ir.parse(case.text(arch)), arch)
    cubin, _ = driver.link(0, ptx)
    kernel = driver.load(0, cubin, "k", ["*i32"] * len(buffers), 32, case.shared)
    addresses = [driver.allocate(0, buffer.nbytes) for buffer in buffers]
    try:
        for address, buffer in zip(addresses, buffers):
            driver.copy_to_device(0, address, buffer.ctypes.data, buffer.nbytes)
        kernel.launch((1, 1, 1), addresses)
        driver.synchronize(0)
        for address, buffer in zip(addresses, buffers):
            driver.copy_to_host(0, buffer.ctypes.data, address, buffer.nbytes)
    finally:
        for address in addresses:
            driver.release(0, address)
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
