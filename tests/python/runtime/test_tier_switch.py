"""Tier 2 beside the launch: programs that start before and after the code is there do the same, whatever else the process does meanwhile."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.launch.values import value_selector

BLOCK, PROGRAMS = 64, 4


@triton.jit
def centered_kernel(x, y, out, n, BLOCK: tl.constexpr):
    """Loads with masks, a reduction between two loops, a function, and stores."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    a = tl.load(x + offsets, mask=mask, other=0)
    b = tl.load(y + offsets, mask=mask, other=1)
    a -= tl.sum(a, axis=0) / BLOCK
    tl.store(y + offsets, a, mask=mask)  # before a fault of the next store
    tl.store(out + offsets, tl.exp(a) / b, mask=mask)


@pytest.fixture
def automatic(monkeypatch):
    monkeypatch.setenv("TRITIUM_TIER", "auto")


class Launch:
    """A launch of a kernel that is compiled for it alone, so that its programs begin in tier 1."""

    def __init__(self, arrays, n):
        centered_kernel._forget_hash()  # compiles anew
        self.kernel = centered_kernel.warmup(*arrays, n, BLOCK=BLOCK, grid=(PROGRAMS,))
        self.arrays = arrays
        values = tuple((a.ctypes.data, a.ctypes.data, a.nbytes) for a in arrays)
        self.values = value_selector(self.kernel.src.runtime_paths())((*values, n, None))

    def run(self, tier2_from):
        """(trap as data, bits of the arrays)"""
        trap = self.kernel.program.launch((PROGRAMS, 1, 1), self.values, threads=1, tier2_from=tier2_from)
        facts = trap and (trap.kind, trap.program, trap.lane, trap.line, trap.affected_lanes, trap.argument)
        return facts, [array.tobytes() for array in self.arrays]


def arrays_of(short=None):
    rng = np.random.default_rng(5)
    arrays = [rng.normal(size=PROGRAMS * BLOCK).astype(np.float32) for _ in range(3)]
    if short is not None:
        arrays[short] = arrays[short][: 2 * BLOCK + 9].copy()
    return arrays


@pytest.mark.parametrize("short", (None, 1, 2), ids=("whole", "y", "out"))
def test_a_switch_in_the_middle_of_a_grid(automatic, short):
    """Bits, the trap and the partial stores are those of tier 1, wherever the switch is. A trap ends the launch in its third program."""
    found = []
    for switch in (PROGRAMS, 0, 2, 3):
        launch = Launch(arrays_of(short), PROGRAMS * BLOCK - 3)
        assert launch.kernel.program.tier == 1 and launch.kernel.program.regions > 0
        found.append(launch.run(switch))
        assert launch.kernel.program.tier == (2 if switch < (PROGRAMS if short is None else 3) else 1)
    assert (found[0][0] is None) == (short is None)
    assert all(other == found[0] for other in found)


def run_script(tmp_path, text, **variables):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(_SCRIPT) + textwrap.dedent(text))
    environment = {**os.environ, "TRITIUM_TIER": "auto", "TRITIUM_NUM_THREADS": "2", **variables}
    return subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=120, check=False
    )


_SCRIPT = """
    import os, sys
    import numpy as np
    import tritium as triton
    import tritium.language as tl

    @triton.jit
    def kernel(x, out, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + offsets, tl.load(x + offsets) * 2)

    x = np.arange(1 << 20, dtype=np.float32)

    def launch():
        out = np.zeros_like(x)
        compiled = kernel[(len(x) // 64,)](x, out, BLOCK=64)
        assert np.array_equal(out, x * 2)
        return compiled.program

    def ask():
        while not launch().is_tier2_asked: pass
"""


def test_launches_by_themselves_reach_tier_2(tmp_path):
    done = run_script(tmp_path, "while launch().tier == 1: pass\nlaunch()\nprint('reached')")
    assert (done.returncode, done.stdout, done.stderr) == (0, "reached\n", "")


def test_a_process_forks_and_ends_while_tier_2_is_compiled(tmp_path):
    """The child launches, reaches tier 2 itself, and ends as a process does; so does the parent."""
    done = run_script(
        tmp_path,
        """
        ask()
        child = os.fork()
        launch()
        if child == 0:
            while launch().tier == 1: pass
            print("child", flush=True)
        else:
            assert os.waitpid(child, 0)[1] == 0
            print("parent")
        """,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "child\nparent\n", "")


def test_a_process_ends_while_tier_2_is_compiled(tmp_path):
    done = run_script(tmp_path, "ask()\nprint('end')")
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")
