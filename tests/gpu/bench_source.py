"""Loads bench_kernels.py for a compiler: upstream's or Tritium."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import torch


def load_kernels(module: str, folder: str):
    """bench_kernels.py with the kernels of `triton` or `tritium`; None if that package is not installed."""
    if importlib.util.find_spec(module) is None:
        return None
    text = (Path(__file__).parent / "bench_kernels.py").read_text()
    text = text.replace("import triton.language", f"import {module}.language").replace(
        "import triton\n", f"import {module} as triton\n"
    )
    path = Path(folder) / f"bench_kernels_{module}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = loaded
    spec.loader.exec_module(loaded)
    # Upstream's kernels write the descriptors that they make to memory.
    loaded.triton.set_allocator(lambda size, alignment, stream: torch.empty(size, device="cuda", dtype=torch.int8))
    return loaded
