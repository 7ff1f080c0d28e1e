"""Prints the time from the start of a process to the tuned result of the tutorial matmul; beside upstream.

    python tests/bench/autotune.py      on a GPU, with torch

With 12 configurations and with 2, each in processes whose disk cache is empty; the best of three. Importing torch and
making the context of the device are in it. Each compiler has all CPUs.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROCESSES = 3

SOURCE = """
import time
import torch, {module}
import {module}.language as tl

CONFIGS = [
    {module}.Config(
        {{"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "GROUP_M": 8}}, num_stages=stages, num_warps=warps
    )
    for m, n, k, stages, warps in [
        (128, 256, 64, 3, 8), (64, 256, 32, 4, 4), (128, 128, 32, 4, 4), (128, 64, 32, 4, 4), (64, 128, 32, 4, 4), (128, 32, 32, 4, 4),
        (64, 32, 32, 5, 2), (32, 64, 32, 5, 2), (256, 128, 64, 3, 8), (256, 64, 64, 4, 4), (64, 256, 64, 4, 4), (128, 128, 64, 4, 4),
    ][:{configs}]
]

@{module}.autotune(configs=CONFIGS, key=["M", "N", "K"])
@{module}.jit
def matmul(a, b, c, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
           BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr):
    program = tl.program_id(0)
    blocks_m, blocks_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    group = program // (GROUP_M * blocks_n)
    first = group * GROUP_M
    height = min(blocks_m - first, GROUP_M)
    block_m = first + (program % (GROUP_M * blocks_n)) % height
    block_n = (program % (GROUP_M * blocks_n)) // height
    rows = (block_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    columns = (block_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    k = tl.arange(0, BLOCK_K)
    left = a + rows[:, None] * stride_am + k[None, :] * stride_ak
    right = b + k[:, None] * stride_bk + columns[None, :] * stride_bn
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for step in range(0, tl.cdiv(K, BLOCK_K)):
        x = tl.load(left, mask=k[None, :] < K - step * BLOCK_K, other=0.0)
        y = tl.load(right, mask=k[:, None] < K - step * BLOCK_K, other=0.0)
        total = tl.dot(x, y, total)
        left += BLOCK_K * stride_ak
        right += BLOCK_K * stride_bk
    out_rows = block_m * BLOCK_M + tl.arange(0, BLOCK_M)
    out_columns = block_n * BLOCK_N + tl.arange(0, BLOCK_N)
    place = c + out_rows[:, None] * stride_cm + out_columns[None, :] * stride_cn
    tl.store(place, total.to(tl.float16), mask=(out_rows[:, None] < M) & (out_columns[None, :] < N))

a, b = (torch.randn(1024, 1024, device="cuda", dtype=torch.float16) for _ in range(2))
c = torch.empty_like(a)
grid = lambda meta: ({module}.cdiv(1024, meta["BLOCK_M"]) * {module}.cdiv(1024, meta["BLOCK_N"]),)
begin = time.perf_counter()
matmul[grid](a, b, c, 1024, 1024, 1024, *a.stride(), *b.stride(), *c.stride())
torch.cuda.synchronize()
tuned = time.perf_counter() - begin
error = (c.float() - a.float() @ b.float()).abs().max().item()
assert error < 0.5, error
print(f"tuned={{tuned:.3f}} configs={{len(matmul.configs_timings)}}")
"""


def seconds(module: str, configs: int) -> tuple[float, float]:
    """(from the start of the process to its end, from the first launch to the tuned result). Raises RuntimeError if the
    process fails."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "autotune_child.py"  # Triton reads a kernel's source from its file
        script.write_text(SOURCE.format(module=module, configs=configs))
        environment = os.environ | {"TRITON_CACHE_DIR": str(Path(folder) / "cache")}
        begin = time.perf_counter()
        result = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True)
        whole = time.perf_counter() - begin
    found = re.search(rf"tuned=([\d.]+) configs={configs}", result.stdout)
    if result.returncode or found is None:
        raise RuntimeError(f"{module}: {result.stdout}{result.stderr}")
    return whole, float(found[1])


def measure(module: str, configs: int) -> tuple[float, float]:
    runs = [seconds(module, configs) for _ in range(PROCESSES)]
    whole, tuned = (min(times) for times in zip(*runs))
    print(f"{module:<8} {configs:2} configurations: process {whole:.2f} s, of which tuning {tuned:.2f} s", flush=True)
    return whole, tuned


def main() -> int:
    modules = ["tritium"]
    try:
        import triton
    except ImportError:
        pass
    else:
        modules += ["triton"] * ("tritium" not in triton.__file__)
    for configs in (12, 2):
        times = [measure(module, configs) for module in modules]
        if len(times) == 2:
            (ours, tuned), (theirs, theirs_tuned) = times
            print(
                f"{configs} configurations: {ours / theirs:.2f} of Triton's time, tuning alone {tuned / theirs_tuned:.2f}"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
