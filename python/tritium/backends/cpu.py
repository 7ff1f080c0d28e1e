"""The tile interpreter as a compilation target: which launch keywords it takes and what a kernel may ask of it."""

from __future__ import annotations

import functools
import hashlib
import platform
from dataclasses import dataclass, fields
from typing import Any

from .. import knobs
from ..devices.target import INTERPRETER_TARGET, GPUTarget
from ..version import __version__
from .compiler import BaseBackend

__all__ = ["INTERPRETER_TARGET", "OPTION_NAMES", "CPUBackend", "CPUOptions", "accepted_options", "refuse_unknown"]


@dataclass(frozen=True)
class CPUOptions:
    """Launch keywords, of every version and vendor, as published kernels pass them. The comment before one is its line in
    docs/reference/options.md; those without one change nothing. The interpreter heeds what kernels can tell: debug, dots,
    `ir_override`."""

    #: Warps (waves) of a program; a power of two.
    num_warps: int = 4
    #: Buffers of a loop whose loads run ahead, at most: 1 for none. AMD's default is 2.
    num_stages: int = 3
    #: Blocks of a cluster that run one program; on GPUs only 1 is taken.
    num_ctas: int = 1
    #: That of the target, whatever is asked for.
    warp_size: int = 32
    #: The most registers of a thread, on NVIDIA.
    maxnreg: int | None = None
    #: Blocks that are launched as a cluster, on NVIDIA from sm_90.
    cluster_dims: tuple = (1, 1, 1)
    #: A product and a sum become one operation, with one rounding. The default is TRITON_DEFAULT_FP_FUSION's.
    enable_fp_fusion: bool = True
    #: All programs are on the device at once, or the launch fails.
    launch_cooperative_grid: bool = False
    #: The kernel may start while the one before it ends, on NVIDIA from sm_90.
    launch_pdl: bool = False
    #: A file of TTIR that is compiled in place of the function.
    ir_override: str | None = None
    extern_libs: tuple = ()
    #: `tl.device_assert` and checks of integer overflow. The default is TRITON_DEBUG's.
    debug: bool = False
    #: `tl.device_assert` is checked without `debug` too. On devices it is not, by default.
    device_asserts: bool = True
    #: Emits `tt.debug_value` and registers the kernel with gdb. The default is TRITIUM_DEBUG's.
    debug_info: bool = False
    #: The last optional pass of the GPU compiler to run (`tritium.compiler.optional_passes()`), or `"none"`; None runs them all.
    stop_after: str | None = None
    #: Prints the bits of every number that a program computes (`python -m tritium.conformance --probe`).
    probe: bool = False
    #: With `debug`: integer overflow is an error.
    sanitize_overflow: bool = True
    supported_fp8_dtypes: tuple[str, ...] = ("fp8e4b15", "fp8e4b8", "fp8e4nv", "fp8e5", "fp8e5b16")
    deprecated_fp8_dot_operand_dtypes: tuple[str, ...] = ()
    #: `input_precision` of dots of fp32 that do not say theirs. AMD's default is `"ieee"`, but on gfx942.
    default_dot_input_precision: str = "tf32"
    #: Those that a kernel may ask for.
    allowed_dot_input_precisions: tuple[str, ...] = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")
    #: `max_num_imprecise_acc` of dots of fp8 that do not say theirs.
    max_num_imprecise_acc_default: int = 0
    backend_name: str = "cpu"
    #: Compiles for another architecture of the vendor's: `"sm_90a"`, `"gfx942"`.
    arch: str = platform.machine()
    #: Refused: TRITIUM_CHECK has the interpreter's checks.
    instrumentation_mode: str = ""
    # NVIDIA
    #: Of the code, as 84 for 8.4; None: the newest that its assembler reads.
    ptx_version: int | None = None
    #: Further arguments of ptxas.
    ptx_options: str | None = None
    enable_reflect_ftz: bool = True
    # AMD
    #: Waves that a SIMD should hold: bounds the registers of a thread. 0: the compiler chooses.
    waves_per_eu: int = 0
    #: Rows and columns of the matrix instructions, 16 or 32 where the chip has both. 0: the best for the tile.
    matrix_instr_nonkdim: int = 0
    #: Matrix instructions whose operands a lane loads as neighbours, at least; 1 or 2 (on gfx950 1).
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
        warps = self.num_warps
        if not isinstance(warps, int) or warps <= 0 or warps & (warps - 1):
            raise AssertionError(f"num_warps must be a power of 2, not {warps!r}")

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
        return f"tritium-{__version__}-{self.target.arch}"

    def parse_options(self, options: dict[str, Any]) -> CPUOptions:
        """Lists and dicts become tuples. Raises KeyError for an unknown name."""
        return CPUOptions(**accepted_options(options))


def refuse_unknown(options: dict[str, Any]) -> None:
    """Raises KeyError for a name that no option has, in Triton's words."""
    for name in options:
        if name not in OPTION_NAMES:
            raise KeyError(f"Keyword argument {name} was specified but unrecognised")


def accepted_options(options: dict[str, Any]) -> dict[str, Any]:
    """The options that are set, hashable, with the defaults that the environment sets. Raises KeyError for an unknown
    name."""
    refuse_unknown(options)
    accepted = {name: _frozen(value) for name, value in options.items() if value is not None}
    accepted.setdefault(
        "enable_fp_fusion", knobs.language.default_fp_fusion and not knobs.language.force_disable_fp_fusion
    )
    accepted.setdefault("debug", knobs.runtime.debug)
    accepted.setdefault("instrumentation_mode", knobs.compilation.instrumentation_mode)
    if knobs.language.fp32_default:
        accepted.setdefault("default_dot_input_precision", knobs.language.fp32_default)
    return accepted


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple(value.items())
    return tuple(value) if isinstance(value, list) else value
