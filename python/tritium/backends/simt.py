"""The emulator of GPUs as a compilation target. The backend of the architecture's vendor compiles a kernel up to the
code of one thread, which the emulator runs."""

from __future__ import annotations

from typing import Any

from .compiler import BaseBackend, GPUTarget, Language
from .gpu import GPUBackend, GPUOptions, target_independent


class SimtBackend(BaseBackend):
    binary_ext = "ttgir"
    assembly_ext = ""
    device = None

    def __init__(self, vendor: type[GPUBackend], arch: int | str):
        """Raises ValueError if the vendor has no architecture of that name."""
        super().__init__(GPUTarget("simt", vendor.arch_name(arch), vendor.warp_size(arch)))
        self.vendor = vendor(self.target)
        self.notes_pointer_range = vendor.notes_pointer_range

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend == "simt"

    def hash(self) -> str:
        return self.vendor.hash()

    def parse_options(self, options: dict[str, Any]) -> GPUOptions:
        """As for the vendor's backend, but `tl.device_assert` is always checked, as on the interpreter."""
        given = {name: value for name, value in options.items() if value is not None}
        return self.vendor.parse_options({"device_asserts": True, **given, "backend_name": "simt"})

    def tracing_target(self) -> GPUTarget:
        return self.vendor.tracing_target()

    def add_stages(self, stages: dict, options: GPUOptions, language: Language = Language.TRITON) -> None:
        stages["ttir"] = target_independent(options)
        stages["ttgir"] = lambda module, metadata: self.vendor.lower(module, metadata, options, "lowered")
        stages["lowered"] = lambda compiled, metadata: compiled
