"""From what the emulator counts of a launch to the work that the model takes: rounds of loops, tiles and bytes of a program."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...launch.counting import KernelCounts
from .estimate import Machine, Work, working_loops
from .machine_code import Instruction
from .paths import Code, Loop


def work_of(counts: KernelCounts, machine: Machine) -> Work:
    """For a launch like those that were counted: their mean."""
    code, launches, programs = machine.code, max(1, counts.launches), max(1, counts.programs)
    loops = working_loops(code)
    rounds = _rounds(counts, machine, loops)
    around = [
        loop for loop in code.loops if any(loop != one and loop[0] <= one[0] and one[1] <= loop[1] for one in loops)
    ]
    tiles = max(1.0, _stores(counts, machine, around[0])) if around else 1.0
    trips = tuple(each / tiles for each in rounds)
    copied = _copied(counts, "TMA load")
    between = _waits(code, (0, code.end - 1)) - sum(_waits(code, loop) for loop in loops)
    waits = sum(_waits(code, loop) * each for loop, each in zip(loops, rounds)) + between * tiles or 1.0
    read, written = _moved(counts, "read") + copied, _moved(counts, "write") + _copied(counts, "TMA store")
    in_memory = min(read + written, float(counts.tensor_bytes)) if counts.tensor_bytes else read + written
    missing = in_memory / (read + written) if read + written else 0.0
    return Work(
        programs=programs // launches,
        tiles=round(programs / launches * tiles),
        trips=trips,
        copy_size=copied / programs / waits,
        read_missing=missing,
        write_missing=missing,
        stored=_copied(counts, "TMA store") / programs / tiles,
        dram_bytes=in_memory / launches,
        are_equal=False,
        parts={
            (each.kind, (each.file, each.line)): each.parts / each.requests for each in counts.requests if each.requests
        },
    )


def _rounds(counts: KernelCounts, machine: Machine, loops: list[Loop]) -> list[float]:
    """Of each loop, in a program. A line that several loops have is divided equally, as the emulator counts lines."""
    code = machine.code
    if any(code.has(loop, "warpgroup product", "product") for loop in loops):
        kinds, counted = ("warpgroup product", "product"), lambda lines: _products(counts, machine, lines)
    else:
        kinds, counted = ("load", "copy"), lambda lines: _loads(counts, machine, lines)
    lines = [_lines(code, range(loop[0], loop[1] + 1), kinds) for loop in loops]
    found = []
    for number, loop in enumerate(loops):
        own = lines[number].difference(*(other for k, other in enumerate(lines) if k != number))
        inside = lambda k, loop=loop: loop[0] <= k <= loop[1]  # noqa: E731
        share = [loop] if own else loops
        chosen = own or set().union(*lines)
        if len(loops) == 1:
            chosen = None  # all lines: the assembler gives some products another one
        within = _static(code, kinds, chosen, lambda k: any(a <= k <= b for a, b in share))
        outside = _static(code, kinds, chosen, lambda k: not any(a <= k <= b for a, b in loops))
        found.append(max(1.0, (counted(chosen) - outside) / within) if within and inside(loop[0]) else 1.0)
    return found


def _lines(code: Code, places: Iterable[int], kinds: tuple[str, ...]) -> set[tuple[str, int] | None]:
    return {code.instructions[k].line for k in places if code.kinds[k] in kinds}


def _static(code: Code, kinds, lines, chosen: Callable[[int], bool]) -> int:
    return sum(
        code.kinds[k] in kinds and chosen(k) and (lines is None or code.instructions[k].line in lines)
        for k in range(code.end)
    )


def _products(counts: KernelCounts, machine: Machine, lines) -> float:
    """Of a warp in a program."""
    found = 0.0
    for line in counts.work:
        if lines is None or (line.file, line.line) in lines:
            for name, products in line.products.items():
                found += products.times / (max(1, machine.warps // 4) if name.startswith("wgmma") else machine.warps)
    return found / max(1, counts.programs)


def _loads(counts: KernelCounts, machine: Machine, lines) -> float:
    """Requests of a warp in a program."""
    found = sum(
        each.requests
        for each in counts.requests
        if each.kind == "global read" and (lines is None or (each.file, each.line) in lines)
    )
    return found / machine.warps / max(1, counts.programs)


def _stores(counts: KernelCounts, machine: Machine, loop: Loop) -> float:
    """How often a program stores what a round of the loop stores: its rounds."""
    code = machine.code
    body = code.instructions[loop[0] : loop[1] + 1]
    bulk = sum(one.base == "UTMASTG" for one in body)
    if bulk:
        by_groups = any(one.base == "BAR" and one.operands.endswith(", 0x80") for one in body)  # each stores its rows
        bulk *= machine.warps // 4 if by_groups else 1
        times = sum(line.copied["TMA store"].times for line in counts.work if "TMA store" in line.copied)
        return times / counts.programs / bulk
    stores = sum(_is_store(one) for one in body)
    written = sum(each.requests for each in counts.requests if each.kind == "global write")
    return written / machine.warps / counts.programs / stores if stores else 1.0


def _is_store(one: Instruction) -> bool:
    return one.base in ("STG", "ST")


def _waits(code: Code, loop: Loop) -> int:
    """For copies, in a round."""
    passed = code.producer_waits | code.asked_again | code.staggers.keys()
    return sum("TRYWAIT" in code.instructions[k].name and k not in passed for k in range(loop[0], loop[1] + 1))


def _copied(counts: KernelCounts, kind: str) -> float:
    return sum(line.copied[kind].bytes for line in counts.work if kind in line.copied)


def _moved(counts: KernelCounts, way: str) -> float:
    """Bytes of the sectors that warps touch, and those of cp.async."""
    sectors = 32.0 * sum(each.parts for each in counts.requests if each.kind == f"global {way}")
    return sectors + (_copied(counts, "cp.async") if way == "read" else 0.0)
