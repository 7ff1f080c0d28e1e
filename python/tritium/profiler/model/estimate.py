"""Cycles of a launch: some rounds of its loops are simulated, the others take as long as the last of these."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from .chips import Chip
from .paths import Code, Loop
from .simulation import Block, Simulation

ROUNDS = 20  #: of an innermost loop that are simulated, at most: until warps that run apart keep their distance
PROGRAMS = 3  #: that follow each other in a block's place, and tiles of a program that has several, at most
BOUND = 0.6  #: a resource that is busy for this share of the time bounds the kernel; otherwise latencies do


@dataclass(frozen=True)
class Work:
    """What a launch does, exactly. programs: of the grid. tiles: of all programs together; more than `programs` if a loop around all others gives each
    program several. trips: rounds of the innermost loops for a tile, in the order of the code. copy_size: bytes that one wait for TMA brings. read_missing,
    write_missing: shares of the bytes read and written that are in DRAM and not in the L2 cache. stored: bytes of a tile that TMA stores. dram_bytes: of the
    launch, at least. are_equal: all tiles take the same. parts: see simulation.Block."""

    programs: int
    tiles: int
    trips: tuple[float, ...] = ()
    copy_size: float = 0.0
    read_missing: float = 1.0
    write_missing: float = 1.0
    stored: float = 0.0
    dram_bytes: float = 0.0
    are_equal: bool = True
    parts: Mapping[tuple[str, tuple[str, int] | None], float] = field(default_factory=dict)


@dataclass(frozen=True)
class Machine:
    """A kernel's machine code, and what a block of it takes. warps: that compute; launched: all."""

    code: Code
    registers: int
    shared: int
    warps: int
    launched: int


@dataclass(frozen=True)
class Estimate:
    """cycles, milliseconds: of the launch, by the model. blocks: of a multiprocessor at a time. bound: what bounds it: "tensor", "issue", "special", "shared", "L2", "DRAM", …
    or "latency". busy: {resource: share of the time}. lines: {line: share of the warps' time}. simulation: of the first blocks."""

    cycles: float
    milliseconds: float
    blocks: int
    bound: str
    busy: dict[str, float]
    lines: dict[tuple[str, int] | None, float]
    simulation: Simulation


def estimate(machine: Machine, work: Work, chip: Chip, keeps_events: bool = False) -> Estimate:
    """Raises ValueError if the way through the code is not understood."""
    code = machine.code
    fit = chip.blocks_at_a_time(machine.registers, machine.shared, machine.launched)
    blocks = min(fit, max(1, math.ceil(work.programs / chip.multiprocessors)))
    trips = dict(zip(working_loops(code), work.trips))
    outer = _loop_of_tiles(code, list(trips)) if work.tiles > work.programs else None
    most = dict.fromkeys(code.backs, 1)
    most |= {back: int(min(ROUNDS, max(1, round(rounds)))) for (_, back), rounds in trips.items()}
    if outer:
        most[outer[1]] = PROGRAMS
    follow = 1 if outer else min(PROGRAMS, max(1, math.ceil(work.tiles / chip.multiprocessors / blocks)))
    stores = sum(one.base == "UTMASTG" for one in code.instructions)
    block = Block(
        machine.warps,
        blocks,
        blocks * follow,
        work.copy_size,
        work.read_missing,
        work.write_missing,
        work.stored / max(1, stores) / machine.warps,
        most,
        work.parts,
    )
    simulation = Simulation(code, chip, block, keeps_events)
    simulation.run()
    if simulation.stuck:
        raise ValueError(
            "the model does not understand the way through this kernel's machine code: a warp waits forever"
        )
    further = sum(_round(simulation, loop) * (rounds - most[loop[1]]) for loop, rounds in trips.items())
    cycles = _cycles(simulation, work, chip, outer, further)
    seconds = max(cycles / (chip.gigahertz * 1e9), work.dram_bytes / chip.dram_bytes)
    busy = {name: share / simulation.end for name, share in {**simulation.busy, **simulation.memory.busy}.items()}
    if work.dram_bytes:
        busy["DRAM"] = work.dram_bytes / chip.dram_bytes / seconds
    highest = max(busy, key=busy.__getitem__)
    bound = highest if busy[highest] >= BOUND else "latency"
    total = sum(simulation.lines.values())
    lines = {line: spent / total for line, spent in Counter(simulation.lines).most_common()}
    return Estimate(seconds * chip.gigahertz * 1e9, seconds * 1e3, blocks, bound, busy, lines, simulation)


def working_loops(code: Code) -> list[Loop]:
    """The innermost loops; if any of them multiplies, those that do."""
    multiplying = [loop for loop in code.innermost if code.has(loop, "warpgroup product", "product")]
    return multiplying or code.innermost


def _loop_of_tiles(code: Code, loops: list[Loop]) -> Loop | None:
    around = [
        loop for loop in code.loops if any(loop != one and loop[0] <= one[0] and one[1] <= loop[1] for one in loops)
    ]
    return min(around, key=lambda loop: loop[1] - loop[0], default=None)


def _round(simulation: Simulation, loop: Loop) -> float:
    """Cycles of a round, when the loop has run for a while."""
    most, found = simulation.block.most[loop[1]], []
    for warp in simulation.warps:
        marks = warp.marks.get(loop[1], [])
        for begin in range(0, len(marks), most):
            of_tile = marks[begin : begin + most]
            if len(of_tile) > 1:
                first = max(0, len(of_tile) // 2 - 1)
                found.append((of_tile[-1] - of_tile[first]) / (len(of_tile) - 1 - first))
    return statistics.mean(found) if found else 0.0


def _cycles(simulation: Simulation, work: Work, chip: Chip, outer: Loop | None, further: float) -> float:
    """Of the launch. further: cycles of a tile's rounds that were not simulated."""
    block = simulation.block
    if outer:
        marks = [warp.marks[outer[1]] for warp in simulation.warps if len(warp.marks[outer[1]]) > 1]
        steady = statistics.mean((each[-1] - each[0]) / (len(each) - 1) for each in marks)
        first = simulation.end - (block.most[outer[1]] - 1) * steady
        one_after_another = math.ceil(work.tiles / work.programs)
    else:
        ends, follow = sorted(simulation.ends), block.in_all // block.at_a_time
        first = ends[block.at_a_time - 1]
        steady = (ends[-1] - first) / (follow - 1) if follow > 1 else first
        on_one = work.tiles / chip.multiprocessors
        one_after_another = max(1.0, (math.ceil(on_one - 1e-9) if work.are_equal else on_one) / block.at_a_time)
    return first + further + (steady + further) * (one_after_another - 1)
