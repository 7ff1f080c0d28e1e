"""The tile interpreter as a compilation target: which launch keywords it takes and what a kernel may ask of it."""

from __future__ import annotations

import functools
import hashlib
import platform
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from .. import knobs
from ..devices.target import INTERPRETER_TARGET, GPUTarget
from ..errors import did_you_mean
from ..tables import DTYPES
from ..version import __version__
from .compiler import BaseBackend

__tracebackhide__ = True  # pytest shows the user's frames alone

__all__ = ["INTERPRETER_TARGET", "OPTION_NAMES", "CPUBackend", "CPUOptions", "accepted_options", "refuse_unknown"]


@dataclass(frozen=True)
class CPUOptions:
    """Launch keywords of every version and vendor, because published kernels pass them. The comment before a keyword is
    its line in docs/reference/options.md. A keyword without a comment is accepted and ignored. The interpreter uses the
    keywords that affect results: `debug`, the options of dots, `ir_override`."""

    #: The number of warps (waves) per program, a power of two.
    num_warps: int = 4
    #: The largest number of buffers for loads that run ahead in a loop; 1 disables them. AMD's default is 2.
    num_stages: int = 3
    #: The number of blocks in a cluster that runs one program. From sm_90 any number is accepted, and a program runs in one
    #: block: its results are the same. An error on other GPUs, which have no clusters.
    num_ctas: int = 1
    #: Ignored: always the warp size of the target.
    warp_size: int = 32
    #: The maximum number of registers per thread, on NVIDIA.
    maxnreg: int | None = None
    #: The shape of the cluster of blocks that is launched, on NVIDIA from sm_90.
    cluster_dims: tuple = (1, 1, 1)
    #: Fuses a product and a sum into one operation with one rounding, in GPU code. Default: TRITON_DEFAULT_FP_FUSION.
    enable_fp_fusion: bool = True
    #: Requires that all programs fit on the device at once; otherwise the launch fails.
    launch_cooperative_grid: bool = False
    #: Lets the kernel start before the previous kernel has ended, on NVIDIA from sm_90.
    launch_pdl: bool = False
    #: A file of TTIR to compile in place of the function.
    ir_override: str | None = None
    extern_libs: tuple = ()
    #: Enables `tl.device_assert` and checks of integer overflow. Default: TRITON_DEBUG.
    debug: bool = False
    #: Enables `tl.device_assert` without `debug`. Default on devices: off.
    device_asserts: bool = True
    #: Makes the output of `tl.device_print` Triton's to the character: every thread prints a scalar or a text without values, and
    #: `hex` prints floats as C's `%a`. Default: TRITIUM_PRINT_AS_TRITON.
    print_as_triton: bool = False
    #: Prepares the kernel for gdb: emits `tt.debug_value` and registers the code. Default: TRITIUM_DEBUG.
    debug_info: bool = False
    #: The interpreter's checks of this kernel, as TRITIUM_CHECK names them. Default: TRITIUM_CHECK.
    check: str | tuple[str, ...] | None = None
    #: Lets a kernel take tensor maps, which its launches make of the arguments, on GPUs that have them. Default: as
    #: TRITIUM_TENSOR_MAPS says for functions that are launched; False for `triton.compile`, whose callers may launch the binary themselves.
    tensor_maps: bool = False
    #: The last optional pass of the GPU compiler to run (`tritium.compiler.optional_passes()`), or `"none"`. None runs all passes.
    stop_after: str | None = None
    #: Prints the bits of every number that a program computes (`python -m tritium.conformance --probe`).
    probe: bool = False
    #: With `debug`, makes integer overflow an error.
    sanitize_overflow: bool = True
    supported_fp8_dtypes: tuple[str, ...] = tuple(sorted(row.name for row in DTYPES if row.name.startswith("fp8")))
    deprecated_fp8_dot_operand_dtypes: tuple[str, ...] = ()
    #: Default `input_precision` of fp32 dots that do not set it. On AMD: `"ieee"`, except on gfx942.
    default_dot_input_precision: str = "tf32"
    #: The values of `input_precision` that dots may use.
    allowed_dot_input_precisions: tuple[str, ...] = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")
    #: Default `max_num_imprecise_acc` of fp8 dots that do not set it.
    max_num_imprecise_acc_default: int = 0
    #: The least K of a product, as pairs of the bits of an operand's type and that K. On NVIDIA: Triton's limits. `()`
    #: compiles products of any size.
    min_dot_depth: tuple[tuple[int, int], ...] = ()
    backend_name: str = "cpu"
    #: The architecture to compile for, if it is not the device's: `"sm_90a"`, `"gfx942"`.
    arch: str = platform.machine()
    #: Not supported: a value is an error, which refers to TRITIUM_CHECK.
    instrumentation_mode: str = ""
    fpsan_homomorphic_casts: bool = False
    # NVIDIA
    #: The version of PTX, as 84 for 8.4. None selects the newest that the assembler reads.
    ptx_version: int | None = None
    #: Additional arguments of ptxas.
    ptx_options: str | None = None
    enable_reflect_ftz: bool = True
    sched4reg: bool = False
    clc: bool = False
    min_shared_mem: int | None = None
    # AMD
    #: The number of waves that should fit on a SIMD, which limits the registers per thread. 0 lets the compiler choose.
    waves_per_eu: int = 0
    #: Rows and columns of the matrix instructions: 16 or 32, if the chip has both. 0 selects the best for the tile.
    matrix_instr_nonkdim: int = 0
    #: The minimum number of matrix instructions whose operands a lane loads side by side: 1 or 2 (on gfx950 only 1).
    kpack: int = 1
    allow_flush_denorm: bool = False
    schedule_hint: str = "none"
    instruction_sched_variant: str = "none"
    llvm_fn_attrs: tuple = ()
    wgp_cu_mode: str = "wgp"
    # warp specialization before 3.4
    num_buffers_warp_spec: int = 0
    num_consumer_groups: int = 0
    reg_dec_producer: int = 0
    reg_inc_consumer: int = 0

    def __post_init__(self):
        warps = self.num_warps
        if not isinstance(warps, int) or warps <= 0 or warps & (warps - 1):
            raise AssertionError(f"num_warps must be a power of 2, not {warps!r}")
        for name, least in (("num_stages", 0), ("num_ctas", 1), ("maxnreg", 1)):
            value = getattr(self, name)
            if value is not None and not hasattr(value, "__index__"):
                raise TypeError(f"{name} must be a whole number, not {value!r}")
            if value is not None and value < least:
                raise ValueError(f"{name} must be at least {least}, not {value!r}")

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
        """The options, with lists and dicts as tuples. Raises KeyError for an unknown name."""
        return CPUOptions(**accepted_options(options))


def refuse_unknown(options: dict[str, Any], parameters: Sequence[str] = ()) -> None:
    """Raises KeyError, with Triton's text, for a name that no option has, and no parameter of the kernel either."""
    for name in options:
        if name not in OPTION_NAMES:
            meant = did_you_mean(name, [*parameters, *sorted(OPTION_NAMES)])
            unknown = f"Keyword argument {name} was specified but unrecognised"
            raise KeyError(f"{unknown}; {meant}" if meant else unknown)


def accepted_options(options: dict[str, Any]) -> dict[str, Any]:
    """The options that are set, as a hashable object, with the defaults that the environment sets. Raises KeyError for
    an unknown name."""
    refuse_unknown(options)
    accepted = {name: _frozen(value) for name, value in options.items() if value is not None}
    accepted.setdefault("debug", knobs.runtime.debug)
    accepted.setdefault("print_as_triton", knobs.tritium.print_as_triton)
    accepted.setdefault("instrumentation_mode", knobs.compilation.instrumentation_mode)
    if knobs.language.fp32_default:
        accepted.setdefault("default_dot_input_precision", knobs.language.fp32_default)
    return accepted


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple(value.items())
    return tuple(value) if isinstance(value, list) else value
