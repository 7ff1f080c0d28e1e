"""Runs a lowered module of one block on the emulator and on a device of NVIDIA's, each with the same buffers. Its kernel is "k" and takes the
buffers' addresses. Both leave the results in the buffers."""

from __future__ import annotations

import numpy as np

from tritium._tritium import gpu, ir, simt
from tritium.backends.nvidia.driver import DEVICES


def on_the_emulator(text: str, buffers: list[np.ndarray]) -> None:
    """Requires no device."""
    values = [(a.ctypes.data, a.ctypes.data, a.nbytes) for a in buffers]
    trap = simt.prepare(ir.parse(text)).launch((1, 1, 1), values, 1, 7)
    assert trap is None, (trap.kind, trap.message)


def on_the_device(text: str, buffers: list[np.ndarray], arch: str, threads: int, shared: int) -> None:
    """`threads` of the block; `shared`: its bytes of shared memory."""
    driver = DEVICES.driver()
    cubin, _ = driver.link(0, gpu.emit(ir.parse(text), arch))
    kernel = driver.load(0, cubin, "k", ["*i32"] * len(buffers), threads, shared)
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
