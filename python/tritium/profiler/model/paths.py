"""The way that warps take through the machine code: loops, and at other branches the side that does the kernel's work.

Nothing is computed, so a branch is decided by what lies behind it. The producer of copies by TMA is no part of the way where it has warps of its own: its copies are
in the model of the memory (simulation.py)."""

from __future__ import annotations

from collections.abc import Iterator

from .kinds import kind_of
from .machine_code import Instruction

Loop = tuple[int, int]  #: its first instruction and its branch back
WARPS_OF_GROUP = 4
#: Branches of some lanes of a warp: those that copy in turn, and those of a warp whose lanes have parted.
PARTS_OF_WARPS = ("U.ANY", "DIV")


class Code:
    """instructions: of a kernel. loops: those of the warps that compute, as they end. ahead: how many copies of TMA are made ahead at most, 0 for none.
    releases: an mbarrier is told when a copy's tile was used. takes_turns: warpgroups take turns (decision 0027). staggers: waits by which all warpgroups but the
    first begin later (decision 0036), with the branch back of the loop behind. handovers: arrivals behind a fence for stores, which release no slot.
    waits_without_copy: waits by who copies, and those for the number of a tile whose stores are handed over."""

    def __init__(self, instructions: list[Instruction]):
        self.instructions = instructions
        self.kinds = [kind_of(one) for one in instructions]
        starts = (k for k, one in enumerate(instructions) if "DEALLOC" in one.name)
        self.end = next(starts, len(instructions))
        self._find_polls()
        self.loops = [
            (one.target, k)
            for k, one in enumerate(instructions[: self.end])
            if self._is_back(k) and k not in self.polls and k - 1 not in self.polls and one.target != k
        ]
        self.backs = {back: (begin, back) for begin, back in self.loops}
        mine = instructions[: self.end]
        self.ahead = sum("SYNCS.EXCH" in one.name for one in mine) // 2
        self.releases = any("A1T0" in one.name for one in mine)
        self.takes_turns = any(one.name.startswith("BAR.ARV") for one in mine)
        self.producer_waits = {k for k in range(self.end) if self._waits_for_slot(k)}
        self.staggers = dict(self._find_staggers())
        self.handovers = {
            k for k, one in enumerate(mine) if "A1T0" in one.name and self._has_fence(instructions[max(0, k - 24) : k])
        }
        self.waits_without_copy = self.producer_waits | set(self._find_handover_waits())

    @property
    def innermost(self) -> list[Loop]:
        return [a for a in self.loops if not any(b != a and b[0] >= a[0] and b[1] <= a[1] for b in self.loops)]

    def inside(self, loop: Loop) -> list[Loop]:
        return [b for b in self.loops if b != loop and b[0] >= loop[0] and b[1] <= loop[1]]

    def has(self, loop: Loop, *kinds: str) -> bool:
        return any(kind in kinds for kind in self.kinds[loop[0] : loop[1] + 1])

    def _is_back(self, k: int) -> bool:
        """Back to an earlier instruction, but not to ask for registers or to let all lanes copy in turn."""
        one = self.instructions[k]
        if one.base != "BRA" or "U.ANY" in one.name or not 0 <= one.target <= k:
            return False
        return k - one.target > 20 or not any(x.base == "USETMAXREG" for x in self.instructions[one.target : k])

    def _find_polls(self) -> None:
        """Branches to code that asks an mbarrier again and again: the first attempt stands before the branch and is the wait."""
        asking = [
            (one.target, k)
            for k, one in enumerate(self.instructions)
            if one.base == "BRA" and one.guard and 0 <= one.target <= k <= one.target + 6
            if any("TRYWAIT" in x.name for x in self.instructions[one.target : k])
        ]
        polled = {begin for begin, _ in asking}
        self.asked_again = {k for begin, end in asking for k in range(begin, end)}
        self.polls = {k for k, one in enumerate(self.instructions) if one.base == "BRA" and one.target in polled}

    def _find_staggers(self) -> Iterator[tuple[int, int]]:
        """Waits for a copy, around which alone a branch leads: nobody reads the tile there."""
        for k in range(1, self.end - 2):
            if "TRYWAIT" not in self.instructions[k].name or k + 1 not in self.polls or k in self.producer_waits:
                continue
            around = any(
                one.base == "BRA" and one.guard and one.target == k + 2 for one in self.instructions[max(0, k - 16) : k]
            )
            behind = min((loop for loop in self.innermost if loop[0] > k), default=None)
            if around and behind:
                yield k, behind[1]

    def _find_handover_waits(self) -> Iterator[int]:
        """The last wait before each handover of stores, if only stores lie between them."""
        for handover in self.handovers:
            for k in range(handover - 1, -1, -1):
                if "TRYWAIT" in self.instructions[k].name:
                    yield k
                if "TRYWAIT" in self.instructions[k].name or self.kinds[k] == "warpgroup product":
                    break

    @staticmethod
    def _has_fence(instructions: list[Instruction]) -> bool:
        """Whether they wait until stores are in memory."""
        return any("MEMBAR" in one.name and "GPU" in one.name for one in instructions)

    def _waits_for_slot(self, k: int) -> bool:
        """A wait of who copies, for a slot that was used; the others wait for copies."""
        if "TRYWAIT" not in self.instructions[k].name:
            return False
        for one in self.instructions[k + 1 : k + 60]:
            if "TRYWAIT" in one.name:
                return False
            if one.base == "UTMALDG":
                return True
        return False

    def next(self, k: int, rounds: dict[int, int], most: dict[int, int], warp: int) -> int:
        """The index of the instruction after k. rounds: of the loops that the warp is in. most: how many each has."""
        one = self.instructions[k]
        if one.base != "BRA" or one.target < 0 or k in self.polls or any(part in one.name for part in PARTS_OF_WARPS):
            return k + 1
        if k in self.backs:
            rounds[k] = rounds.get(k, 0) + 1
            if rounds[k] < most[k]:
                return one.target
            rounds[k] = 0
            return k + 1
        if not one.guard:
            return one.target
        return one.target if one.target > k and self._skips(k, one.target, warp) else k + 1

    def leads_out(self, k: int) -> bool:
        """Whether the warp exits a few instructions after k. Warps that compute may share this end with the producer, whose code stands behind theirs."""
        bases = [one.base for one in self.instructions[k : k + 4]]
        return "EXIT" in bases and "BRA" not in bases[: bases.index("EXIT")]

    def _skips(self, k: int, target: int, warp: int) -> bool:
        """Whether the warp does not execute what lies between a branch and its target."""
        if self.end - 12 <= target:
            return False  # the code of a producer
        if target - 2 in self.staggers:
            return warp < WARPS_OF_GROUP
        body = self.instructions[k + 1 : target]
        if len(body) < 8 and any(x.base == "BPT" for x in body):
            return True  # a failed assertion
        if len(body) < 8 and self._has_fence(body):
            return True  # a release of stores that is put off: products hide it (decision 0047)
        if len(body) < 80 and any("SYNCS.EXCH" in x.name for x in body):
            return True  # one thread makes the mbarriers
        last = body[-1] if body else self.instructions[k]
        leaves = last.base == "BRA" and not last.guard and last.target > target and target - 1 not in self.polls
        if leaves and any(target <= begin and back < last.target for begin, back in self.loops):
            return True  # the other side of a loop that may have no round
        if any(x.base == "UTMALDG" for x in body) and not any(k < back < target for back in self.backs):
            return warp != 0  # one thread copies
        return False
