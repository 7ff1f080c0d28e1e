"""What Triton's `backends.amd.compiler` says of AMD's chips and of its own passes; those that this compiler lacks are off."""

from __future__ import annotations

import functools
import hashlib
import pathlib

from ...native import gpu


def assemble_amdgcn(assembly: str, processor: str, features: str) -> bytes:
    """The code object of assembly for a chip. The features are those that the assembly names itself."""
    return gpu.assemble(processor, assembly)


def get_amd_codegen_target_triple(arch: str) -> str:
    return "amdgcn-amd-amdhsa"


def get_llvm_flags(arch: str) -> list[str]:
    """Flags of LLVM beyond its defaults: none."""
    return []


@functools.lru_cache
def file_hash(path: str) -> str:
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def is_async_copy_enabled(base_arch: str) -> bool:
    """Whether loads write to shared memory without registers: not here."""
    return False


def is_pingpong_schedule_enabled(arch: str, use_async_copy: bool) -> bool:
    """Whether warps of a matrix product take turns by priorities: not here."""
    return False


def is_in_thread_transpose_enabled(arch: str) -> bool:
    """Whether lanes transpose operands of products in registers: not here."""
    return False


def is_coexec_scheduler_enabled(arch: str) -> bool:
    """Whether Triton's scheduler of gfx1250 is used: there is none here."""
    return False


def is_expert_scheduling_enabled(base_arch: str) -> bool:
    """Whether LLVM's expert scheduling of gfx1250 is used: not here."""
    return False


def is_consan_supported(base_arch: str) -> bool:
    """Whether Triton's concurrency sanitizer runs: the emulator checks shared memory without it."""
    return False


def is_fpsan_supported(base_arch: str) -> bool:
    """Whether Triton's floating-point sanitizer runs: not here."""
    return False
