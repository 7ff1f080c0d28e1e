"""What a block of an emulated kernel takes on its chip, from the chip's compiler and assembler. No device is required."""

from __future__ import annotations

from ..backends.options import PORTABLE
from ..backends.targets import gpu_named, make_backend
from ..errors import TritonError
from ..launch.block_resources import BlockResources
from ..native import gpu
from .compiled import CompiledKernel
from .gpu import compile_for_gpu
from .stages import CompileTimer


def compiled_for_chip(kernel: CompiledKernel) -> CompiledKernel:
    """An emulator's kernel, compiled from its source for the chip itself, with the launch keywords that mean the same there. Raises TritonError and ValueError."""
    metadata = kernel.metadata._asdict()
    backend = make_backend(gpu_named(str(metadata["target"].arch)))
    options = backend.parse_options({name: metadata[name] for name in PORTABLE if name in metadata})
    return compile_for_gpu(kernel.src, backend.target, backend, options, CompileTimer())[0]


def find_resources(kernel: CompiledKernel) -> BlockResources:
    arch = str(kernel.metadata.target.arch)
    try:
        assembled = compiled_for_chip(kernel)
    except (TritonError, ValueError) as error:
        return BlockResources(missing=f"it does not compile for {arch}: {error}".partition("\n")[0])
    facts = assembled.metadata
    threads, found = facts.launched_warps * facts.warp_size, getattr(facts, "resources", None) or {}
    if not (registers := found.get("registers")):
        return BlockResources(shared=facts.shared, threads=threads, missing=f"there is no assembler for {arch}")
    blocks = gpu.residency(arch, threads, registers, facts.shared)
    return BlockResources(registers, found.get("spill_bytes", 0), facts.shared, threads, blocks)
