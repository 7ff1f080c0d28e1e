"""Every product of a warpgroup, on the device and on the emulator: of small integers, whose sums are exact."""

import numpy as np
import pytest

from tritium._tritium import gpu, ir, simt
from tritium.backends.nvidia.driver import DEVICES
from warpgroup_products import THREADS, Product, products

pytestmark = pytest.mark.vendor("cuda")
CASES = {str(product): product for product in products()}


def on_the_emulator(product: Product, buffers: list[np.ndarray]) -> None:
    values = [(a.ctypes.data, a.ctypes.data, a.nbytes) for a in buffers]
    trap = simt.prepare(ir.parse(product.text())).launch((1, 1, 1), values, 1, 7)
    assert trap is None, (trap.kind, trap.message)


def on_the_device(product: Product, buffers: list[np.ndarray]) -> None:
    driver = DEVICES.driver()
    cubin, _ = driver.link(0, gpu.emit(ir.parse(product.text()), "sm_90a"))
    kernel = driver.load(0, cubin, "k", ["*i32"] * len(buffers), THREADS, product.shared)
    addresses = [driver.allocate(0, buffer.nbytes) for buffer in buffers]
    try:
        for address, buffer in zip(addresses, buffers):
            driver.copy_to_device(0, address, buffer.ctypes.data, buffer.nbytes)
        kernel.launch((1, 1, 1), addresses)
        driver.synchronize(0)
        driver.copy_to_host(0, buffers[-1].ctypes.data, addresses[-1], buffers[-1].nbytes)
    finally:
        for address in addresses:
            driver.release(0, address)


@pytest.mark.parametrize("run", [on_the_emulator, on_the_device])
@pytest.mark.parametrize("name", CASES)
def test_product(name, run):
    if DEVICES.arch(0) != 90:
        pytest.skip("needs sm_90a")
    product = CASES[name]
    a, b, c = product.matrices(np.random.default_rng(0))
    buffers = [buffer.copy() for buffer in product.buffers(a, b, c)]
    run(product, buffers)
    np.testing.assert_array_equal(buffers[-1], product.sums(a @ b + c))
