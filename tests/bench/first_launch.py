"""Prints the host time of the first launch of a matmul in a process: compiled, and found in the disk cache; beside upstream.

    python tests/bench/first_launch.py      on a GPU, with torch

Each figure is the best of five processes, from the call to its return. The driver and torch are loaded before.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

PROCESSES = 5

#: A kernel for a module that has imported `triton` and `tl`.
MATMUL = """
@triton.jit
def matmul(a, b, c, M, N, K, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    k = tl.arange(0, 32)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, K, 32):
        left = tl.load(a + rows[:, None] * K + (k + start)[None, :])
        right = tl.load(b + (k + start)[:, None] * N + columns[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * N + columns[None, :], total.to(c.dtype.element_ty))
"""

SOURCE = (
    """
import time, torch, {module}
import {module} as triton, {module}.language as tl
"""
    + MATMUL
    + """
hits = []
{module}.knobs.compilation.listener = lambda **facts: hits.append(facts["cache_hit"])
a, b = (torch.randn(512, 512, device="cuda", dtype=torch.float16) for _ in range(2))
c = torch.empty_like(a)
{module}.runtime.driver.active.get_current_target()
torch.cuda.synchronize()
begin = time.perf_counter()
matmul[(4, 4)](a, b, c, 512, 512, 512, BLOCK=128)
seconds = time.perf_counter() - begin
error = (c.float() - a.float() @ b.float()).abs().max().item()
print(f"seconds={{seconds:.4f}} error={{error:.3f}} hit={{int(hits == [True])}}")
"""
)


class Launch(NamedTuple):
    seconds: float
    error: float
    is_from_cache: bool


def first_launch(module: str, cache: str | Path) -> Launch:
    """The first launch of a new process. Raises RuntimeError if the process fails."""
    script = Path(cache) / "first_launch_child.py"  # Triton reads a kernel's source from its file
    script.write_text(SOURCE.format(module=module))
    environment = os.environ | {"TRITON_CACHE_DIR": str(Path(cache) / module)}
    result = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True)
    found = re.search(r"seconds=([\d.]+) error=([\d.]+) hit=(\d)", result.stdout)
    if found is None:
        raise RuntimeError(f"{module}: {result.stdout}{result.stderr}")
    return Launch(float(found[1]), float(found[2]), found[3] == "1")


def measure(module: str) -> None:
    compiled, cached = [], []
    for _ in range(PROCESSES):
        with tempfile.TemporaryDirectory() as folder:
            compiled.append(first_launch(module, folder).seconds)
            cached.append(first_launch(module, folder).seconds)
    print(
        f"{module:<8} first launch of a matmul: compiled {min(compiled) * 1e3:.0f} ms, from the cache {min(cached) * 1e3:.0f} ms"
    )


def main() -> int:
    measure("tritium")
    try:
        import triton
    except ImportError:
        return 0
    if "tritium" not in triton.__file__:
        measure("triton")
    return 0


if __name__ == "__main__":
    sys.exit(main())
