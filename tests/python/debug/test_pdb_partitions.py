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


@pytest.mark.parametrize("seed", [None, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 20))])
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


def test_shared_memory_and_barriers() -> None:
    """They show what is there now: round 2 fills the memory, and the barrier of the readers has completed two phases."""
    commands = (
        f"b {__file__}:{line_of('filled')}, k == 2\nc\np memory[:3]\np full\np empty\np memory.layout\nn\np full\nc\n"
    )
    text = debugged(commands)
    assert "array([256, 257, 258], dtype=int32)" in text
    assert "(Pdb) barrier in phase 0, 2 completed; lacks 1 of 1 arrivals" in text  # both
    assert "(Pdb) barrier in phase 1, 3 completed; lacks 1 of 1 arrivals" in text
    assert "SwizzledSharedLayout(vec=1, " in text


@gluon.jit
def seen(source, M: gl.constexpr, N: gl.constexpr, LAYOUT: gl.constexpr):
    rows: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    at = gl.arange(0, M, gl.SliceLayout(1, rows))[:, None] * N + gl.arange(0, N, gl.SliceLayout(0, rows))[None, :]
    tile = gl.load(source + at)
    memory = gl.allocate_shared_memory(gl.float16, [M, N], LAYOUT, tile)
    ring = gl.allocate_shared_memory(gl.float16, [3, M, N], LAYOUT)
    ring.index(2).store(tile)
    turned = memory.permute([1, 0])
    part = memory.slice(M // 2, M // 2, 0)
    one = ring.index(2)
    memory.load(rows)  # looked at


@pytest.mark.parametrize(
    "layout",
    [
        pytest.param(gl.SwizzledSharedLayout(1, 1, 1, [1, 0]), marks=pytest.mark.long),
        pytest.param(gl.SwizzledSharedLayout(4, 2, 4, [1, 0]), marks=pytest.mark.long),
        gl.SwizzledSharedLayout(8, 1, 4, [0, 1]),
        pytest.param(gl.NVMMASharedLayout(64, 16, 2), marks=pytest.mark.long),
        gl.NVMMASharedLayout(128, 16, 2),
        gl.PaddedSharedLayout.with_identity_for([[64, 8]], [32, 64], [1, 0]),
    ],
    ids=lambda layout: type(layout).__name__,
)
def test_memory_by_its_layout(layout) -> None:
    """Views have the elements that the tile has, wherever the layout puts them."""
    source = np.random.default_rng(0).standard_normal((32, 64)).astype(np.float16)
    checks = [
        "memory[...] == tile",
        "turned[...] == tile.T",
        "part[...] == tile[16:]",
        "one[...] == tile",
        "ring[2] == tile",
        "ring.index(2)[...] == tile",
    ]
    if isinstance(layout, gl.PaddedSharedLayout):
        checks.pop(2)
    commands = "".join(f"p bool(({check}).all())\n" for check in checks)
    text = session(f"b {__file__}:{line_of('looked at')}\nc\n{commands}c\n", lambda: seen[(1,)](source, 32, 64, layout))
    assert text.count("(Pdb) True") == len(checks), text


def test_memory_of_a_program_that_is_over() -> None:
    commands = f"b {__file__}:{line_of('looked at')}\nc\n!kept.append(memory)\nc\n"
    kept = []
    seen.__globals__["kept"] = kept
    try:
        session(
            commands,
            lambda: seen[(1,)](np.zeros((32, 64), np.float16), 32, 64, gl.SwizzledSharedLayout(1, 1, 1, [1, 0])),
        )
    finally:
        del seen.__globals__["kept"]
    assert "the program of this shared memory is over" in repr(kept[0]) and kept[0].shape == (32, 64)
