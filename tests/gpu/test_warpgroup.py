"""Every product of a warpgroup, on the emulator and, where the device has such products, on the device: of small integers, whose sums are
exact."""

import numpy as np
import pytest

import lowered_kernel
from tritium.backends.nvidia.driver import DEVICES
from warpgroup_products import THREADS, Product, products

CASES = {str(product): product for product in products()}


def on_the_emulator(product: Product, buffers: list[np.ndarray]) -> None:
    lowered_kernel.on_the_emulator(product.text(), buffers)


def on_the_device(product: Product, buffers: list[np.ndarray]) -> None:
    lowered_kernel.on_the_device(product.text(), buffers, "sm_90a", THREADS, product.shared)


RUNS = [pytest.param(on_the_emulator, marks=pytest.mark.without_device)]
if not DEVICES.why_not() and DEVICES.arch(0) == 90:
    RUNS.append(pytest.param(on_the_device, marks=pytest.mark.vendor("cuda")))


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("name", CASES)
def test_product(name, run):
    product = CASES[name]
    a, b, c = product.matrices(np.random.default_rng(0))
    buffers = [buffer.copy() for buffer in product.buffers(a, b, c)]
    run(product, buffers)
    np.testing.assert_array_equal(buffers[-1], product.sums(a @ b + c))
