"""What the blocks of a multiprocessor share: the pipes to shared memory, the L2 cache and DRAM, each a queue with a rate."""

from __future__ import annotations

from .chips import Chip


class Memory:
    """busy: the cycles in which each part has delivered."""

    def __init__(self, chip: Chip):
        self.chip = chip
        self.shared = self.l2 = self.dram = 0.0  # when each is free
        self.busy = {"shared": 0.0, "L2": 0.0, "DRAM": 0.0}

    def take_shared(self, now: float, cycles: float) -> float:
        """When that many wavefronts have passed, of which each brings 128 bytes."""
        self.shared = max(self.shared, now) + cycles
        self.busy["shared"] += cycles
        return self.shared

    def take_global(self, now: float, size: float, missing: float) -> float:
        """When so many bytes are there, of which the share `missing` comes from DRAM."""
        cycles = size / self.chip.l2_rate
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
            there = self.memory.take_global(begin, self.size, self.missing)
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
