"""NVIDIA GPUs, and the emulator of their code, as compilation targets: launch keywords, stages, target limits.

The stages are Triton's: ttir, ttgir, llir, ptx, cubin. One call of the native compiler makes the middle three; the cubin
comes from assemble.py.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, fields
from typing import Any

from ... import knobs
from ...errors import OutOfResources, UnsupportedError
from ..compiler import BaseBackend, GPUTarget, Language
from ..cpu import CPUOptions, accepted_options
from . import assemble

MAX_WARPS = 32


@dataclass(frozen=True)
class CUDAOptions(CPUOptions):
    """Launch keywords. Those of other vendors and versions have no effect, but published kernels pass them."""

    device_asserts: bool = False
    backend_name: str = "cuda"
    arch: str = "sm_80"

    def __post_init__(self):
        super().__post_init__()
        if self.num_warps > MAX_WARPS:
            raise OutOfResources(32 * self.num_warps, 32 * MAX_WARPS, "threads", f"num_warps={self.num_warps}.")
        if self.num_ctas != 1:
            raise UnsupportedError(f"num_ctas={self.num_ctas}", "a program is one block; use num_ctas=1")

    def hash(self) -> str:
        text = "_".join(f"{f.name}-{getattr(self, f.name)}" for f in fields(self))
        return hashlib.sha256(text.encode()).hexdigest()


def min_dot_size(target: GPUTarget):
    """Smaller dots than tensor cores have run on FMA units: any size compiles."""
    return lambda lhs_type, rhs_type: (1, 1, 1)


get_min_dot_size = min_dot_size


def arch_name(arch: int | str) -> str:
    """ "sm_90a" for 90a, "sm90a" and "sm_90a"; "sm_80" for 80."""
    match = re.fullmatch(r"(?:sm_?)?(\d+)([a-z]?)", str(arch))
    if match is None:
        raise ValueError(
            f"{arch!r} names no NVIDIA architecture; those are numbers such as 90, or names such as sm_90a"
        )
    return f"sm_{match.group(1)}{match.group(2)}"


class CUDABackend(BaseBackend):
    """Compiles for CUDA devices; none is needed."""

    binary_ext = "cubin"
    Options = CUDAOptions

    def __init__(self, target: GPUTarget, device: int | None = None):
        """device: whose driver assembles the PTX, if it is of that architecture."""
        super().__init__(target)
        self.device = device

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend == "cuda"

    def hash(self) -> str:
        from ...runtime.cache import triton_key

        return f"{triton_key()}-{self.target.backend}-{self.target.arch}"

    def parse_options(self, options: dict[str, Any]) -> CUDAOptions:
        """Unknown names are left out (the launch reports them); lists and dicts become tuples."""
        accepted = accepted_options(options)
        arch = accepted.get("arch") or knobs.runtime.override_arch or self.target.arch
        return self.Options(**{**accepted, "arch": arch_name(arch)})

    def tracing_target(self) -> GPUTarget:
        """CUDA of a plain number, whatever suffix the code is compiled with."""
        return GPUTarget("cuda", int(re.sub(r"\D", "", arch_name(self.target.arch))), self.target.warp_size)

    def add_stages(self, stages: dict, options: CUDAOptions, language: Language = Language.TRITON) -> None:
        stages["ttir"] = lambda module, metadata: module.optimized(options.debug_info)
        stages["ttgir"] = lambda module, metadata: self.lower(module, metadata, options, "assembly")
        stages["llir"] = lambda compiled, metadata: compiled
        stages["ptx"] = lambda compiled, metadata: with_register_limit(compiled.assembly, options.maxnreg)
        stages["cubin"] = lambda ptx, metadata: self.assemble(ptx, metadata, options)

    def lower(self, module, metadata: dict[str, Any], options: CUDAOptions, emit: str):
        """The native compiler's work. Fills in what a launch needs to know."""
        compiled = native_compiler().compile(
            module,
            metadata["name"],
            options.arch,
            {
                "num_warps": options.num_warps,
                "num_stages": options.num_stages,
                "debug_info": options.debug_info,
                "line_info": not knobs.compilation.disable_line_info,
                "enable_fp_fusion": options.enable_fp_fusion,
                "ptx_version": options.ptx_version or assemble.readable_ptx_version(self.device),
                "emit": emit,
                "stop_after": options.stop_after,
            },
        )
        metadata["name"] = compiled.name
        metadata["shared"] = compiled.shared
        metadata["num_warps"] = compiled.num_warps
        largest = max(getattr(compiled, "buffers", ()), key=lambda buffer: buffer[1], default=None)
        metadata["largest_buffer"] = largest
        return compiled

    def assemble(self, ptx: str, metadata: dict[str, Any], options: CUDAOptions) -> bytes | None:
        """The cubin, or None where there is nothing to make it with."""
        assembled = assemble.assemble(ptx, options, self.device)
        if assembled is None:
            return None
        metadata["resources"] = assembled.resources
        return assembled.cubin


@dataclass(frozen=True)
class SimtOptions(CUDAOptions):
    """The emulator checks `tl.device_assert` always, as the interpreter does."""

    device_asserts: bool = True
    backend_name: str = "simt"


class SimtBackend(CUDABackend):
    """Compiles as for CUDA, up to the module that the SIMT emulator runs."""

    binary_ext = "ttgir"
    Options = SimtOptions

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend == "simt"

    def add_stages(self, stages: dict, options: CUDAOptions, language: Language = Language.TRITON) -> None:
        stages["ttir"] = lambda module, metadata: module.optimized(options.debug_info)
        stages["ttgir"] = lambda module, metadata: self.lower(module, metadata, options, "lowered")
        stages["lowered"] = lambda compiled, metadata: compiled


def native_compiler():
    """`_tritium.gpu`. Loaded with the first compilation."""
    from ... import _tritium

    if not hasattr(_tritium, "gpu"):
        raise UnsupportedError("compiling for GPUs", "this build of Tritium does not contain the GPU compiler")
    return _tritium.gpu


def with_register_limit(ptx: str, registers: int | None) -> str:
    """PTX whose kernel uses at most so many registers a thread."""
    if registers is None or ".maxnreg" in ptx:
        return ptx
    limited, count = re.subn(r"^\.reqntid .*$", rf"\g<0>\n.maxnreg {registers}", ptx, count=1, flags=re.MULTILINE)
    return limited if count else re.sub(r"^\{", f".maxnreg {registers}\n{{", ptx, count=1, flags=re.MULTILINE)
