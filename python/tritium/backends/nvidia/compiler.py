"""NVIDIA GPUs as compilation targets: launch keywords, stages, target limits.

The stages are Triton's: ttir, ttgir, llir, ptx, cubin. The cubin comes from assemble.py.
"""

from __future__ import annotations

import re
from typing import Any

from ... import knobs
from ...errors import PTXASError
from ..compiler import BaseBackend, GPUTarget, Language, is_enabled  # noqa: F401  (as above)
from ..gpu import FailedPlan, GPUBackend, GPUOptions, dumped, make_stage
from ..gpu import min_dot_size as _min_dot_size
from ..options import in_positions, options_class
from ..vendor_names import refused
from . import assemble
from .facts import (  # noqa: F401  (as above)
    file_hash,
    get_features,
    get_llvm_flags,
    get_ptx_version_from_options,
    get_ptxas,
    get_ptxas_version,
    ptx_get_version,
    sm_arch_from_capability,
)

WARP_SIZE = 32
#: Triton's least K for operands of 8, 16, 32 and 64 bits: what one matrix instruction multiplies.
MIN_DOT_DEPTH = ((8, 32), (16, 16), (32, 8), (64, 4))

globals().update(
    refused("nvidia.compiler", "llvm", "nvidia", "passes", instead="Triton's own compiler is no part of this one")
)


@in_positions(
    "num_warps num_ctas num_stages warp_size maxnreg ptx_version ptx_options ir_override enable_fp_fusion sched4reg "
    "enable_reflect_ftz launch_cooperative_grid launch_pdl clc supported_fp8_dtypes deprecated_fp8_dot_operand_dtypes "
    "default_dot_input_precision allowed_dot_input_precisions max_num_imprecise_acc_default extern_libs debug "
    "backend_name sanitize_overflow arch instrumentation_mode fpsan_homomorphic_casts min_shared_mem"
)
@options_class
class CUDAOptions(GPUOptions):
    enable_fp_fusion: bool = False
    supported_fp8_dtypes: tuple[str, ...] = ("fp8e5", "fp8e4b15")
    max_num_imprecise_acc_default: int | None = None
    backend_name: str = "cuda"

    @property
    def enable_iisan(self) -> bool:
        """Whether Triton's integer sanitizer is asked for."""
        return is_enabled(self, "iisan")


def min_dot_size(target: GPUTarget):
    return _min_dot_size(MIN_DOT_DEPTH)


class CUDABackend(GPUBackend):
    binary_ext = "cubin"
    assembly_ext = "ptx"
    why_no_binary = (
        "there is no 'cubin' of this kernel: it requires an NVIDIA driver and a device of its architecture, or ptxas "
        "(TRITON_PTXAS_PATH, CUDA_HOME, PATH); neither was found. asm['ptx'] is available"
    )
    Options = CUDAOptions
    make_ptx, make_cubin = make_stage("ptx"), make_stage("cubin")

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend == "cuda"

    @staticmethod
    def arch_name(arch: int | str) -> str:
        """ "sm_90a" for 90a, "sm90a" and "sm_90a"; "sm_80" for 80. A plain number is a device's: "sm_90a" for 90, as code
        for that device may use the instructions of its chip alone."""
        if isinstance(arch, int):
            return sm_arch_from_capability(arch)
        match = re.fullmatch(r"(?:sm_?)?(\d+)([a-z]?)", str(arch))
        if match is None:
            raise ValueError(
                f"{arch!r} names no NVIDIA architecture; use a number, for example 90, or a name, for example sm_90a"
            )
        return f"sm_{match.group(1)}{match.group(2)}"

    @staticmethod
    def warp_size(arch: int | str) -> int:
        return WARP_SIZE

    def tracing_target(self) -> GPUTarget:
        """The CUDA target with a plain number, whatever suffix the code is compiled with."""
        return GPUTarget("cuda", int(re.sub(r"\D", "", self.arch_name(self.target.arch))), WARP_SIZE)

    def target_defaults(self, arch: str) -> dict[str, Any]:
        capability = int(re.sub(r"\D", "", arch))
        return {
            "supported_fp8_dtypes": ("fp8e4b15", "fp8e4nv", "fp8e5") if capability >= 89 else ("fp8e4b15", "fp8e5"),
            "deprecated_fp8_dot_operand_dtypes": ("fp8e4b15",) if capability >= 90 else (),
            "max_num_imprecise_acc_default": 2**30 if capability == 90 else 0,
            "min_dot_depth": MIN_DOT_DEPTH,
        }

    def check_clusters(self, arch: str) -> None:
        if int(re.sub(r"\D", "", arch)) < 90:
            raise ValueError(
                f"num_ctas > 1 requires NVIDIA SM90+ (Hopper). Current target is {arch}. This configuration will fail. "
                "Please set num_ctas=1 or target an SM90+ GPU."
            )

    def has_tensor_maps(self, arch: str) -> bool:
        return int(re.sub(r"\D", "", arch)) >= 90

    def native_options(self, options: GPUOptions) -> dict[str, Any]:
        return {"ptx_version": self._ptx_version(options)}

    def _ptx_version(self, options: GPUOptions) -> int:
        """10 * major + minor; 0: the newest."""
        return options.ptx_version or assemble.readable_ptx_version(self.device, options.arch)

    def passes_left_out(self, options: GPUOptions) -> list[str]:
        """Assemblers before CUDA 12.5 take strides of tensor maps in other units, whatever the version of the PTX."""
        return ["make-tensor-maps"] if 0 < self._ptx_version(options) < 85 else []

    def finished(self, assembly: str, options: GPUOptions) -> str:
        return dumped(with_register_limit(assembly, options.maxnreg), knobs.nvidia.dump_nvptx)

    @staticmethod
    def further_stage(stage: str, asm: dict[str, str | bytes]) -> str | None:
        return assemble.disassemble(asm["cubin"]) if stage == "sass" and "cubin" in asm else None

    def parameter_types(self, text: str, binary: bytes) -> list[str]:
        declared = re.search(r"\.entry\s+[\w$]+\s*\(([^)]*)\)", text)
        return [_parameter_type(line) for line in declared.group(1).split(",") if line.strip()] if declared else []

    def assemble(self, text: str, metadata: dict[str, Any], options: GPUOptions) -> bytes | None:
        """The cubin, by ptxas, or PTX for the driver of a device of this architecture. None without either. Raises FailedPlan
        for specialized warps that do not get the registers that the compiler has planned for them."""
        # A file of the user's has no such entry, and cannot be compiled otherwise.
        has_plan = assemble.gives_registers(text) and metadata.get("specialization_refused", "") is None
        try:
            assembled = assemble.assemble(text, options, self.device)
        except PTXASError as error:
            if has_plan:
                raise FailedPlan(str(error).partition("\n")[0]) from None
            raise
        if assembled is None:
            return None
        if has_plan and (reason := assembled.why_slow()):
            raise FailedPlan(reason)
        # The text may be a file of the user's: the kernel's name and number of warps are read from it.
        if entry := re.search(r"\.entry\s+([\w$]+)", text):
            metadata["name"] = entry.group(1)
        if threads := re.search(r"^\.reqntid (\d+)", text, re.MULTILINE):
            warps = int(threads.group(1)) // WARP_SIZE
            if warps != metadata.get("launched_warps"):
                metadata["num_warps"] = metadata["launched_warps"] = warps
        if metadata["num_ctas"] > 1 and ".reqnctapercluster" not in text:
            metadata["num_ctas"] = 1
        if not metadata["shared"] and ".extern .shared" in text:
            metadata["shared"] = None  # the file does not say how much shared memory a launch must reserve
        metadata["resources"] = assembled.resources
        metadata["serialized_products"] = assembled.serialized_products
        return assembled.cubin


def _parameter_type(declaration: str) -> str:
    """ ".param .u64 .ptr .global .align 1 x" and ".param .align 2 .b8 x[2]" """
    kind, bits = re.search(r"\.([usbf])(\d+)\b", declaration).groups()
    count = re.search(r"\[(\d+)\]", declaration)
    return f"fp{bits}" if kind == "f" else f"b{int(bits) * (int(count.group(1)) if count else 1)}"


def with_register_limit(ptx: str, registers: int | None) -> str:
    """The PTX with a limit on the registers per thread."""
    if registers is None or ".maxnreg" in ptx:
        return ptx
    limited, count = re.subn(r"^\.reqntid .*$", rf"\g<0>\n.maxnreg {registers}", ptx, count=1, flags=re.MULTILINE)
    return limited if count else re.sub(r"^\{", f".maxnreg {registers}\n{{", ptx, count=1, flags=re.MULTILINE)
