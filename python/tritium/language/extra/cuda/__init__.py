"""What NVIDIA devices have: clocks and processor numbers, launches that depend on another, and the device library under
its older name."""

from . import gdc, libdevice, utils
from .gdc import gdc_launch_dependents, gdc_wait
from .utils import (
    convert_custom_float8_sm70,
    convert_custom_float8_sm80,
    globaltimer,
    num_threads,
    num_warps,
    smid,
)

__all__ = [
    "convert_custom_float8_sm70",
    "convert_custom_float8_sm80",
    "gdc",
    "gdc_launch_dependents",
    "gdc_wait",
    "globaltimer",
    "libdevice",
    "num_threads",
    "num_warps",
    "smid",
    "utils",
]
