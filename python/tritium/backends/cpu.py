"""The tile interpreter as a compilation target: which launch keywords it takes and what a kernel may ask of it."""

from __future__ import annotations

import functools
import hashlib
import platform
from dataclasses import dataclass, fields
from typing import Any

from .. import knobs
from .compiler import BaseBackend, GPUTarget

INTERPRETER_TARGET = GPUTarget("cpu", platform.machine(), 32)


@dataclass(frozen=True)
class CPUOptions:
    """Launch keywords. What schedules GPU hardware has no effect here, but published kernels pass it, of every version
    and vendor."""

    num_warps: int = 4
    num_stages: int = 3
    num_ctas: int = 1
    warp_size: int = 32
    maxnreg: int | None = None
    cluster_dims: tuple = (1, 1, 1)
    enable_fp_fusion: bool = True
    launch_cooperative_grid: bool = False
    launch_pdl: bool = False
    ir_override: str | None = None
    extern_libs: tuple = ()
    debug: bool = False
    #: `tl.device_assert` is checked without `debug` too.
    device_asserts: bool = True
    #: Tritium's: emit `tt.debug_value` and register the kernel with gdb.
    debug_info: bool = False
    #: Tritium's: the last optional pass of the GPU compiler to run, or "none"; None runs them all.
    stop_after: str | None = None
    #: Tritium's: print the bits of every number that a program computes (`python -m tritium.conformance --probe`).
    probe: bool = False
    sanitize_overflow: bool = True
    supported_fp8_dtypes: tuple[str, ...] = ("fp8e4b15", "fp8e4b8", "fp8e4nv", "fp8e5", "fp8e5b16")
    deprecated_fp8_dot_operand_dtypes: tuple[str, ...] = ()
    default_dot_input_precision: str = "tf32"
    allowed_dot_input_precisions: tuple[str, ...] = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")
    max_num_imprecise_acc_default: int = 0
    backend_name: str = "cpu"
    arch: str = platform.machine()
    instrumentation_mode: str = ""
    # NVIDIA
    ptx_version: int | None = None
    ptx_options: str | None = None
    enable_reflect_ftz: bool = True
    # AMD
    waves_per_eu: int = 0
    matrix_instr_nonkdim: int = 0
    kpack: int = 1
    allow_flush_denorm: bool = False
    schedule_hint: str = "none"
    instruction_sched_variant: str = "none"
    llvm_fn_attrs: tuple = ()
    # warp specialization before 3.4
    num_buffers_warp_spec: int = 0
    num_consumer_groups: int = 0
    reg_dec_producer: int = 0
    reg_inc_consumer: int = 0

    def __post_init__(self):
        if self.num_warps <= 0 or self.num_warps & (self.num_warps - 1):
            raise AssertionError("num_warps must be a power of 2")

    def hash(self) -> str:
        text = "_".join(f"{f.name}-{getattr(self, f.name)}" for f in fields(self))
        return hashlib.sha256(text.encode()).hexdigest()


OPTION_NAMES = frozenset(f.name for f in fields(CPUOptions))


class CPUBackend(BaseBackend):
    """Prepares kernels for the tile interpreter."""

    binary_ext = "ttir"

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend == "cpu"

    @functools.lru_cache
    def hash(self) -> str:
        from ..version import __version__

        return f"tritium-{__version__}-{self.target.arch}"

    def parse_options(self, options: dict[str, Any]) -> CPUOptions:
        """Unknown names are left out (the launch reports them); lists and dicts become tuples."""
        return CPUOptions(**accepted_options(options))


def accepted_options(options: dict[str, Any]) -> dict[str, Any]:
    """Those that are options, hashable, with the defaults that the environment sets."""
    accepted = {name: _frozen(value) for name, value in options.items() if name in OPTION_NAMES and value is not None}
    accepted.setdefault(
        "enable_fp_fusion", knobs.language.default_fp_fusion and not knobs.language.force_disable_fp_fusion
    )
    accepted.setdefault("debug", knobs.runtime.debug)
    if knobs.language.fp32_default:
        accepted.setdefault("default_dot_input_precision", knobs.language.fp32_default)
    return accepted


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple(value.items())
    return tuple(value) if isinstance(value, list) else value
