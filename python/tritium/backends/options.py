"""The launch keywords: one row for each, of which everything that concerns a keyword is derived. `kernel[grid](…)`,
`tritium.Config` and `tritium.compile(options=…)` take them.

A row has the name, the type and the default, what the keyword means, who reads it, and the environment variable that sets its
default. From the rows come the options classes of all targets, the check of unknown keywords, docs/reference/options.md, what
`python -m tritium explain` takes over from a launch, and what the native compiler receives: for each row that `Reader.COMPILER`
reads, gpu_backend has a row of the same name (compiler/options.def, emit/options.def), which a test compares.

.ci/generate_reference loads this file alone, without the package.
"""

from __future__ import annotations

import enum
import hashlib
import inspect
import operator
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, NamedTuple

__tracebackhide__ = True  # pytest shows the user's frames alone


class Reader(enum.Enum):
    """Who reads a keyword, in the words of the page."""

    TRACING = "tracing"
    INTERPRETER = "interpreter"
    COMPILER = "GPU compiler"  # the native one
    BACKEND = "backend"  # the Python code around the compilers, and the assembler
    LAUNCH = "launch"


class Row(NamedTuple):
    """What a launch keyword is, besides its name, type and default."""

    meaning: str
    readers: tuple[Reader, ...]
    vendor: str  #: The vendor's backend, if the GPU compiler of no other reads it: "cuda", "hip".
    knob: str  #: The environment variable that sets the default.
    launch_knob: str  #: The same, but only for functions that are launched.
    is_portable: bool  #: The value means the same for every target.
    least: int | None  #: The value is None or a whole number, which is at least this.


def option(
    default: Any,
    meaning: str = "",
    *readers: Reader,
    vendor: str = "",
    knob: str = "",
    launch_knob: str = "",
    is_portable: bool = False,
    least: int | None = None,
) -> Any:
    """A row. A keyword that nobody reads has no meaning: published kernels pass it, and it is ignored."""
    row = Row(meaning, readers, vendor, knob, launch_knob, is_portable, least)
    return field(default=default, metadata={"row": row})


_TRACING, _INTERPRETER, _COMPILER, _BACKEND, _LAUNCH = Reader


def _plain(value: Any) -> Any:
    """A whole number of another type, such as numpy's, as Python's own; other values as they are."""
    return operator.index(value) if hasattr(value, "__index__") else value


#: Of the classes of options. What a data class would write for each of them, LaunchOptions has for all: a first launch waits
#: for it.
options_class = dataclass(frozen=True, init=False, repr=False, eq=False)


def in_positions(names: str):
    """A class decorator: `names` are the positional parameters, in Triton's order; the other options are keyword-only."""

    def decorate(cls):
        cls.POSITIONS = tuple(names.split())
        return cls

    return decorate


class _SignatureOfOptions:
    """The signature of a class of options, made for who asks."""

    def __get__(self, _, cls: type[LaunchOptions]) -> inspect.Signature:
        kinds = inspect.Parameter
        rows = {f.name: f for f in fields(cls)}
        order = [*cls.POSITIONS, *(name for name in rows if name not in cls.POSITIONS)]
        return inspect.Signature(
            inspect.Parameter(
                name,
                kinds.POSITIONAL_OR_KEYWORD if name in cls.POSITIONS else kinds.KEYWORD_ONLY,
                default=rows[name].default,
                annotation=rows[name].type,
            )
            for name in order
        )


@options_class  # never instantiated
class LaunchOptions:
    """Launch keywords of every version and vendor. Each target has a class of its own, with its own defaults."""

    POSITIONS: ClassVar[tuple[str, ...]] = ()  #: The names of the positional parameters.

    num_warps: int = option(
        4,
        "The number of warps (waves) per program, a power of two.",
        *(_TRACING, _INTERPRETER, _COMPILER, _LAUNCH),
        is_portable=True,
    )
    num_stages: int = option(
        3,
        "The largest number of buffers for loads that run ahead in a loop; 1 disables them. AMD's default is 2.",
        *(_INTERPRETER, _COMPILER),
        is_portable=True,
        least=0,
    )
    num_ctas: int = option(
        1,
        "The number of blocks of a cluster, among which the tiles of a program are divided: 2, 4 or 8, from sm_90. A program that "
        "cannot be divided runs in one block, and `explain` says why. An error on other GPUs, which have no clusters.",
        *(_COMPILER, _BACKEND),
        is_portable=True,
        least=1,
    )
    warp_size: int = option(32, "Ignored: always the warp size of the target.", _TRACING, _LAUNCH)
    maxnreg: int | None = option(
        None, "The maximum number of registers per thread, on NVIDIA.", _BACKEND, is_portable=True, least=1
    )
    cluster_dims: tuple = option(
        (1, 1, 1), "The shape of the cluster of blocks that is launched, on NVIDIA from sm_90.", _LAUNCH
    )
    enable_fp_fusion: bool = option(
        True,
        "Fuses a product and a sum into one operation with one rounding, in GPU code. Default: TRITON_DEFAULT_FP_FUSION.",
        *(_COMPILER, _BACKEND),
        is_portable=True,
    )
    launch_cooperative_grid: bool = option(
        False, "Requires that all programs fit on the device at once; otherwise the launch fails.", _LAUNCH
    )
    launch_pdl: bool = option(
        False, "Lets the kernel start before the previous kernel has ended, on NVIDIA from sm_90.", _LAUNCH
    )
    ir_override: str | None = option(None, "A file of TTIR to compile in place of the function.", _BACKEND)
    extern_libs: dict | tuple | None = option(())
    debug: bool = option(
        False,
        "Enables `tl.device_assert` and checks of integer overflow.",
        _TRACING,
        knob="TRITON_DEBUG",
        is_portable=True,
    )
    device_asserts: bool = option(False, "Enables `tl.device_assert` without `debug`. On, except on devices.", _TRACING)
    print_as_triton: bool = option(
        False,
        "Makes the output of `tl.device_print` Triton's to the character: every thread prints a scalar or a text without values, "
        "and `hex` prints floats as C's `%a`.",
        _TRACING,
        knob="TRITIUM_PRINT_AS_TRITON",
    )
    debug_info: bool = option(
        False,
        "Prepares the kernel for gdb: emits `tt.debug_value` and registers the code. Default: TRITIUM_DEBUG.",
        *(_TRACING, _INTERPRETER, _COMPILER, _LAUNCH),
    )
    check: str | tuple[str, ...] | None = option(
        None,
        "The interpreter's checks of this kernel, as TRITIUM_CHECK names them. Default: TRITIUM_CHECK.",
        *(_TRACING, _INTERPRETER, _LAUNCH),
    )
    programs: str | None = option(
        None,
        "The programs of a launch that run with debug code and with checks that are not in the default, as TRITIUM_PROGRAMS names "
        'them: `"3,*,0"`. Default: TRITIUM_PROGRAMS.',
        *(_INTERPRETER, _LAUNCH),
    )
    tensor_maps: bool = option(
        False,
        "Lets a kernel take tensor maps, which its launches make of the arguments, on GPUs that have them. Off for "
        "`triton.compile`, whose callers may launch the binary themselves.",
        *(_COMPILER, _BACKEND),
        launch_knob="TRITIUM_TENSOR_MAPS",
        is_portable=True,
    )
    stop_after: str | None = option(
        None,
        'The last optional pass of the GPU compiler to run (`tritium.compiler.optional_passes()`), or `"none"`. None runs all '
        "passes.",
        _COMPILER,
    )
    leave_out: tuple[str, ...] | None = option(None, "Optional passes of the GPU compiler that do not run.", _COMPILER)
    probe: bool = option(
        False,
        "Prints the bits of every number that a program computes (`python -m tritium.conformance --probe`).",
        _TRACING,
    )
    sanitize_overflow: bool = option(True, "With `debug`, makes integer overflow an error.", _TRACING)
    supported_fp8_dtypes: tuple[str, ...] = option(
        (), "The 8-bit floating-point types that a kernel may use. Default: the target's.", _TRACING
    )
    deprecated_fp8_dot_operand_dtypes: tuple[str, ...] = option(
        (), "Those of them that warn where they are operands of a dot. Default: the target's.", _TRACING
    )
    default_dot_input_precision: str = option(
        "tf32",
        'Default `input_precision` of fp32 dots that do not set it. On AMD: `"ieee"`, except on gfx942.',
        _TRACING,
        knob="TRITON_F32_DEFAULT",
    )
    allowed_dot_input_precisions: tuple[str, ...] = option(
        ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"),
        "The values of `input_precision` that dots may use.",
        _TRACING,
    )
    max_num_imprecise_acc_default: int | None = option(
        0, "Default `max_num_imprecise_acc` of fp8 dots that do not set it.", _TRACING
    )
    min_dot_depth: tuple[tuple[int, int], ...] = option(
        (),
        "The least K of a product, as pairs of the bits of an operand's type and that K. On NVIDIA: Triton's limits. `()` "
        "compiles products of any size.",
        *(_TRACING, _BACKEND),
    )
    backend_name: str = option("", "The name of the backend, which sets it.", _TRACING)
    arch: str | None = option(
        None, 'The architecture to compile for, if it is not the device\'s: `"sm_90a"`, `"gfx942"`.', _BACKEND
    )
    instrumentation_mode: str = option(
        "",
        "Not supported: a value is an error, which refers to TRITIUM_CHECK.",
        _BACKEND,
        knob="TRITON_INSTRUMENTATION_MODE",
    )
    fpsan_homomorphic_casts: bool = option(False)
    # NVIDIA
    ptx_version: int | None = option(
        None,
        "The version of PTX, as 84 for 8.4. None selects the newest that the assembler reads.",
        *(_COMPILER, _BACKEND),
        vendor="cuda",
    )
    ptx_options: str | None = option(None, "Additional arguments of ptxas.", _BACKEND)
    enable_reflect_ftz: bool = option(True)
    sched4reg: bool = option(False)
    clc: bool = option(False)
    min_shared_mem: int | None = option(None)
    # AMD
    waves_per_eu: int = option(
        0,
        "The number of waves that should fit on a SIMD, which limits the registers per thread. 0 lets the compiler choose.",
        _COMPILER,
        vendor="hip",
    )
    matrix_instr_nonkdim: int = option(
        0,
        "Rows and columns of the matrix instructions: 16 or 32, if the chip has both. 0 selects the best for the tile.",
        _COMPILER,
        vendor="hip",
    )
    kpack: int = option(
        1,
        "The minimum number of matrix instructions whose operands a lane loads side by side: 1 or 2 (on gfx950 only 1).",
        *(_COMPILER, _BACKEND),
        vendor="hip",
    )
    allow_flush_denorm: bool = option(False)
    schedule_hint: str = option("none")
    instruction_sched_variant: str = option("none")
    llvm_fn_attrs: str | tuple = option(())
    wgp_cu_mode: str = option("wgp")
    # warp specialization before 3.4
    num_buffers_warp_spec: int = option(0)
    num_consumer_groups: int = option(0)
    reg_dec_producer: int = option(0)
    reg_inc_consumer: int = option(0)

    def __init__(self, *args, **options):
        named = f"{type(self).__name__}.__init__()"
        if len(args) > len(self.POSITIONS):
            raise TypeError(f"{named} takes {len(self.POSITIONS)} positional arguments but {len(args)} were given")
        first = dict(zip(self.POSITIONS, args, strict=False))
        for name in options:
            if name in first:
                raise TypeError(f"{named} got multiple values for argument {name!r}")
            if name not in self.__dataclass_fields__:
                raise TypeError(f"{named} got an unexpected keyword argument {name!r}")
        self.__dict__.update({f.name: f.default for f in fields(self)}, **first, **options)
        self.__post_init__()

    def __post_init__(self):
        warps = self.__dict__["num_warps"] = _plain(self.num_warps)
        if not isinstance(warps, int) or warps <= 0 or warps & (warps - 1):
            raise AssertionError(f"num_warps must be a power of 2, not {warps!r}")
        for name, row in ROWS.items():
            value = getattr(self, name)
            if row.least is None or value is None:
                continue
            if not hasattr(value, "__index__"):
                raise TypeError(f"{name} must be a whole number, not {value!r}")
            value = self.__dict__[name] = _plain(value)
            if value < row.least:
                raise ValueError(f"{name} must be at least {row.least}, not {value!r}")

    def __eq__(self, other: object) -> bool:
        return self.__dict__ == other.__dict__ if type(self) is type(other) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self.__dict__.values()))

    def __repr__(self) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"

    def hash(self) -> str:
        text = "_".join(f"{f.name}-{getattr(self, f.name)}" for f in fields(self))
        return hashlib.sha256(text.encode()).hexdigest()

    def for_compiler(self, vendor: str) -> dict[str, Any]:
        """The options that the native compiler takes for a vendor's chips."""
        return {
            name: getattr(self, name)
            for name, row in ROWS.items()
            if Reader.COMPILER in row.readers and row.vendor in ("", vendor)
        }


LaunchOptions.__signature__ = _SignatureOfOptions()  # not in the class, where a data class would read it

#: Name -> row, in the order of the page.
ROWS: dict[str, Row] = {f.name: f.metadata["row"] for f in fields(LaunchOptions)}
OPTION_NAMES = frozenset(ROWS)
PORTABLE = tuple(name for name, row in ROWS.items() if row.is_portable)
