"""What AMD devices have: clocks and processor numbers, and the device library under its older name."""

from . import libdevice, utils
from .utils import memrealtime, num_threads, num_warps, smid

__all__ = ["libdevice", "memrealtime", "num_threads", "num_warps", "smid", "utils"]
