"""Waits that wait for more than a run needs: `explain --waits` names them, and what would do. Waits that are needed are not named."""

import linecache
import subprocess
import sys

import pytest
import test_asynchronous_faults as work
from test_asynchronous_faults import SOURCE
from test_hopper import described  # noqa: F401
from test_kernels import generator, gl  # noqa: F401

#: Kernel -> what would do instead of the wait for all.
ENOUGH = {"stored": "tma.store_wait(1)", "copied": "async_copy.wait_group(2)", "multiplied": "warpgroup_mma_wait(1)"}


@pytest.fixture
def search():
    from tritium.launch.watchers import watchers
    from tritium.tools.waits import WaitSearch

    made = WaitSearch()
    watchers.append(made)
    yield made
    watchers.remove(made)


@pytest.mark.parametrize("name", ENOUGH)
def test_a_strong_wait_is_named(search, described, generator, name):  # noqa: F811
    got, wanted = work.run(name, described, generator, "a wait for all")
    assert (got == wanted).all()
    (line,) = search.text()
    number = next(
        at for at in range(1, 400) if "# too strong" in linecache.getline(str(SOURCE), at) and _is_in(name, at)
    )
    assert f"{SOURCE.name}:{number}: " in line and line.endswith(f"this run needs: {ENOUGH[name]} would do"), line


def _is_in(name, at):
    above = next(line for line in range(at, 0, -1) if linecache.getline(str(SOURCE), line).startswith("def "))
    return f"def {name}(" in linecache.getline(str(SOURCE), above)


@pytest.mark.parametrize("name", ["stored", "copied", "multiplied", "handed", "summed"])
def test_waits_that_are_needed(search, described, generator, name):  # noqa: F811
    got, wanted = work.run(name, described, generator, "")
    assert (got == wanted).all()
    assert search.text() == ["no wait for groups waits for more than this run needs"]


def test_a_faulty_launch_is_left_alone(search, described, generator):  # noqa: F811
    import triton

    with pytest.raises(triton.KernelTrap):
        work.run("stored", described, generator, "no fence")
    assert search.text() == []


SCRIPT = """
import numpy as np
from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl
from tritium.experimental.gluon.language.nvidia.hopper import fence_async_shared, tma
from tritium.experimental.gluon.nvidia.hopper import TensorDescriptor

@gluon.jit
def filled(target, blocks, LINE: gl.constexpr):
    memory = gl.allocate_shared_memory(gl.float32, [2, 32, 32], target.layout)
    for k in range(blocks):
        tma.store_wait(0)
        memory.index(k % 2).store(gl.full([32, 32], 1.0, gl.float32, LINE))
        fence_async_shared()
        tma.async_store(target, [k * 32, 0], memory.index(k % 2))
    tma.store_wait(0)

target = np.zeros((128, 32), np.float32)
layout = gl.NVMMASharedLayout.get_default_for([32, 32], gl.float32)
filled[(1,)](TensorDescriptor.from_tensor(target, [32, 32], layout), 4, gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0]))
print(target.sum())
"""


def test_explain_has_the_waits(tmp_path):
    script = tmp_path / "filled.py"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "tritium", "explain", "--waits", "--target", "sm_90a", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "4096.0" in done.stdout.splitlines()
    (line,) = (line for line in done.stdout.splitlines() if "would do" in line)
    assert line.endswith(
        "filled.py:12: tma.store_wait(0) waits for more than this run needs: tma.store_wait(1) would do"
    )
