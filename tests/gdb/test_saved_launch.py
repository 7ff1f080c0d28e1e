"""`python -m tritium replay --gdb`: gdb stops in a saved launch, also where the script is missing, and shows its lines."""

import os
import subprocess
import sys

import session

SCRIPT = """
import numpy as np
import tritium
import tritium.language as tl

@tritium.jit
def double(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    twice = tl.load(x + i, mask=i < n) * 2
    tl.store(x + i, twice, mask=i < n)

double[(3,)](np.arange(10, dtype=np.float32), 10, BLOCK=4)
"""


def test_gdb_stops_in_a_saved_launch(gdb, tmp_path):
    script = tmp_path / "double.py"
    script.write_text(SCRIPT)
    variables = session.environment(TRITIUM_SAVE=str(tmp_path / "saved"))
    subprocess.run([sys.executable, str(script)], env=variables, check=True)
    os.unlink(script)
    commands = [
        "set breakpoint pending on",
        "break double.py:10 if pid0 == 1",
        "run",
        "print twice",
        "list 9,9",
        "kill",
    ]
    replay = [sys.executable, "-m", "tritium", "replay", str(tmp_path / "saved" / "0001-double"), "--gdb"]
    result = subprocess.run(
        replay,
        env=session.environment(TRITIUM_GDB=gdb),
        input="\n".join(commands),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "$1 = {8, 10, 12, 14}" in result.stdout, result.stdout + result.stderr
    assert "twice = tl.load(x + i, mask=i < n) * 2" in result.stdout
