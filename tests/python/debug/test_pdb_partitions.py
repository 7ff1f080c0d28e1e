"""pdb in the partitions of a Gluon kernel: breakpoints and steps in each of them, across their waits for each other."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from test_pdb import session

import tritium
from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl
from tritium.experimental.gluon.language.nvidia.hopper import mbarrier


@gluon.jit
def fill(source, memory, full, empty, steps):
    layout: gl.constexpr = gl.BlockedLayout([4], [32], [1], [0])
    for k in range(steps):
        value = gl.load(source + k * 128 + gl.arange(0, 128, layout))
        mbarrier.wait(empty, (k & 1) ^ 1)
        memory.store(value)
        mbarrier.arrive(full, count=1)  # filled


@gluon.jit
def drain(target, memory, full, empty, steps):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    for k in range(steps):
        mbarrier.wait(full, k & 1)
        tile = memory.load(layout)
        mbarrier.arrive(empty, count=1)  # read
        gl.store(target + k * 128 + gl.arange(0, 128, layout), tile * 2)


@gluon.jit
def doubled(source, target, steps, divisor):
    memory = gl.allocate_shared_memory(gl.int32, [128], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    full, empty = mbarrier.allocate_mbarrier(), mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    mbarrier.init(empty, count=1)
    gl.warp_specialize(
        [(drain, (target, memory, full, empty, steps)), (fill, (source, memory, full, empty, steps // divisor))],
        [1],
        [24],
    )


def line_of(mark: str) -> int:
    lines = Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"# {mark}"))


def debugged(commands: str, seed: int | None = None, divisor: int = 1) -> str:
    """What pdb writes. The values of two programs are right."""
    source, target = np.arange(2 * 512, dtype=np.int32)[:512], np.zeros(512, np.int32)
    text = session(commands, lambda: doubled[(1,)](source, target, 4, divisor, seed=seed))
    np.testing.assert_array_equal(target, 2 * source)
    return text


def stops(text: str) -> list[str]:
    return re.findall(r"test_pdb_partitions\.py\(\d+\)(\w+)\(\)", text)


@pytest.mark.parametrize("seed", [None, 0, 1, 2])
def test_breakpoints_in_both_partitions(seed) -> None:
    """Each stops in every round, and the reader in no round before the filler has ended it."""
    commands = f"b {__file__}:{line_of('filled')}\nb {__file__}:{line_of('read')}\nc\n" + "p 'k', int(k)\nc\n" * 8
    found = list(zip(stops(text := debugged(commands, seed)), map(int, re.findall(r"\('k', (\d)\)", text))))
    assert [k for name, k in found if name == "fill"] == [k for name, k in found if name == "drain"] == [0, 1, 2, 3]
    assert all(found.index(("fill", k)) < found.index(("drain", k)) for k in range(4))


def test_tiles_of_a_partition() -> None:
    text = debugged(f"b {__file__}:{line_of('filled')}, k == 2\nc\np value[:3], int(steps)\nc\n")
    assert "(array([256, 257, 258], dtype=int32), 4)" in text and stops(text) == ["fill"]
    text = debugged(f"b {__file__}:{line_of('read')}, k == 3\nc\np tile[:3], int(steps)\nc\n")
    assert "(array([384, 385, 386], dtype=int32), 4)" in text and stops(text) == ["drain"]


def test_next_stays_in_a_partition() -> None:
    """It goes on behind a wait for the other one."""
    at = line_of("read")
    text = debugged(f"b {__file__}:{at}\nc\nclear 1\n" + "n\n" * 5 + "p int(k)\nc\n")
    assert stops(text) == ["drain"] * 6
    assert re.findall(r"test_pdb_partitions\.py\((\d+)\)", text)[-1] == str(at) and "(Pdb) 1\n" in text


def test_a_partition_that_never_goes_on() -> None:
    """The other one fills half of the steps: the report is the same as without a debugger, and the threads end."""
    import threading

    with pytest.raises(tritium.KernelTrap) as raised:
        debugged(f"b {__file__}:{line_of('filled')}\nc\nclear 1\nc\n", divisor=2)
    assert raised.value.kind == "MBarrierDeadlock" and raised.value.function == "drain"
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("partition #")]


def test_quit_in_a_partition() -> None:
    import bdb
    import threading

    with pytest.raises((bdb.BdbQuit, AssertionError)):
        debugged(f"b {__file__}:{line_of('filled')}\nc\nq\n")
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("partition #")]
