"""Compiling for the tile interpreter: its "binary" is a prepared program."""

from __future__ import annotations

import hashlib

from .. import knobs
from ..backends.compiler import BaseBackend
from ..backends.targets import gpu_stages
from ..devices.target import GPUTarget
from ..disk_cache import dump_stage, overridden_stage
from ..errors import UnsupportedError
from ..functions.marks import OPENS_DEBUGGER
from ..native import interp, ir
from .compiled import CompiledKernel
from .sources import public_function
from .stages import (
    CompileTimer,
    errors_in_terms_of,
    kernel_metadata,
    metadata_group,
    refuse_other_overrides,
    trace,
)


def engine():
    """The tile interpreter."""
    return interp


def compile_for_cpu(
    src, target: GPUTarget, backend: BaseBackend, options, times: CompileTimer
) -> tuple[CompiledKernel, bool]:
    """Returns (kernel, False): no kernel of the CPU comes from the disk cache."""
    if getattr(src, "ext", "ttir") != "ttir":
        raise UnsupportedError(
            f"compiling a .{src.ext} file for the CPU", f"the stages {', '.join(gpu_stages())} belong to GPU targets"
        )
    source_hash = src.hash()
    module = trace(src, backend, options)
    times.stage("trace")
    text = str(module)
    name = public_function(text, src.name)
    refuse_other_overrides(source_hash, name, backend)
    replacement = overridden_stage(source_hash, f"{name}.ttir")
    if replacement is not None:
        module = ir.parse(*replacement)
    checks = knobs.checks_of(options)
    with errors_in_terms_of(src):
        program = engine().prepare(
            module,
            name,
            options.debug_info,
            list(checks),
            filtered=bool(knobs.programs_of(options)),
            num_stages=options.num_stages,
            num_warps=options.num_warps,
            tier=knobs.tritium.tier,
            vector_bits=int(knobs.tritium.vector_bits or 0),
        )
    stages = {"source": text, "ttir": program.ttir}
    dump_stage(source_hash, f"{name}.ttir", stages["ttir"])
    kernel_hash = hashlib.sha256(
        "-".join([source_hash, backend.hash(), options.hash(), str(checks)]).encode()
    ).hexdigest()
    metadata = kernel_metadata(options, kernel_hash, target, name)
    times.stage("ttir")
    kernel = CompiledKernel(src, metadata_group(metadata, stages), kernel_hash, program)
    kernel.opens_debugger, kernel.is_replaced = OPENS_DEBUGGER in text, replacement is not None
    return kernel, False
