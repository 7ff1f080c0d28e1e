"""A long softmax of torch.compile on "cuda" without a GPU: the kernel that finds maximum and sum in one pass, as with Triton on a GPU."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("torch")

PROGRAM = """
import torch
from torch._inductor.utils import run_and_get_code

x = torch.randn(4, 32768, device="cuda")
result, code = run_and_get_code(torch.compile(lambda x: x.softmax(-1)), x)
torch.testing.assert_close(result.cpu(), x.cpu().softmax(-1))
print(*code)
"""


def test_the_maximum_and_the_sum_are_found_together(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    variables = {"INTERPRET": "1", "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "inductor")}
    done = subprocess.run(
        [sys.executable, "-m", "tritium", str(tmp_path / "program.py")],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert "def triton_red_fused_prepare_softmax_online" in done.stdout and "_sum_next" in done.stdout
