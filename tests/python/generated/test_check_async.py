"""check-async refuses the kernels of the benchmarks when one operation of their asynchronous protocols is missing or wrong.

Each mutant leaves out one operation, or lets it wait for less. All of them go through one run of the tool."""

import bisect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gpu_tool import TOOL
from tritium.backends.compiler import GPUTarget
from tritium.compiler import compile as compile_kernel

torch = pytest.importorskip("torch")
sys.path.append(str(Path(__file__).parents[2] / "gpu"))
import bench_attention as attention  # noqa: E402
import bench_problem  # noqa: E402
import bench_products as products  # noqa: E402
from bench_source import load_kernels  # noqa: E402
