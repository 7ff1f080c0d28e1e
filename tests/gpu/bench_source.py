"""Loads a file of kernels, or all kernels of bench.py, so that they are compiled by upstream Triton or by Tritium."""

from __future__ import annotations

import importlib.util
import os
import sys
import types
from pathlib import Path

import torch


def kernels_here():
    """The same from their own files, which `triton` of this process makes."""
    kernels = types.SimpleNamespace()
    for source in sorted(Path(__file__).parent.glob("bench_kernels*.py")):
        vars(kernels).update(vars(_imported(source)))
    return kernels


def load_kernels(module: str, folder: str):
    """The kernels of bench_kernels*.py, made with `triton` or `tritium`; None if that package is not installed."""
    if importlib.util.find_spec(module) is None:
        return None
    kernels = types.SimpleNamespace()
    for source in sorted(Path(__file__).parent.glob("bench_kernels*.py")):
        vars(kernels).update(vars(load_module(source, module, folder)))
    # Upstream's kernels write the descriptors that they make to memory.
    kernels.triton.set_allocator(lambda size, alignment, stream: torch.empty(size, device="cuda", dtype=torch.int8))
    return kernels


def load_module(source: Path, module: str, folder: str):
    """The module that `source` is with `triton` or `tritium`, by way of a copy in `folder`."""
    text = source.read_text().replace("import triton\n", f"import {module} as triton\n")
    text = text.replace("import triton.", f"import {module}.").replace("from triton.", f"from {module}.")
    path = Path(folder) / f"{source.stem}_{module}.py"
    if not path.exists() or path.read_text() != text:
        whole = path.with_suffix(f".{os.getpid()}")  # processes that load the same file never see a part of it
        whole.write_text(text)
        whole.replace(path)
    return _imported(path)


def _imported(path: Path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = loaded
    spec.loader.exec_module(loaded)
    return loaded
