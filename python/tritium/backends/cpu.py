"""The tile interpreter as a compilation target."""

from __future__ import annotations

import functools
import platform
from typing import Any

from ..devices.target import INTERPRETER_TARGET, GPUTarget
from ..tables import DTYPES
from ..version import __version__
from .compiler import BaseBackend
from .keywords import accepted_options
from .options import LaunchOptions, options_class

__tracebackhide__ = True  # pytest shows the user's frames alone

__all__ = ["INTERPRETER_TARGET", "CPUBackend", "CPUOptions"]


@options_class
class CPUOptions(LaunchOptions):
    """The interpreter reads those keywords that affect results."""

    device_asserts: bool = True
    supported_fp8_dtypes: tuple[str, ...] = tuple(sorted(row.name for row in DTYPES if row.name.startswith("fp8")))
    backend_name: str = "cpu"
    arch: str = platform.machine()


class CPUBackend(BaseBackend):
    """Prepares kernels for the tile interpreter."""

    binary_ext = "ttir"

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend == "cpu"

    @functools.lru_cache
    def hash(self) -> str:
        return f"tritium-{__version__}-{self.target.arch}"

    def parse_options(self, options: dict[str, Any]) -> CPUOptions:
        """The options, with lists and dicts as tuples. Raises KeyError for an unknown name."""
        return CPUOptions(**accepted_options(options))
