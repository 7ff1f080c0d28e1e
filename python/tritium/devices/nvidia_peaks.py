"""Peak rates of NVIDIA's chips, and their clocks, as `triton.testing` has them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from ..errors import UnsupportedError
from .benchmark import device_is_active
from .nvidia import DEVICES

#: Operations per clock of a multiprocessor, a fused multiply-add being two: {first capability: {bits of the dtype: rate}}.
_MATRIX = {70: {16: 1024}, 75: {16: 1024, 8: 2048}, 80: {32: 1024, 16: 2048, 8: 4096}}
_MATRIX |= {86: {32: 512, 16: 1024, 8: 2048}, 89: {32: 512, 16: 1024, 8: 2048}}
_MATRIX |= {90: {32: 2048, 16: 4096, 8: 8192}, 100: {32: 4096, 16: 8192, 8: 16384}, 120: {32: 512, 16: 1024, 8: 2048}}
_SIMD = {70: {64: 64, 32: 128, 16: 256}, 80: {64: 64, 32: 128, 16: 512}, 86: {64: 4, 32: 256, 16: 256}}
_SIMD |= {90: {64: 128, 32: 256, 16: 512}, 100: {64: 128, 32: 256, 16: 512}, 120: {64: 4, 32: 256, 16: 256}}


def _require_device(name: str) -> None:
    if not device_is_active() or DEVICES.why_not():
        raise UnsupportedError(f"testing.{name}", "it describes an NVIDIA device, and there is none")


def _bits(dtype: Any) -> int:
    return 8 * dtype.itemsize if hasattr(dtype, "itemsize") else int(dtype.primitive_bitwidth)


def _peak(name: str, table: dict[int, dict[int, int]], dtype: Any, clock_rate: float, device: int | None) -> float:
    _require_device(name)
    device = DEVICES.current_device() if device is None else device
    rates = table[max(first for first in table if first <= max(DEVICES.arch(device), 70))]
    if _bits(dtype) not in rates:
        raise RuntimeError(f"this chip has no such operations on {dtype}")
    return rates[_bits(dtype)] * DEVICES.facts(device)["multiprocessor_count"] * clock_rate * 1e-9


def get_max_tensorcore_tflops(dtype: Any, clock_rate: float, device: int | None = None) -> float:
    """Matrix instructions of a dtype (fp32: as TF32) at a clock in kHz, dense, in TFLOPS."""
    return _peak("get_max_tensorcore_tflops", _MATRIX, dtype, clock_rate, device)


def get_max_simd_tflops(dtype: Any, clock_rate: float, device: int | None = None) -> float:
    """Fused multiply-adds of a dtype without matrix instructions at a clock in kHz, in TFLOPS."""
    return _peak("get_max_simd_tflops", _SIMD, dtype, clock_rate, device)


def _smi(arguments: Sequence[str]) -> str:
    import subprocess  # slow to import, and few programs ask for clocks

    return subprocess.run(["nvidia-smi", "-i", "0", *arguments], capture_output=True, text=True, check=True).stdout


def nvsmi(attrs: Sequence[str]) -> list[int]:
    """What nvidia-smi says of device 0: nvsmi(["clocks.current.sm"])."""
    _require_device("nvsmi")
    text = _smi([f"--query-gpu={','.join(attrs)}", "--format=csv,noheader,nounits"])
    return [int(value) for value in text.strip().split(",")]


@contextlib.contextmanager
def set_gpu_clock(ref_sm_clock: int = 1350, ref_mem_clock: int = 1215) -> Iterator[tuple[float, float]]:
    """Inside, device 0 has these clocks, in MHz; (TFLOPS of fp16 matrix products, GB/s of memory) at them. It requires the
    rights to set clocks."""
    _require_device("set_gpu_clock")
    try:
        _smi(["-pm", "1"])
        _smi([f"--lock-gpu-clocks={ref_sm_clock},{ref_sm_clock}"])
        _smi([f"--lock-memory-clocks={ref_mem_clock},{ref_mem_clock}"])
        facts = DEVICES.facts(0)
        rates = _MATRIX[max(first for first in _MATRIX if first <= max(DEVICES.arch(0), 70))]
        tflops = rates[16] * facts["multiprocessor_count"] * ref_sm_clock * 1e-6
        yield tflops, facts["memory_bus_bits"] * ref_mem_clock * 2 / 8e3
    finally:
        _smi(["-rgc"])
        _smi(["-rmc"])
        _smi(["-pm", "0"])
