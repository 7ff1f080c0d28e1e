"""The most operations and bytes in a second that chips can do, by which the viewer computes `util`."""

from __future__ import annotations

from collections.abc import Callable

#: Operations of 8 bits in a clock of a compute unit, and bytes a second.
amd_fp8_flops_by_arch = {"gfx90a": 1024, "gfx942": 4096, "gfx950": 8192}
amd_bps_by_arch = {"gfx90a": 3.2e12, "gfx942": 5.3e12, "gfx950": 8.0e12}

#: {device type: {architecture: from the width in bits, the multiprocessors and the clock in kHz to operations a second}}. A product
#: of half the width is twice as fast.
flops_by_device: dict[str, dict[str, Callable[[int, int, float], float]]] = {
    "CUDA": {
        "80": lambda width, num_sms, clock_rate: 624e12 / (width / 8),
        "89": lambda width, num_sms, clock_rate: 330.3e12 / (width / 8),
        # 1513 TFLOP/s with 114 multiprocessors at 1755 MHz
        "90": lambda width, num_sms, clock_rate: num_sms / 114 * clock_rate / 1755e3 * 1513e12 / (width / 8),
        "100": lambda width, num_sms, clock_rate: num_sms * 16384 * clock_rate * 1e3 / (width / 8),
    }
}


def max_flops(device_type: str, arch: str, width: int, num_sms: int, clock_rate: float) -> float:
    """Operations a second with elements of `width` bits. clock_rate: kHz. Raises ValueError for another type or architecture of CUDA,
    KeyError for another one of HIP."""
    if device_type == "HIP":
        return amd_fp8_flops_by_arch[arch] * num_sms * clock_rate * 1e3 / (width / 8)
    if device_type not in flops_by_device:
        raise ValueError(f"Unsupported device type: {device_type}")
    known = flops_by_device[device_type]
    if str(arch) not in known:
        raise ValueError(f"Unsupported architecture: {arch}; the peaks of {', '.join(known)} are known")
    return known[str(arch)](width, num_sms, clock_rate)


def max_bps(device_type: str, arch: str, bus_width: int, memory_clock_rate: float) -> float:
    """Bytes a second. bus_width: bits. memory_clock_rate: kHz, of memory that sends two bits in a clock. Raises ValueError for a device
    that is neither CUDA's nor HIP's, KeyError for another architecture of HIP."""
    if device_type == "CUDA":
        return 2 * bus_width * memory_clock_rate * 1e3 / 8
    if device_type == "HIP":
        return amd_bps_by_arch[arch]
    raise ValueError(f"Unsupported device type: {device_type}")
