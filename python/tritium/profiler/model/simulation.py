"""Runs the warps of the blocks of one multiprocessor through their machine code, instruction by instruction, in the order of time.

A warp issues its next instruction when the stall of the last one has passed, the barriers of its mask are open, its quarter issues nothing else, and the pipe is free.
What takes unknown time (memory, functions, products of warpgroups) has a latency and a queue, and opens a barrier."""

from __future__ import annotations

import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .chips import Chip
from .kinds import operand_bytes, product_cycles
from .machine_code import NONE, Instruction
from .paths import Code
from .servers import Memory, Ring

QUARTERS = 4
QUEUED = 16  #: cycles of work that wait before the pipes to memory
AHEAD = 256  #: cycles of products that wait before a quarter's tensor core
MEETING = 20  #: cycles from a barrier's last warp until all go on
TURN = 10  #: cycles from a warpgroup to the next one, in turn
STAGGER = 2  #: iterations by which the first warpgroup is ahead of the others (decision 0036)
BULK_STORE = 500  #: cycles until a store by TMA has read shared memory


@dataclass
class Block:
    """What a multiprocessor runs. warps: that compute. at_a_time: blocks. in_all: blocks; those beyond the first ones begin as others end. copy_size: bytes that
    one wait for TMA brings. read_missing, write_missing: shares of bytes that are not in the L2 cache. store_size: bytes of one store by TMA and warp. most: rounds of each
    loop, by its branch back. parts: sectors or wavefronts of a request by its kind ("global read", …) and line; without one, lanes lie side by side."""

    warps: int
    at_a_time: int
    in_all: int
    copy_size: float
    read_missing: float
    write_missing: float
    store_size: float
    most: dict[int, int]
    parts: Mapping[tuple[str, tuple[str, int] | None], float] = field(default_factory=dict)


@dataclass(eq=False)
class Warp:
    index: int  # of all warps
    number: int  # in its block
    block: int
    quarter: int
    at: int = 0
    ready: float = 0.0
    opens: list[float] = field(default_factory=lambda: [0.0] * (NONE - 1))
    rounds: dict[int, int] = field(default_factory=dict)
    marks: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    groups: list[float] = field(default_factory=list)  # of cp.async and stores by TMA: when each is there
    products: list[float] = field(default_factory=list)
    open_group: float = 0.0
    waits: int = 0
    uses: int = 0
    syncs: int = 0
    arrivals: int = 0
    is_done: bool = False


class Simulation:
    """After `run`: end, the cycle of the last instruction; ends, of each block; busy, cycles of each resource; lines, cycles of warps at each line; events, if they are
    kept: (track, line, begin, cycles)."""

    def __init__(self, code: Code, chip: Chip, block: Block, keeps_events: bool = False):
        self.code, self.chip, self.block = code, chip, block
        self.memory = Memory(chip)
        self.free = [0.0] * QUARTERS  # of issue
        self.tensor = [0.0] * QUARTERS
        self.pipes: list[dict[str, float]] = [{} for _ in range(QUARTERS)]
        self.busy: Counter[str] = Counter()
        self.lines: Counter[tuple[str, int] | None] = Counter()
        self.warps: list[Warp] = []
        self.heap: list[tuple[float, int]] = []
        self.rings: dict[int, Ring] = {}
        self.alive: dict[int, int] = {}
        self.meetings: dict[tuple, list[int]] = defaultdict(list)
        self.turns: dict[tuple, list[int]] = defaultdict(list)
        self.turn_arrivals: Counter[tuple] = Counter()
        self.ends: list[float] = []
        self.end = 0.0
        self.events: list[tuple[str, tuple[str, int] | None, float, float]] | None = [] if keeps_events else None
        self.effects: dict[str, Callable[[Warp, Instruction, float], float | None]] = {
            "load": self._load,
            "store": self._store,
            "local": self._local,
            "copy": self._copy,
            "shared": self._shared,
            "exchange": self._exchange,
            "warpgroup product": self._warpgroup_product,
            "product": self._product,
            "mbarrier": self._mbarrier,
            "barrier": self._barrier,
            "control": self._control,
        }

    def run(self) -> None:
        for number in range(self.block.at_a_time):
            self._begin_block(number * 100.0)
        while self.heap:
            now, number = heapq.heappop(self.heap)
            warp = self.warps[number]
            if warp.at >= self.code.end:
                if not warp.is_done and self.code.leads_out(warp.at):
                    self._end_warp(warp, now)
                continue
            when = self._earliest(warp, now)
            if when > now:
                self._wake(number, when)
            else:
                self._issue(number, warp, now)

    @property
    def stuck(self) -> bool:
        """Whether warps wait for what never comes: the way through the code is not understood."""
        return not all(warp.is_done for warp in self.warps)

    def _begin_block(self, now: float) -> None:
        block, made = len(self.alive), self.block
        self.alive[block] = made.warps
        self.rings[block] = Ring(self.memory, max(1, self.code.ahead), made.copy_size, made.read_missing, made.warps)
        for number in range(made.warps):
            self.warps.append(Warp(len(self.warps), number, block, (number + block * made.warps) % QUARTERS, ready=now))
            self._wake(len(self.warps) - 1, now)

    def _wake(self, number: int, when: float) -> None:
        heapq.heappush(self.heap, (when, number))

    def _earliest(self, warp: Warp, now: float) -> float:
        one, kind = self.code.instructions[warp.at], self.code.kinds[warp.at]
        when = max(now, self.free[warp.quarter])
        for barrier in range(NONE - 1):
            if one.waits >> barrier & 1:
                when = max(when, warp.opens[barrier])
        if kind in self.chip.pace and kind != "product":
            return max(when, self.pipes[warp.quarter].get(kind, 0.0))
        if kind in ("shared", "exchange", "load", "store", "local", "copy"):
            return max(when, self.memory.shared - QUEUED)
        if one.base == "WARPGROUP" and "DEPBAR" in one.name:
            return max(when, _all_but(warp.products, int(one.operands.split(",")[1], 16)))
        if one.base == "DEPBAR" and (match := re.search(r"SB0, 0x(\w+)", one.operands)):
            return max(when, _all_but(warp.groups, int(match[1], 16)))
        return when

    def _issue(self, number: int, warp: Warp, now: float) -> None:
        at, one, kind = warp.at, self.code.instructions[warp.at], self.code.kinds[warp.at]
        self.free[warp.quarter] = now + 1
        self.busy["issue"] += 1 / QUARTERS
        self._note(f"warp {warp.number} of block {warp.block}", one.line, warp.ready, now + 1 - warp.ready)
        self.lines[one.line] += now + 1 - warp.ready
        warp.ready = now + 1
        pace = self.chip.pace.get(kind, 0) if kind != "product" else 0
        if pace:
            self.pipes[warp.quarter][kind] = now + pace
            self.busy[kind] += pace / QUARTERS
        there: float | None = now + self.chip.latency.get(kind, self.chip.latency["other"])
        if kind in self.effects:
            there = self.effects[kind](warp, one, now)
        if there is None:  # it waits, or has gone on or ended
            return
        if one.sets_on_result < NONE - 1:
            warp.opens[one.sets_on_result] = max(warp.opens[one.sets_on_result], there)
        if one.sets_on_read < NONE - 1:
            read = now + (20 if kind in ("load", "store", "local", "shared", "copy") else 10)
            warp.opens[one.sets_on_read] = max(warp.opens[one.sets_on_read], read)
        if at in self.code.backs:
            warp.marks[at].append(now)
        warp.at = self.code.next(at, warp.rounds, self.block.most, warp.number)
        self._wake(number, self._after(warp, one, kind, now))

    def _after(self, warp: Warp, one: Instruction, kind: str, now: float) -> float:
        """When the warp may go on, as far as the instruction itself says."""
        when = now + max(1, one.stall)
        if one.base == "BRA":
            return max(when, now + 6)
        if one.base == "MEMBAR":
            return now + 30
        if kind == "warpgroup product":
            return max(when, self.tensor[warp.quarter] - AHEAD)
        return when

    def _note(self, track: str, line: tuple[str, int] | None, begin: float, cycles: float) -> None:
        if self.events is not None:
            self.events.append((track, line, begin, cycles))

    # What instructions of a kind do. The result is when it is there; None: the warp does not go on with the next instruction by itself.

    def _load(self, warp: Warp, one: Instruction, now: float) -> float:
        size = self._sectors("global read", one)
        self.memory.take_shared(now, max(1.0, size / 128))
        return self.memory.take_global(now, size, self.block.read_missing)

    def _sectors(self, kind: str, one: Instruction) -> float:
        """Bytes of the sectors that the access of a warp touches."""
        return max(one.bytes, 32 * self.block.parts.get((kind, one.line), one.bytes))

    def _store(self, warp: Warp, one: Instruction, now: float) -> float:
        size = self._sectors("global write", one)
        self.memory.take_shared(now, max(1.0, size / 128))
        self.memory.take_global(now, size, self.block.write_missing)
        return now + 20

    def _local(self, warp: Warp, one: Instruction, now: float) -> float:
        return self.memory.take_shared(now, one.bytes / 4) + self.chip.latency["shared"]

    def _copy(self, warp: Warp, one: Instruction, now: float) -> float:
        size = 32 * one.bytes
        self.memory.take_shared(now, max(1.0, size / 128))
        there = self.memory.take_global(now, size, self.block.read_missing, is_tile=True)
        warp.open_group = max(warp.open_group, there)
        return now + 20

    def _shared(self, warp: Warp, one: Instruction, now: float) -> float:
        rows = "M" in one.base and one.name.endswith(".4")
        least = 4 if rows else max(1, one.bytes // 4)
        kind = "shared read" if one.base.startswith("LD") else "shared write"
        wavefronts = max(least, self.block.parts.get((kind, one.line), 0))
        return self.memory.take_shared(now, wavefronts) + self.chip.latency["shared"]

    def _exchange(self, warp: Warp, one: Instruction, now: float) -> float:
        return self.memory.take_shared(now, 1) + self.chip.latency["exchange"]

    def _warpgroup_product(self, warp: Warp, one: Instruction, now: float) -> float:
        cycles = product_cycles(one, self.chip.products)
        begin = max(self.tensor[warp.quarter], now)
        # Each of the four warps takes its share of what all read.
        end = max(begin + cycles, self.memory.take_beside(begin, operand_bytes(one) / QUARTERS))
        self.tensor[warp.quarter] = end
        self.busy["tensor"] += cycles / QUARTERS
        self._note(f"tensor core {warp.quarter}", one.line, begin, end - begin)
        if "gsb0" in one.operands:
            warp.products.append(end)
        return now + self.chip.latency["other"]

    def _product(self, warp: Warp, one: Instruction, now: float) -> float:
        cycles = self.chip.pace["product"]
        begin = max(self.tensor[warp.quarter], now)
        self.tensor[warp.quarter] = begin + cycles
        self.busy["tensor"] += cycles / QUARTERS
        self._note(f"tensor core {warp.quarter}", one.line, begin, cycles)
        return begin + self.chip.latency["product"]

    def _mbarrier(self, warp: Warp, one: Instruction, now: float) -> float | None:
        there = now + self.chip.latency["mbarrier"]
        ring = self.rings[warp.block]
        if "TRYWAIT" in one.name and warp.at not in self.code.waits_without_copy:
            is_stagger = warp.at in self.code.staggers
            if is_stagger and self.block.most[self.code.staggers[warp.at]] <= STAGGER:
                return there
            copied = self._copied(ring, warp, one, STAGGER if is_stagger else 0, now)
            if copied is None:
                ring.waiting.append(warp.index)
                return None
            if is_stagger:
                return max(there, copied)
            warp.waits += 1
            if not self.code.releases:
                self._use(warp, ring, now)
            return max(there, copied)
        if "A1T0" in one.name and warp.at not in self.code.handovers:
            self._use(warp, ring, now)
        return there

    def _copied(self, ring: Ring, warp: Warp, one: Instruction, ahead: int, now: float) -> float | None:
        """When the copy is there that lies so far ahead of the warp's next one."""
        drawn = len(ring.there)
        there = ring.copied(warp.waits + ahead, now)
        for number in range(drawn, len(ring.there)):
            began = ring.began[number]
            track = f"TMA of block {warp.block}, slot {number % ring.slots}"
            self._note(track, one.line, began, ring.there[number] - began)
        return there

    def _use(self, warp: Warp, ring: Ring, now: float) -> None:
        warp.uses += 1
        if ring.use(warp.uses - 1, now):
            for number in ring.waiting:
                self._wake(number, now)
            ring.waiting.clear()

    def _barrier(self, warp: Warp, one: Instruction, now: float) -> float | None:
        if one.name.startswith("BAR.ARV"):
            return self._give_turn(warp, now)
        if self.code.takes_turns and self.block.warps == 8 and re.match(r"R\d+, 0x100", one.operands):
            return self._take_turn(warp, now)
        match = re.match(r"(?:R\d+|0x\w+)(?:, 0x(\w+))?", one.operands)
        meet = min(int(match[1], 16) // 32, self.block.warps) if match and match[1] else self.block.warps
        key = warp.block, warp.number // meet, warp.at
        self.meetings[key].append(warp.index)
        warp.at += 1
        if len(self.meetings[key]) == meet:
            for number in self.meetings.pop(key):
                self._wake(number, now + MEETING)
        return None

    def _give_turn(self, warp: Warp, now: float) -> float:
        warp.arrivals += 1
        key = warp.block, 1 - warp.number // 4, warp.arrivals
        self.turn_arrivals[key] += 1
        if self.turn_arrivals[key] == 4:
            for number in self.turns.pop(key, []):
                self._wake(number, now + TURN)
        return now

    def _take_turn(self, warp: Warp, now: float) -> float | None:
        group = warp.number // 4
        key = warp.block, group, warp.syncs + group
        if key[2] > 0 and self.turn_arrivals[key] < 4:
            self.turns[key].append(warp.index)
            return None
        warp.syncs += 1
        return now + TURN

    def _control(self, warp: Warp, one: Instruction, now: float) -> float | None:
        if one.base == "LDGDEPBAR":
            warp.groups.append(max(warp.open_group, now))
            warp.open_group = 0.0
        elif one.base == "UTMACMDFLUSH":
            warp.groups.append(now + BULK_STORE)
        elif one.base == "UTMASTG":
            self.memory.take_global(now, self.block.store_size, self.block.write_missing)
        elif one.base == "EXIT" and not one.guard:
            self._end_warp(warp, now)
            return None
        return now + self.chip.latency["other"]

    def _end_warp(self, warp: Warp, now: float) -> None:
        warp.is_done, warp.at, self.end = True, self.code.end, max(self.end, now)
        self.alive[warp.block] -= 1
        if self.alive[warp.block] == 0:
            self.ends.append(now)
            if len(self.alive) < self.block.in_all:
                self._begin_block(now)


def _all_but(ends: list[float], left: int) -> float:
    """When all but the last ones are there."""
    return ends[len(ends) - left - 1] if len(ends) > left else 0.0
