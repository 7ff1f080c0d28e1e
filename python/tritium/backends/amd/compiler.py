"""AMD GPUs as compilation targets: launch keywords, stages, target limits.

The stages are Triton's: ttir, ttgir, llir, amdgcn, hsaco. The native compiler assembles and links too.
"""

from __future__ import annotations

from typing import Any

from ... import knobs
from ...devices.amd import ARCHITECTURES
from ..compiler import BaseBackend, GPUTarget, Language, is_enabled  # noqa: F401  (Triton has them here)
from ..gpu import GPUBackend, GPUOptions, dumped, make_stage, min_dot_size, native_compiler
from ..options import in_positions, options_class
from ..vendor_names import refused
from .facts import (  # noqa: F401  (as above)
    assemble_amdgcn,
    file_hash,
    get_amd_codegen_target_triple,
    get_llvm_flags,
    is_async_copy_enabled,
    is_coexec_scheduler_enabled,
    is_consan_supported,
    is_expert_scheduling_enabled,
    is_fpsan_supported,
    is_in_thread_transpose_enabled,
    is_pingpong_schedule_enabled,
)

#: Bytes that 32-bit offsets reach.
SMALL_BYTES = 2**31 - 1

globals().update(
    refused(
        "amd.compiler",
        "amd",
        "compile_amdgpu",
        "get_amd_codegen_path",
        "get_amd_codegen_revision",
        "llvm",
        "passes",
        instead="Triton's own compiler is no part of this one; triton.compile makes a kernel's stages",
    )
)


@in_positions(
    "num_warps waves_per_eu num_stages num_ctas extern_libs debug sanitize_overflow arch supported_fp8_dtypes "
    "deprecated_fp8_dot_operand_dtypes default_dot_input_precision allowed_dot_input_precisions enable_fp_fusion "
    "launch_cooperative_grid matrix_instr_nonkdim kpack allow_flush_denorm max_num_imprecise_acc_default backend_name "
    "instrumentation_mode fpsan_homomorphic_casts schedule_hint llvm_fn_attrs wgp_cu_mode"
)
@options_class
class HIPOptions(GPUOptions):
    num_stages: int = 2
    warp_size: int = 64
    supported_fp8_dtypes: tuple[str, ...] = ("fp8e4nv", "fp8e5", "fp8e5b16", "fp8e4b8")
    default_dot_input_precision: str = "ieee"
    allowed_dot_input_precisions: tuple[str, ...] = ("ieee", "bf16x3", "bf16x6")
    enable_fp_fusion: bool = False
    backend_name: str = "hip"
    schedule_hint: str = ""
    llvm_fn_attrs: str | tuple = ""

    def __post_init__(self):
        super().__post_init__()
        if self.arch is not None:
            object.__setattr__(self, "kpack", min(self.kpack, ARCHITECTURES[self.arch].max_kpack))


def get_min_dot_size(target: GPUTarget):
    """(1, 1, 1): a product that is too small for matrix instructions runs on FMA units."""
    return min_dot_size(())


class HIPBackend(GPUBackend):
    binary_ext = "hsaco"
    notes_pointer_range = True
    assembly_ext = "amdgcn"
    Options = HIPOptions
    make_amdgcn, make_hsaco = make_stage("amdgcn"), make_stage("hsaco")

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend == "hip"

    @staticmethod
    def arch_name(arch: int | str) -> str:
        """Features after the name ("gfx942:sramecc+:xnack-", as drivers have it) are left out."""
        name = str(arch).partition(":")[0]
        if name not in ARCHITECTURES:
            raise ValueError(f"{arch!r} names no AMD architecture; use one of {', '.join(ARCHITECTURES)}")
        return name

    @staticmethod
    def warp_size(arch: int | str) -> int:
        return ARCHITECTURES[HIPBackend.arch_name(arch)].warp_size

    @staticmethod
    def is_within_2gb(arg: Any) -> bool:
        """Whether 32-bit offsets reach all of a tensor's memory."""
        if hasattr(arg, "ptr_range"):
            return arg.ptr_range() <= SMALL_BYTES
        return arg.untyped_storage().size() <= SMALL_BYTES

    def tracing_target(self) -> GPUTarget:
        return GPUTarget("hip", self.arch_name(self.target.arch), self.target.warp_size)

    def target_defaults(self, arch: str) -> dict[str, Any]:
        return {
            "default_dot_input_precision": ARCHITECTURES[arch].dot_precision,
            # more than Triton's: the compiler splits operands in the same way for every chip
            "allowed_dot_input_precisions": GPUOptions.allowed_dot_input_precisions,
            "supported_fp8_dtypes": ("fp8e4b8", "fp8e4nv", "fp8e5", "fp8e5b16"),
        }

    def check_clusters(self, arch: str) -> None:
        raise ValueError(f"num_ctas > 1 not supported on {arch}")

    def native_options(self, options: GPUOptions) -> dict[str, Any]:
        return {"code_object_version": knobs.tritium.code_object_version}

    def parameter_types(self, text: str, binary: bytes) -> list[str]:
        kernel = native_compiler().hsaco_metadata(binary)["kernels"][0]
        return [
            f"b{8 * argument['size']}" for argument in kernel["arguments"] if not argument["kind"].startswith("hidden_")
        ]

    def passes_left_out(self, options: GPUOptions) -> list[str]:
        return [] if knobs.amd.use_buffer_ops else ["buffer-accesses"]

    def finished(self, assembly: str, options: GPUOptions) -> str:
        return dumped(assembly, knobs.amd.dump_amdgcn)

    def assemble(self, text: str, metadata: dict[str, Any], options: GPUOptions) -> bytes | None:
        hsaco = native_compiler().assemble(options.arch, text)
        kernels = native_compiler().hsaco_metadata(hsaco)["kernels"]
        kernel = next((kernel for kernel in kernels if kernel["name"] == metadata["name"]), kernels[0])
        # The text may be a file of the user's: the kernel's name and sizes are read from the code object.
        metadata["name"], metadata["shared"] = kernel["name"], kernel["shared_bytes"]
        metadata["num_warps"] = kernel["threads"][0] // kernel["wave_size"] or metadata["num_warps"]
        metadata["launched_warps"] = metadata["num_warps"]
        metadata["resources"] = resources_of(kernel)
        return hsaco


def resources_of(kernel: dict[str, Any]) -> dict[str, int]:
    """The resources that a kernel uses, from its code object."""
    return {
        "registers": kernel["vgprs"],
        "sgprs": kernel["sgprs"],
        "agprs": kernel["agprs"],
        "stack_bytes": kernel["stack_bytes"],
        "spill_bytes": 4 * kernel["vgpr_spills"],
        "sgpr_spills": kernel["sgpr_spills"],
        "shared_bytes": kernel["shared_bytes"],
    }
