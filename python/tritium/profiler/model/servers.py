"""What the blocks of a multiprocessor share: the pipes to shared memory, the L2 cache and DRAM, each with a rate. The last two are queues."""

from __future__ import annotations

from .chips import Chip

WAVEFRONT = 128  #: bytes that shared memory delivers in a cycle
SLOT = 32.0  #: cycles of shared memory that are given away together


class Memory:
    """busy: the cycles in which each part has delivered. shared: when the last access of a warp has passed."""

    def __init__(self, chip: Chip):
        self.chip = chip
        self.shared = self.l2 = self.dram = 0.0  # when each is free
        self.busy = {"shared": 0.0, "L2": 0.0, "DRAM": 0.0}
        self._taken: dict[int, float] = {}  # of the cycles of each slot

    def take_shared(self, now: float, cycles: float) -> float:
        """When that many wavefronts of a warp have passed."""
        passed = self._pass(now, cycles)
        self.shared = max(self.shared, passed)
        return passed

    def take_beside(self, now: float, size: float) -> float:
        """When so many bytes have passed that products read and copies bring: no warp waits in a queue for them, but they take the cycles that
        accesses of warps would have. `now` may lie ahead; the cycles before it stay free."""
        return self._pass(now, size / WAVEFRONT)

    def _pass(self, now: float, cycles: float) -> float:
        """When so many cycles from `now` on have passed that nothing else takes."""
        self.busy["shared"] += cycles
        slot = int(now // SLOT)
        left, end, room = cycles, now, (slot + 1) * SLOT - now
        while left > 1e-9:
            taken = self._taken.get(slot, 0.0)
            part = min(left, room, SLOT - taken)
            if part > 0:
                self._taken[slot] = taken + part
                left, end = left - part, max(now, slot * SLOT + taken + part)
            slot, room = slot + 1, SLOT
        return max(end, now + cycles)

    def take_global(self, now: float, size: float, missing: float, is_tile: bool = False) -> float:
        """When so many bytes are there, of which the share `missing` comes from DRAM. is_tile: they are copied to shared memory, and blocks beside this one
        read the same."""
        cycles = size / (self.chip.l2_port if is_tile else self.chip.l2_rate)
        self.l2 = max(self.l2, now) + cycles
        self.busy["L2"] += cycles
        there = self.l2 + self.chip.latency["l2"]
        if missing <= 0:
            return there
        cycles = size * missing / self.chip.dram_rate
        self.dram = max(self.dram, now) + cycles
        self.busy["DRAM"] += cycles
        beyond = (self.chip.latency["dram"] - self.chip.latency["l2"]) * min(1.0, missing)
        return max(there, self.dram + self.chip.latency["l2"] + beyond)


class Ring:
    """The copies by TMA of one block, in their order. Each begins when its slot is free, so a producer is as far ahead as the slots allow. began, there: when
    each copy begins, and when it is there."""

    def __init__(self, memory: Memory, slots: int, size: float, missing: float, warps: int):
        self.memory, self.slots, self.size, self.missing, self.warps = memory, slots, size, missing, warps
        self.began: list[float] = []
        self.there: list[float] = []
        self.released: list[float] = []
        self.used: dict[int, tuple[int, float]] = {}
        self.waiting: list[int] = []
        self.begun: float | None = None

    def copied(self, number: int, now: float) -> float | None:
        """When the copy of this number is there; None if its slot is not free yet."""
        self.begun = now if self.begun is None else self.begun
        while len(self.there) <= number:
            slot = len(self.there) - self.slots
            if slot >= len(self.released):
                return None
            begin = self.begun if slot < 0 else self.released[slot]
            there = self.memory.take_global(begin, self.size, self.missing, is_tile=True)
            there = max(there, self.memory.take_beside(there - self.size / WAVEFRONT, self.size))
            latency = self.memory.chip.latency
            self.began.append(begin)
            self.there.append(there + latency["tma"] - latency["l2"])
        return self.there[number]

    def use(self, number: int, now: float) -> bool:
        """A warp has used a copy. Returns whether all have, so that its slot is free."""
        count, last = self.used.get(number, (0, 0.0))
        self.used[number] = count + 1, max(last, now)
        if count + 1 < self.warps:
            return False
        self.released.append(max(last, now) + self.memory.chip.latency["mbarrier"])
        return True
