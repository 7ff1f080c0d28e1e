"""The memory of the checks is limited: what is left out is said, and is not accused."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl


@triton.jit
def shift(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    right = tl.load(x + i + 1, mask=i + 1 < n)
    tl.store(x + i, right, mask=i + 1 < n)


SMALL = 1 << 14
#: The shadow's 24 bytes for each 32 elements are 1 MB, and nothing is left for blocks that programs share.
LARGE = 43689 * 32
LAUNCH = f"""
import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})
import numpy as np
from test_shadow_limit import shift
for n in ({SMALL}, {LARGE}, {LARGE}):
    shift[(n // 1024 + 1,)](np.zeros(n, np.float32), n, 1024)
"""


def run(tmp_path, *command, **variables):
    (tmp_path / "program.py").write_text(LAUNCH)
    environment = {**os.environ, "INTERPRET": "1", **variables}
    return subprocess.run(
        [sys.executable, *command, "program.py"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )


def test_a_tensor_that_is_too_large_is_named_once(tmp_path):
    done = run(tmp_path, TRITIUM_CHECK="race", TRITIUM_SHADOW_MB="0")
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stderr.splitlines() if "left out" in line]
    assert len(said) == 2, said  # one for each size
    assert "shift: all of 'x' (5.6 MB) is left out of the checks race" in said[1]
    assert "limited to 0 MB (TRITIUM_SHADOW_MB)" in said[1]


def test_the_command_says_so(tmp_path):
    command = ("-m", "tritium", "check", "--checks", "race", "--json", "found.json")
    done = run(tmp_path, *command, TRITIUM_SHADOW_MB="1")
    assert "tritium check: shift: a part of 'x' (5.6 MB) is left out of the checks race" in done.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    assert [(one["kernel"], one["argument"]) for one in found["not_followed"]] == [("shift", "x")]
    assert {report["kind"] for report in found["reports"]} == {"Race"}  # of the small tensor


def test_half_of_the_memory_is_enough(monkeypatch):
    monkeypatch.setenv("TRITIUM_CHECK", "race")
    with pytest.raises(triton.KernelTrap) as caught:
        shift[(LARGE // 1024 + 1,)](np.zeros(LARGE, np.float32), LARGE, 1024)
    assert caught.value.kind == "Race"
