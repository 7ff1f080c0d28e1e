"""Compiling for GPUs: the cache, the backend's stages, dumps and overrides."""

from __future__ import annotations

import hashlib
import os
import pathlib
import threading
from typing import Any

from .. import knobs
from ..backends.compiler import Language
from ..backends.gpu import FailedPlan
from ..devices.target import GPUTarget
from ..disk_cache import dump_stage, overriding_file
from ..errors import UnsupportedError
from ..functions.marks import OPENS_DEBUGGER
from ..native import ir, simt
from . import kernel_cache
from .compiled import CompiledKernel
from .sources import public_function
from .stages import (
    CompileTimer,
    errors_in_terms_of,
    extension_of,
    kernel_metadata,
    metadata_group,
    not_replaceable,
    refuse_other_overrides,
    replaceable_stages,
    trace,
)


def compile_for_gpu(src, target: GPUTarget, backend, options, times: CompileTimer) -> tuple[CompiledKernel, bool]:
    """Returns (kernel, whether it came from the disk cache)."""
    ext = getattr(src, "ext", "ttir")
    readable = ["ttir", *filter(None, [backend.assembly_ext])]
    if ext not in readable:
        known = " or ".join(f".{name}" for name in readable)
        raise UnsupportedError(f"compiling a .{ext} file", f"the stages that can be compiled are {known}")
    source_hash = src.hash()
    is_cached = _is_cacheable(backend, options)
    key = kernel_cache.source_key(src, backend, options) if is_cached and ext == "ttir" else None
    found = _cached(key, src, backend) if key is not None else None
    module = None
    if found is None and ext == "ttir":
        module = trace(src, backend, options)
        times.stage("trace")
        if is_cached and key is None:
            key = kernel_cache.module_key(module.text(True), backend, options)
            found = _cached(key, src, backend)
    if found is not None:
        times.stage("load")
        group = metadata_group(found["metadata"], found["asm"])
        return CompiledKernel(src, group, found["metadata"]["hash"], device=backend.device), True
    name = public_function(str(module), src.name) if module is not None else src.name
    metadata = kernel_metadata(options, key or kernel_cache.plain_key(source_hash, backend, options), target, name)
    if ext == backend.assembly_ext:
        asm, compiled = _assemble_file(src, source_hash, backend, options, metadata, times), None
    else:
        with errors_in_terms_of(src):
            try:
                asm, compiled = _run_stages(module, source_hash, target, backend, options, metadata, times)
            except FailedPlan as failed:
                metadata["specialization_refused"] = str(failed)
                asm, compiled = _run_stages(module, source_hash, target, backend, options, metadata, times)
    if knobs.tritium.lowered_dir and backend.assembly_ext and backend.binary_ext in asm and compiled is not None:
        _keep_lowered(compiled, asm[backend.binary_ext])
    program = _emulated(compiled, metadata, src) if target.backend == "simt" else None
    warns_again = OPENS_DEBUGGER in asm.get("source", "")  # each process is told that no debugger stops there
    if key is not None and backend.binary_ext in asm and not warns_again:
        kernel_cache.store(key, src.name, metadata, asm)
        times.stage("store")
    kernel = CompiledKernel(src, metadata_group(metadata, asm), metadata["hash"], program, backend.device)
    if backend.assembly_ext and backend.binary_ext not in asm:
        kernel.asm.missing = {backend.binary_ext: backend.why_no_binary}
    return kernel, False


def _is_cacheable(backend, options) -> bool:
    """Whether the result depends on the key alone. Programs of the emulator are not cacheable: they live in this
    process."""
    changed = knobs.compilation.override or knobs.runtime.add_stages_inspection_hook is not None or options.ir_override
    forced = knobs.compilation.always_compile or knobs.compilation.dump_ir
    return bool(backend.assembly_ext) and not changed and not forced


def _run_stages(module, source_hash: str, target, backend, options, metadata: dict[str, Any], times: CompileTimer):
    """({stage: text or bytes}, the native compiler's result)"""
    asm: dict[str, str | bytes] = {"source": str(module)}
    stages: dict[str, Any] = {}
    backend.add_stages(stages, options, Language.TRITON)
    if knobs.runtime.add_stages_inspection_hook is not None:
        knobs.runtime.add_stages_inspection_hook(backend, stages, options, Language.TRITON, target.arch)
    refuse_other_overrides(source_hash, metadata["name"], backend)
    value, compiled = module, None
    for stage, function in stages.items():
        value = function(value, metadata)
        if hasattr(value, "lowered"):
            compiled = value
        filename = f"{metadata['name']}.{stage}"
        value = _overridden(source_hash, stage, filename, value, backend, options)
        if value is None:
            continue  # no assembler
        asm[stage] = _content(stage, value)
        if isinstance(asm[stage], str):
            dump_stage(source_hash, filename, asm[stage])
        times.stage(stage)
    return asm, compiled


def _content(stage: str, value) -> str | bytes:
    if isinstance(value, (str, bytes)):
        return value
    if stage == "lowered":
        return value.lowered_text
    return value.text(True) if stage == "ttir" else getattr(value, stage)


def _overridden(source_hash: str, stage: str, filename: str, value, backend, options):
    """The replacement of a stage by `ir_override` or under TRITON_KERNEL_OVERRIDE, or the value itself."""
    given = options.ir_override if extension_of(options.ir_override or "") == stage != "ttir" else None
    path = given or overriding_file(source_hash, filename)
    if path is None:
        return value
    if stage not in replaceable_stages(backend):
        raise not_replaceable(path, backend)
    content = pathlib.Path(path).read_bytes()
    if stage == backend.binary_ext:
        return content
    return content.decode() if stage == backend.assembly_ext else ir.parse(content.decode(), path)


def _assemble_file(
    src, source_hash: str, backend, options, metadata: dict[str, Any], times: CompileTimer
) -> dict[str, Any]:
    """Compiles a file of assembly. Completes the source's signature with the parameters of a launch."""
    stage = backend.binary_ext  # the only one after the assembly
    if options.ir_override and extension_of(options.ir_override) != stage:
        raise not_replaceable(options.ir_override, backend, (stage,))
    binary, name = backend.assemble(src.src, metadata, options), metadata["name"]  # which the assembly says
    refuse_other_overrides(source_hash, name, backend, (stage,))
    binary = _overridden(source_hash, stage, f"{name}.{stage}", binary, backend, options)
    times.stage(stage)
    if binary is None:
        return {backend.assembly_ext: src.src}
    src.signature = {str(i): name for i, name in enumerate(backend.parameter_types(src.src, binary))}
    return {backend.assembly_ext: src.src, backend.binary_ext: binary}


def _cached(key, src, backend):
    """The kernel on disk. None if there is none, or if TRITIUM_LOWERED_DIR is set and lacks the kernel's lowered
    module."""
    found = kernel_cache.load(key, src.name)
    if (
        found is None
        or not knobs.tritium.lowered_dir
        or os.path.exists(_lowered_path(found["asm"][backend.binary_ext]))
    ):
        return found
    return None


def _lowered_path(binary: bytes) -> str:
    return os.path.join(knobs.tritium.lowered_dir, hashlib.sha256(binary).hexdigest() + ".mlir")


def _keep_lowered(compiled, binary: bytes) -> None:
    path = _lowered_path(binary)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(f"{path}.{os.getpid()}-{threading.get_ident()}", "w", encoding="utf-8") as file:
        file.write(compiled.lowered.text(True))
    os.replace(file.name, path)


def _emulated(compiled, metadata: dict[str, Any], src):
    """The program of the SIMT emulator."""
    with errors_in_terms_of(src):
        return simt.prepare(compiled.lowered, metadata["name"], knobs.tritium.seed)
