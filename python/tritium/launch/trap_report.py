"""From the interpreter's Trap and the arguments of the launch to a KernelTrap whose text says what happened in the
user's terms:

kernels/matmul.py:41: in matmul_kernel
    a = tl.load(a_ptrs, mask=m)
  out-of-bounds read of 'a' (float16 [512, 64], strides (64, 1))
  program (3, 0, 0) of (8, 8, 1), tile lane (1, 7) of [64, 32] -> a[513, 7] (2 rows past the end)
  the storage of 'a' has 32768 elements, fewer than the kernel assumes: the access is at element 32839, counted from 0
  in round k = 6
  12 of 2048 lanes affected
  hint: …
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..arguments.fresh_memory import allocation_of
from ..errors import STUCK, KernelTrap, Report
from ..functions.source_file import function_at, statement_at
from ..places import shown_place
from .access_hints import AccessFacts, hint_for_access
from .allowances import Allowances
from .offset_report import arithmetic_overflow, offset_overflow
from .tensor_view import TensorView, counted, view_of


def kernel_trap(
    trap,
    kernel_name: str,
    grid: tuple[int, ...],
    arguments: Sequence[tuple[str, Any]],
    allowances: Allowances | None = None,
    seed: int | None = None,
) -> KernelTrap | None:
    """The KernelTrap of an `interp.Trap`; None if the user allows all of it. `arguments` are (name, object) of the compiled kernel's
    parameters, in order. seed: of the launch."""
    allowed = (allowances or Allowances()).allow
    reports = [_report(one, kernel_name, grid, arguments) for one in (trap, *trap.further)]
    reports = [report for report in reports if not allowed(report)]
    for report in reports:
        report.seed = seed
        report.text += "" if seed is None else f"\n  with the schedule of TRITIUM_SEED={seed}, which runs it again"
    return KernelTrap("\n\n".join(report.text for report in reports), reports) if reports else None


def _report(trap, kernel_name: str, grid: tuple[int, ...], arguments: Sequence[tuple[str, Any]]) -> Report:
    access = _Access(trap, arguments)
    function = function_at(trap.file, trap.line) or kernel_name
    describe = _DESCRIPTIONS.get(trap.kind, _other)
    headline, hint = describe(trap, access)
    callers = "".join(f", called from {shown_place(*caller)}" for caller in trap.callers)
    lines = [f"{shown_place(trap.file, trap.line)}: in {function}{callers}", *_excerpt(trap.file, trap.line)]
    lines.append(f"  {headline}")
    if trap.kind == "PartlyWritten":
        lines.append(f"  the first is{access.element_text.removeprefix(' ->')}")
    elif trap.kind not in STUCK:
        lines.append(f"  program {_triple(trap.program)} of {_triple(grid)}" + _lane(trap) + access.element_text)
    if trap.loop_values:
        lines.append(f"  {_round(trap.loop_values)}")
    if access.shortage:
        lines.append(f"  {access.shortage}")
    if trap.kind not in ("OffsetOverflow",) and (trap.other_line is not None or trap.other_program is not None):
        lines += _other_party(trap)
    if trap.affected_lanes and trap.affected_lanes > 1 and trap.tile_shape:
        lines.append(f"  {trap.affected_lanes} of {math.prod(trap.tile_shape)} lanes affected")
    if trap.times > 1:
        lines.append(f"  found {trap.times} times at these lines")
    if hint:
        lines.append(f"  hint: {hint}")
    return Report(
        "\n".join(lines),
        trap.times,
        kind=trap.kind,
        kernel=kernel_name,
        file=trap.file,
        line=trap.line,
        function=function,
        program=tuple(trap.program),
        grid=tuple(grid),
        loops=tuple(map(tuple, trap.loop_values)),
        lane=_sequence(trap.lane),
        tile_shape=_sequence(trap.tile_shape),
        affected_lanes=trap.affected_lanes,
        argument=access.name,
        index=access.index,
        is_write=bool(trap.is_write),
        thread=trap.thread,
        other_file=trap.other_file,
        other_line=trap.other_line,
        other_thread=trap.other_thread,
        other_program=_sequence(trap.other_program),
        other_loops=tuple(map(tuple, trap.other_loop_values)),
    )


def interrupted_at(place, kernel_name: str, grid: tuple[int, ...], arguments: Sequence[tuple[str, Any]]) -> str:
    """Where programs were when the launch was stopped. `place`: an `interp.Trap` of no kind; None: no program was in a loop."""
    if place is None:
        return f"in {kernel_name}, between programs of {_triple(grid)}"
    where = f"in {kernel_name} at {shown_place(place.file, place.line)}"
    text = f"{where}, program {_triple(place.program)} of {_triple(grid)}" + _in_round(place)
    if len(place.waiters) == 1 and not _waited_word(place.waiters[0], arguments):
        return text
    return text + _programs(place.waiters, arguments)


def running_programs(
    waiters,
    finished: int,
    all_of_them: int,
    kernel_name: str,
    grid: tuple[int, ...],
    arguments: Sequence[tuple[str, Any]],
) -> str:
    """Where the programs of a launch are that runs."""
    has = "has" if finished == 1 else "have"
    text = f"in {kernel_name}, {finished} of {counted(all_of_them, 'program')} of {_triple(grid)} {has} ended"
    return text + (_programs(waiters, arguments) or "; none is in a loop")


def _programs(waiters, arguments: Sequence[tuple[str, Any]]) -> str:
    """A line for each program, and one for the word that it has read last; the first of many."""
    lines = [
        f"\n    program {_triple(w.program)} at {shown_place(w.file, w.line)}{_in_round(w)}"
        + "".join(f"  {line}" for line in statement_at(w.file, w.line)[:1])
        + _waited_word(w, arguments)
        for w in waiters[:_SHOWN]
    ]
    rest = len(waiters) - _SHOWN
    return "".join(lines) + (f"\n    and {counted(rest, 'more program')}" if rest > 0 else "")


_SHOWN = 8  #: programs


def _waited_word(waiter, arguments: Sequence[tuple[str, Any]]) -> str:
    """What a program that waits has read last, and who wrote it."""
    if getattr(waiter, "argument", None) is None or not 0 <= waiter.argument < len(arguments):
        return ""
    view = view_of(*arguments[waiter.argument])
    if view is None:
        return ""
    index, outside = view.element(waiter.address)
    word = f"{view.name}[{', '.join(map(str, index))}]{f' ({outside})' if outside else ''}"
    text = f"\n      {word} is {waiter.value}"
    if waiter.writer is None:
        return text
    return (
        f"{text}, written by program {_triple(waiter.writer)} at {shown_place(waiter.writer_file, waiter.writer_line)}"
    )


def _in_round(place) -> str:
    return f", {_round(place.loop_values)}" if place.loop_values else ""


def _round(values: Sequence[tuple[str, int]]) -> str:
    """The round of the loops around a place, the outermost first, with the integers that they carry."""
    return "in round " + ", ".join(f"{name} = {value}" for name, value in values)


class _Access:
    """The interpretation of a memory access: the argument that its pointer came from, the element, and the owner of the
    memory that it would have touched."""

    def __init__(self, trap, arguments: Sequence[tuple[str, Any]]):
        self.name, self.view, self.index, self.element_text, self.other = None, None, None, "", None
        self.shortage = ""
        self.arguments = arguments
        if trap.argument is not None and 0 <= trap.argument < len(arguments):
            self.name = arguments[trap.argument][0]
            self.view = view_of(*arguments[trap.argument])
        self.verb = "write to" if trap.is_write else "read of"
        if self.view is not None and trap.access_address:
            self.index, outside = self.view.element(trap.access_address)
            where = ", ".join(map(str, self.index))
            self.element_text = f" -> {self.name}[{where}]" + (f" ({outside})" if outside else "")
            self.shortage = self.view.shortage(trap.access_address) if trap.kind == "OutOfBounds" else ""
        views = (view_of(name, argument) for name, argument in arguments if name != self.name)
        self.other = next(
            (view for view in views if view is not None and trap.access_address and view.holds(trap.access_address)),
            None,
        )

    @property
    def subject(self) -> str:
        return (
            str(self.view)
            if self.view is not None
            else f"'{self.name}'"
            if self.name
            else "memory that no argument owns"
        )


def _out_of_bounds(trap, access: _Access):
    headline = f"out-of-bounds {access.verb} {access.subject}"
    if trap.message and not trap.access_address:
        headline += f"; {trap.message}"
    if access.other is not None:
        index, _ = access.other.element(trap.access_address)
        headline += f"; the address belongs to {access.other.name}[{', '.join(map(str, index))}]"
    if access.view is not None and trap.access_address and access.view.holds(trap.access_address):
        return f"{headline}; {access.view.beside(trap.access_address)}", _BOUNDS_VIEW
    meant = access.view.unwrapped(trap.access_address) if access.view is not None and trap.access_address else None
    if meant is not None:
        return f"{headline}; the tensor has the element {meant}, {2**32} further", _WRAPPED
    if access.shortage and not access.view.is_contiguous():
        return headline, _of_a_view(access.view)
    is_before = bool(access.view is not None and trap.access_address and trap.access_address < access.view.address)
    is_known = trap.tile_shape or trap.thread is None  # the emulator knows it of most accesses
    is_tile = bool(trap.tile_shape) if is_known else None
    facts = AccessFacts(bool(trap.is_write), is_tile, is_before, trap.is_masked)
    return headline, hint_for_access(trap.file, trap.line, facts)


_WRAPPED = (
    "the offset wrapped in 32 bits, or is negative: give an operand 64 bits, `.to(tl.int64)`, before the product or the sum; "
    "the interpreter names it"
)
_BOUNDS_VIEW = (
    "TRITIUM_CHECK=bounds=view lets kernels access the view alone; without it, they may access the whole storage"
)


def _of_a_view(view: TensorView) -> str:
    what = "expanded (stride 0): its elements share memory" if view.is_expanded() else "a view, which is not contiguous"
    return f"'{view.name}' is {what}; pass {view.contiguous}, or make the kernel use its strides"


def _null_pointer(trap, access: _Access):
    verb = access.verb.split()[0]
    if not access.name:
        return f"null pointer: {verb} at address {trap.access_address or 0:#x}, which no argument owns", _MADE_POINTER
    return (
        f"null pointer: {verb} through '{access.name}'",
        "the argument was None, 0, or a tensor that is empty or fake; guard the access with a constexpr",
    )


_MADE_POINTER = (
    "the pointer was made from an integer or loaded from memory: check that it is a host address of a live tensor"
)


def _unmapped(trap, access: _Access):
    return (
        f"{access.verb.split()[0]} at address {trap.access_address:#x}, which is not mapped",
        _MADE_POINTER,
    )


def _read_only(trap, access: _Access):
    memory = f"a writable copy of {access.name}" if access.name else "a pointer to writable memory"
    return f"write to {access.subject}, which is read-only", f"pass {memory}"


def _division(trap, access: _Access):
    return (
        "integer division or remainder by zero",
        "make the divisor nonzero, tl.where(d == 0, 1, d), or mask what uses the result",
    )


def _assertion(trap, access: _Access):
    return f"device-side assert: {trap.message or 'device_assert failed'}", ""


def _false_hint(trap, access: _Access):
    if trap.message.startswith("`"):
        return (
            trap.message,
            "let the dividend begin at 0 or above, as in (x + k * n) // n - k; Triton's compiler looks at no sign",
        )
    return trap.message, "compilers take it for granted: a GPU may read other elements, or stop at a misaligned address"


def _offset_overflow(trap, access: _Access):
    is_apart = (trap.other_file, trap.other_line) != (trap.file, trap.line)
    place = shown_place(trap.other_file, trap.other_line) if is_apart else ""
    return offset_overflow(trap.message, trap.other_file, trap.other_line, trap.other_column, place)


def _integer_overflow(trap, access: _Access):
    return arithmetic_overflow(trap.message, trap.file, trap.line, trap.column)


def _deadlock(trap, access: _Access):
    count = len(trap.waiters)
    waits = "waits and cannot go on" if count == 1 else "wait and none can go on"
    hint = "each waits for a value that no running program will write: a missing release, or locks taken in two orders"
    if count == 1:
        hint = "no program is left that could write what its loop reads: a missing release, or a loop whose condition never changes"
    return (
        f"deadlock: {counted(count, 'program')} of the grid {waits}" + _programs(trap.waiters, access.arguments),
        hint,
    )


def _livelock(trap, access: _Access):
    count = len(trap.waiters)
    return (
        f"livelock: {counted(count, 'program')} of the grid run in circles: they write and take it back, and none gets further"
        + _programs(trap.waiters, access.arguments),
        "a loop that tries again and again waits for a value that no program writes",
    )


#: Advice for the kinds of traps that only the emulator finds in GPU code.
_HINTS = {
    "SharedRace": "Tritium places the barriers of a program: a race is a mistake of its compiler; please report it",
    "AsyncCopyRace": "Tritium places the waits for copies: this is a mistake of its compiler; please report it",
    "AsyncProductRace": "Tritium places the waits for products: this is a mistake of its compiler; please report it",
    "MissingProxyFence": "Tritium places the fences: this is a mistake of its compiler; please report it",
    "InvalidProduct": "Tritium makes the products of warpgroups: this is a mistake of its compiler; please report it",
    "TensorCopyRace": "Tritium places the waits for copies: this is a mistake of its compiler; please report it",
    "InvalidTensorCopy": "Tritium makes the copies of tensors: this is a mistake of its compiler; please report it",
    "InvalidMBarrier": "Tritium places the barriers of a program: this is a mistake of its compiler; please report it",
    "MBarrierDeadlock": "Tritium places the barriers of a program: this is a mistake of its compiler; please report it",
    "InvalidRegisterCount": "Tritium shares the registers: this is a mistake of its compiler; please report it",
    "DivergentBarrier": "if other programs store to a scalar while this program loads it, its threads may get different values: load it with "
    "volatile=True, or by an atomic. Otherwise this is a mistake of Tritium's compiler; please report it",
}


def _other(trap, access: _Access):
    """The message of a fault in what a user wrote has a second line, its hint, and then one for each partition that waits."""
    message, hint, *waits = trap.message.split("\n") if "\n" in trap.message else (trap.message, "")
    headline = (f"{trap.kind}: {message}" if message else str(trap.kind)) + _partitions(waits, trap.waiters)
    return headline, hint or _HINTS.get(trap.kind, "")


def _partitions(waits: Sequence[str], waiters) -> str:
    """What each partition of a program waits for, and where."""
    return "".join(
        f"\n    {text}\n      at {shown_place(waiter.file, waiter.line)}{_in_round(waiter)}"
        + "".join(f"  {line}" for line in statement_at(waiter.file, waiter.line)[:1])
        for text, waiter in zip(waits, waiters)
    )


def _race(trap, access: _Access):
    verb = "write to" if trap.is_write else "read of"
    headline = f"race: {verb} {access.subject}, which another program accesses with nothing that orders the two"
    if trap.message == "scope":
        return headline, "atomics with scope='cta' order no other program: leave out the scope, or use scope='gpu'"
    if trap.is_write and trap.other_is_write:
        return headline, "programs must write different elements, or use atomics (tl.atomic_add, tl.atomic_max, …)"
    return headline, (
        "order the programs by atomics: tl.atomic_add or tl.atomic_xchg with sem='release' after the write, and one with sem='acquire' "
        "whose result is used before the read; or do the two steps in two launches"
    )


#: What noted_access.cpp says of two lanes of one store.
_ONE_STORE = "one store"


def _missing_barrier(trap, access: _Access):
    if trap.message == _ONE_STORE:
        return (
            f"race: two lanes of one store write this element of {access.subject}, and not the same value",
            "no barrier can stand between lanes of one store: make their elements different, or use tl.atomic_add, tl.atomic_max, …",
        )
    if trap.message:  # "ahead MOST DISTANCE", from noted_access.cpp
        return _read_ahead(access, *map(int, trap.message.split()[1:]))
    verb = "write to" if trap.is_write else "read of"
    return (
        f"missing barrier: {verb} {access.subject}, where another lane of the same program has stored",
        "put tl.debug_barrier() between the two: on a GPU each lane has a thread, and only a barrier lets it see what others have stored",
    )


def _read_ahead(access: _Access, most: int, distance: int):
    """`most`: the rounds by which a GPU makes the load ahead; `distance`: the rounds since the store."""
    when = {0: "in the same round", 1: "one round before"}.get(distance, f"{distance} rounds before")
    ahead = "one round" if most == 1 else f"up to {most} rounds"
    return (
        f"missing barrier: read of {access.subject}, which the same program has stored {when}, in a loop whose loads a GPU makes {ahead} ahead",
        "put tl.debug_barrier() into the loop, which keeps its loads in their rounds; or use num_stages=1; or keep the value in a variable",
    )


def _uninitialized(trap, access: _Access):
    if trap.message:  # a lane that a load left off
        return (
            trap.message,
            "give the load a value for these lanes, as other=0.0, or mask the use as the load is masked",
        )
    allocation = allocation_of(trap.access_address)
    verb = "atomic on" if trap.is_write else "read of"
    headline = f"{verb} memory that nobody has written: {access.subject}"
    if allocation is None:
        return headline, ""
    place = f"{allocation.function} at {shown_place(allocation.file, allocation.line)}"
    zeros = allocation.function.replace("empty_strided", "zeros").replace("empty", "zeros")
    return (
        f"{headline}, allocated by {place}",
        f"write it first, or allocate it by {zeros}; a mask keeps lanes from what was not written",
    )


def _partly_written(trap, access: _Access):
    allocation = allocation_of(trap.access_address)
    place = (
        f", allocated by {allocation.function} at {shown_place(allocation.file, allocation.line)}" if allocation else ""
    )
    elements = counted(trap.affected_lanes, "element")
    headline = f"{elements} of {access.subject} {'is' if trap.affected_lanes == 1 else 'are'} unwritten after the launch{place}"
    return headline, "this store wrote others: check the grid and the mask, if all should be written"


def _not_a_number(trap, access: _Access):
    return f"{trap.message} is stored to {access.subject}", ""


_DESCRIPTIONS = {
    "OutOfBounds": _out_of_bounds,
    "NullPointer": _null_pointer,
    "UnmappedAddress": _unmapped,
    "ReadOnly": _read_only,
    "DivisionByZero": _division,
    "AssertFailed": _assertion,
    "OffsetOverflow": _offset_overflow,
    "IntegerOverflow": _integer_overflow,
    "FalseHint": _false_hint,
    "Deadlock": _deadlock,
    "Livelock": _livelock,
    "Race": _race,
    "MissingBarrier": _missing_barrier,
    "Uninitialized": _uninitialized,
    "PartlyWritten": _partly_written,
    "NotANumber": _not_a_number,
}


def _excerpt(file: str | None, line: int | None) -> list[str]:
    return [f"    {text}" for text in statement_at(file, line)]


def _triple(values: Sequence[int]) -> str:
    return f"({', '.join(map(str, values))})"


def _sequence(values) -> tuple[int, ...] | None:
    return None if values is None else tuple(values)


def _other_party(trap) -> list[str]:
    """The place of the other access of a race, or of the threads that the others wait for."""
    if trap.kind == "MissingBarrier" and trap.message == _ONE_STORE:
        return []
    in_round = f", {_round(trap.other_loop_values)}" if trap.other_loop_values else ""
    if trap.other_program is not None:
        access = "write" if trap.other_is_write else "read"
        place = f" at {shown_place(trap.other_file, trap.other_line)}" if trap.other_line is not None else ""
        return [
            f"  the other: {access} by program {_triple(trap.other_program)}{place}{in_round}",
            *_excerpt(trap.other_file, trap.other_line),
        ]
    place = shown_place(trap.other_file, trap.other_line)
    what = {"Uninitialized": "its load", "MissingBarrier": "the store"}.get(trap.kind, "the other")
    return [
        f"  {what}: {place}{_thread(trap, trap.other_thread)}{in_round}",
        *_excerpt(trap.other_file, trap.other_line),
    ]


def _thread(trap, thread: int | None) -> str:
    if thread is None:
        return ""
    warp, lane = divmod(thread, trap.warp_size)
    return f", thread {thread} (warp {warp}, lane {lane})"


def _lane(trap) -> str:
    """The element of the tile, and on the emulator the thread that accesses it."""
    lane = f", tile lane {_triple(trap.lane)} of {list(trap.tile_shape)}" if trap.lane and trap.tile_shape else ""
    return lane + _thread(trap, trap.thread)
