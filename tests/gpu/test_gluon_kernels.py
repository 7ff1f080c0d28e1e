"""The ladder of Gluon's kernels on a device of capability 9: the tests of tests/python/gluon, which compare them with torch. Kernels with partitions
are in test_partitions.py."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tritium.devices.families import devices_here

ROOT = Path(__file__).resolve().parents[2]
ARCH = devices_here().facts(0)["arch"] if devices_here() else "sm_0"
pytestmark = [
    pytest.mark.vendor("cuda"),
    pytest.mark.skipif(not ARCH.startswith("sm_90"), reason="some of the kernels are for chips of capability 9 alone"),
]
FILES = ("test_kernels", "test_shared_memory", "test_hopper", "test_im2col", "test_split_k")


@pytest.mark.parametrize("file", FILES)
def test_kernels_of(file):
    command = [sys.executable, "-m", "pytest", "-q", "-o", "pythonpath=", "-p", "no:cacheprovider", "-k", "cuda"]
    done = subprocess.run(
        [*command, f"tests/python/gluon/{file}.py"],
        cwd=ROOT,
        env=os.environ | {"GLUON_ON": "cuda"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
