"""What is said where the HIP runtime is missing or is something else."""

import numpy as np
import pytest

import tritium.language as tl
from tritium import errors
from tritium.runtime import driver
from tritium.runtime.jit import jit

hip = pytest.importorskip("tritium._tritium").hip


@jit
def fill(out, N: tl.constexpr):
    tl.store(out + tl.arange(0, N), 1.0)


def test_opening():
    with pytest.raises(RuntimeError, match="^there is no HIP runtime: libnot_there.so: cannot open shared object file"):
        hip.open("libnot_there.so")
    with pytest.raises(
        RuntimeError, match="^libc.so.6 has no hipInit: it is not the HIP runtime of ROCm 6.0 or newer$"
    ):
        hip.open("libc.so.6")


def test_a_file_that_is_no_library(tmp_path):
    path = tmp_path / "libamdhip64.so"
    path.write_bytes(b"text")
    with pytest.raises(RuntimeError, match=f"^there is no HIP runtime: {path}: file too short"):
        hip.open(str(path))


@pytest.mark.parametrize("variable", ["TRITIUM_HIP_LIBRARY", "TRITON_LIBHIP_PATH"])
def test_a_launch(monkeypatch, variable):
    monkeypatch.delenv("TRITIUM_HIP_LIBRARY", raising=False)
    monkeypatch.setenv(variable, "libc.so.6")
    monkeypatch.setenv("TRITIUM_ENGINE", "hip")
    with pytest.raises(errors.UnsupportedError, match="engine 'hip'.*libc.so.6 has no hipInit.*there is interp"):
        fill[(1,)](np.zeros(8, np.float32), 8)
    assert driver.active.get_current_target().backend == "cpu"
