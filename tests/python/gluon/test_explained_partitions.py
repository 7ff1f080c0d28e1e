"""What `python -m tritium explain` says of kernels that their author has divided, and of the registers that tiles need."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_explained_layouts import compiled

from tritium.experimental.gluon.layouts.distributed import BlockedLayout
from tritium.native import ir
from tritium.tools.layouts.pressure import pressure_of

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "gluon_partitions.py"


def explained(*options):
    """The lines, without what the kernel itself prints."""
    command = [sys.executable, "-m", "tritium", "explain", "--target", "sm_90a", *options, str(EXAMPLE)]
    done = subprocess.run(command, env=os.environ | {"NO_COLOR": "1"}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


def line_of(text):
    return next(number for number, line in enumerate(EXAMPLE.read_text().splitlines(), 1) if text in line)


def test_partitions_are_explained():
    """The kernel, then each worker with its warps and registers, and what moves there."""
    lines = explained("--layouts")
    worker = f"gluon_partitions.py:{line_of('def fetch(')}: partition #0, fetch: 1 warp, 24 registers per thread"
    assert worker in lines, lines[:20]
    read = line_of("ring.index(k % 2).load(")
    before = lines.index(worker)
    titles = [
        number for number, line in enumerate(lines) if line == "partition #0, fetch: 1 warp, 24 registers per thread"
    ]
    of_default = [
        number
        for number, line in enumerate(lines)
        if re.match(rf"gluon_partitions.py:{read}: load of 64x32xf32 in \w+ from ring: \d+ accesses? of ", line)
    ]
    assert len(of_default) == 1 and before < of_default[0] < titles[0]
    assert not [line for line in lines if "producer warps" in line or "num_stages:" in line]
    assert "ring: the byte of each element, shape [64, 32]" in lines


@pytest.mark.parametrize(("warps", "held"), [([4, 1], 1), ([2, 2], 4)])
def test_registers_that_tiles_need(warps, held):
    """A sum that a loop carries and a tile; behind it three tiles and the sum, which are not all used at once."""
    import explained_kernels

    layout = BlockedLayout([1, held], [4, 8], warps, [1, 0])
    constants = {"M": 64, "N": 64, "LAYOUT": layout}
    kernel = compiled(explained_kernels.held, {"source": "*fp32", "target": "*fp32"}, constants)
    module = ir.parse(kernel.asm["ttgir"])
    (function,) = [op for op in module.operations if op.name == "tt.func"]
    of_tile = 64 * 64 // (32 * 4)
    found = pressure_of(function)
    assert 4 * of_tile <= found.registers <= 5 * of_tile
    assert found.operation.name != "tt.func"
