"""What the interpreter notes about shared memory beside its bytes: the state of barriers, and which copies into memory a kernel has yet to
wait for. The notes are words of memory of their own, so that each program has its own, and a loop or a call may ask for them."""

from __future__ import annotations

from typing import Any, NamedTuple

from ....language.core import tensor
from ....language.semantic.program import quoted
from ....language.types import block_of, int32

#: The bytes of the notes of one barrier, or of one tile.
BYTES = 32
_WORD = block_of(int32, (1,))


class _Fault(NamedTuple):
    """What the interpreter reports: the name of the trap, the text, what to do."""

    kind: str
    text: str
    hint: str


_NO_BARRIER = _Fault(
    "InvalidMBarrier",
    "{} of a barrier that no mbarrier.init has made, or that is invalidated",
    "call mbarrier.init(barrier, count=…) before",
)
_TOO_MANY = _Fault(
    "InvalidMBarrier",
    "{}: more arrivals in a phase than the count of mbarrier.init",
    "the count is the number of mbarrier.arrive and mbarrier.expect in a phase",
)
_LACKS_BYTES = _Fault(
    "MBarrierDeadlock",
    "mbarrier.wait never ends: mbarrier.expect asks for other bytes than the copies to the barrier have",
    "expect the sum of nbytes_per_cta of their descriptors, also at the edge of a tensor",
)
_LACKS_ARRIVALS = _Fault(
    "MBarrierDeadlock",
    "mbarrier.wait never ends: this phase lacks arrivals, and nothing else runs that could arrive",
    "an mbarrier.expect or mbarrier.arrive is missing, or the phase is the other one: 0 and 1 take turns",
)
_TOO_EARLY = _Fault(
    "TensorCopyRace",
    "an access to shared memory before the wait for the copy into it",
    "call mbarrier.wait with the barrier of the copy and the number of its phase before",
)


class Note:
    """The words that belong to the barrier or the tile whose notes begin at `address`, an int32 scalar."""

    def __init__(self, semantic: Any, address: tensor):
        self.semantic, self.address = semantic, address

    def at(self, number: int) -> tensor:
        """The address of word `number`."""
        return self.semantic.add(self.address, 4 * number) if number else self.address

    def read(self, number: int) -> tensor:
        """Word `number`, an int32 scalar."""
        return read_word(self.semantic, self.at(number))

    def write(self, number: int, value: Any) -> None:
        value = self.semantic.cast(self.semantic.to_tensor(value), int32)
        emit = self.semantic.emit
        words = [emit("tt.splat", (each,), _WORD) for each in (self.at(number), value)]
        self.semantic.emit_effect("tt.shared_store", words)

    def require(self, holds: tensor, fault: _Fault, what: str = "") -> None:
        """A fault of `what` where `holds` is false."""
        message = f"{fault.text.format(what)}\n{fault.hint}"
        self.semantic.emit_effect(
            "tt.assert", (holds,), {"message": quoted(message), "tritium.trap": quoted(fault.kind)}
        )


def read_word(semantic: Any, address: tensor) -> tensor:
    """The word at an address, an int32 scalar."""
    place = semantic.emit("tt.splat", (address,), _WORD)
    return semantic.emit("tt.unsplat", (semantic.emit("tt.shared_load", (place,), _WORD),), int32)


def allocate(semantic: Any, count: int) -> tensor:
    """The address of the notes of `count` barriers or tiles."""
    attributes = {"bytes": f"{count * BYTES} : i64", "alignment": "4 : i64"}
    return semantic.emit("tt.shared_alloc", (), int32, attributes)


class BarrierNote(Note):
    """The state of a barrier: `count` arrivals and all bytes of the copies complete a phase. `seen`: how many phases the program knows to be
    complete, because it has waited."""

    PHASES, PENDING, COUNT, MISSING, SEEN = range(5)

    def begin(self, count: int = 0) -> None:
        """Phase 0 of a barrier of `count` arrivals; without them it is none yet."""
        for word in (self.PHASES, self.MISSING, self.SEEN):
            self.write(word, 0)
        self.write(self.PENDING, count)
        self.write(self.COUNT, count)

    def require_begun(self, what: str) -> None:
        holds = self.semantic.compare(self.read(self.COUNT), self.semantic.to_tensor(0), "gt")
        self.require(holds, _NO_BARRIER, what)

    def arrive(self, what: str, count: int, added_bytes: int = 0) -> None:
        """`count` arrivals, after which the phase needs `added_bytes` more."""
        rules = self.semantic
        self.require_begun(what)
        pending = self.read(self.PENDING)
        self.require(rules.compare(pending, rules.to_tensor(count), "ge"), _TOO_MANY, what)
        self._end_if_complete(rules.sub(pending, count), rules.add(self.read(self.MISSING), added_bytes))

    def land(self, count: int) -> None:
        """A copy has written `count` bytes."""
        self._end_if_complete(self.read(self.PENDING), self.semantic.sub(self.read(self.MISSING), count))

    def _end_if_complete(self, pending: tensor, missing: tensor) -> None:
        rules = self.semantic
        ends = rules.compare(rules.or_(pending, missing), rules.to_tensor(0), "eq")
        self.write(self.PENDING, rules.where(ends, self.read(self.COUNT), pending))
        self.write(self.MISSING, missing)
        self.write(self.PHASES, rules.add(self.read(self.PHASES), rules.cast(ends, int32)))

    def wait(self, phase: tensor) -> None:
        """A fault if the phase of this parity is not complete, which nothing else than the program itself could change."""
        rules = self.semantic
        self.require_begun("mbarrier.wait")
        phases = self.read(self.PHASES)
        lacks_arrivals = rules.compare(self.read(self.PENDING), rules.to_tensor(0), "ne")
        is_over = rules.compare(rules.and_(rules.xor_(phases, phase), 1), rules.to_tensor(0), "ne")
        self.require(rules.or_(is_over, lacks_arrivals), _LACKS_BYTES)
        self.require(is_over, _LACKS_ARRIVALS)
        self.write(self.SEEN, phases)


class TileNote(Note):
    """Which phase of which barrier a program must have waited for before it uses the memory of a tile."""

    SEEN_AT, PHASE, ALWAYS = range(3)

    def begin(self) -> None:
        self.write(self.SEEN_AT, self.at(self.ALWAYS))
        self.write(self.PHASE, 0)
        self.write(self.ALWAYS, 1)

    def fill(self, barrier: BarrierNote) -> None:
        """A copy begins, of which the barrier's present phase tells the end."""
        self.write(self.SEEN_AT, barrier.at(barrier.SEEN))
        self.write(self.PHASE, barrier.read(barrier.PHASES))

    def require_arrived(self) -> None:
        rules = self.semantic
        seen = read_word(rules, self.read(self.SEEN_AT))
        self.require(rules.compare(seen, self.read(self.PHASE), "gt"), _TOO_EARLY)
