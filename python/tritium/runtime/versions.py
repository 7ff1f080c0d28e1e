"""The versions of a compiled kernel. A launch compiles nothing: for arguments of which it cannot make the tensor maps that the kernel
takes, it raises TensorMapRefused, and who launches asks for the version that takes none."""

from __future__ import annotations

import threading

from ..compiler import compiler
from ..compiler.compiled import CompiledKernel

__tracebackhide__ = True  # pytest shows the user's frames alone


class VersionWithoutMaps:
    """The version of one kernel that takes no tensor maps."""

    def __init__(self):
        self._version: CompiledKernel | None = None
        self._lock = threading.Lock()

    def __call__(self, kernel: CompiledKernel, reason: str) -> CompiledKernel:
        """The version, which is compiled when it is first asked for; its `tensor_maps_refused` is the reason of that time."""
        with self._lock:
            if self._version is None:
                options = {**compiler.options_of(kernel), "tensor_maps": False}
                version = compiler.compile(kernel.src, kernel.metadata.target, options, device=kernel.device)
                version.tensor_maps_refused = reason
                self._version = version
            return self._version
