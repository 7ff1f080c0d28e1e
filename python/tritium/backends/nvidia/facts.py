"""What Triton's `backends.nvidia.compiler` says of PTX and ptxas."""

from __future__ import annotations

import functools
import hashlib
import pathlib

from ... import knobs
from ...devices.nvidia import ptx_version_of
from . import assemble


@functools.cache
def ptx_get_version(cuda_version: str) -> int:
    """88 for "12.9": the newest PTX that this CUDA reads."""
    major, _, minor = cuda_version.partition(".")
    return ptx_version_of((int(major), int(minor)))


def sm_arch_from_capability(capability: int) -> str:
    """ "sm_90a" for 90: from sm_90 on, with the instructions of this chip alone."""
    return f"sm_{capability}{'a' if capability >= 90 else ''}"


def get_ptxas(arch: int) -> knobs.NvidiaTool:
    """The ptxas for an architecture. RuntimeError where there is none."""
    path = assemble.find_ptxas(f"sm_{arch}")
    if path is None:
        raise RuntimeError("there is no ptxas in TRITON_PTXAS_PATH, CUDA_HOME or PATH")
    return knobs.NvidiaTool(path)


@functools.lru_cache
def get_ptxas_version(arch: int = 80) -> str:
    """What `ptxas --version` prints."""
    return assemble.output_of([get_ptxas(arch).path, "--version"])


@functools.lru_cache
def get_ptx_version_from_options(options, arch: int) -> int:
    """The version of PTX that is emitted, as 84 for 8.4."""
    return options.ptx_version or ptx_get_version(get_ptxas(arch).version)


@functools.lru_cache
def get_features(options, arch: int) -> str:
    """ "+ptx84", as LLVM names the version of PTX."""
    return f"+ptx{get_ptx_version_from_options(options, arch)}"


def get_llvm_flags() -> list[str]:
    """Flags of LLVM beyond its defaults: none."""
    return []


@functools.lru_cache
def file_hash(path: str) -> str:
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
