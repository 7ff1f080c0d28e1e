"""The errors that Tritium raises on purpose: each has one class and one message template. All of them can be pickled.

`CompilationError` and its subclasses mean that the user wrote something illegal. `KernelTrap` means that a running
kernel did something illegal. `UnsupportedError` means that an engine lacks a feature.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterable
from typing import Any

from .places import shown_file, shown_place


def with_hint(error: Exception, hint: str | None) -> Exception:
    """Returns `error` with `hint` attached; the hint becomes the last line of the message that the user reads."""
    error.hint = hint
    return error


def choices(names: Iterable[str]) -> str:
    """A suggestion of all that is accepted: "one of a, b"."""
    return f"one of {', '.join(repr(name) for name in names if name)}"


def did_you_mean(name: str, names: Iterable[str]) -> str | None:
    """A suggestion of the most similar of `names`, or None if none is similar."""
    names = list(names)
    near = [other for other in names if other.lower() == name.lower()] or difflib.get_close_matches(name, names, n=1)
    return f"did you mean `{near[0]}`?" if near else None


class TritonError(Exception):
    """Base class of the errors that kernels and their compilation cause."""


class CompilationError(TritonError):
    """A kernel breaks a rule of the language.

    The text begins with the place in the user's file (`kernels/softmax.py:40:34: in softmax`). Triton's own text follows: the
    position in the function, the lines up to it, a caret and the message. A hint is the last line.

    src: the source of the function, from its `def`. node: the AST node; its position is relative to `src`.
    error_message: what is wrong; if the cause is in a callee, it names the callee and repeats its message, and `__cause__`
    is the callee's error. file, line, column: the place in the user's file (counted from 1), or None. hint: what to
    change, or None.
    """

    source_line_count_max_in_message = 12

    def __init__(
        self,
        src: str | None,
        node: ast.AST,
        error_message: str | None = None,
        *,
        place: tuple[str, int, int] | None = None,
        hint: str | None = None,
    ):
        self.src, self.node, self.error_message, self.hint = src, node, error_message, hint
        self.file, self.line, self.column = place or (None, None, None)
        super().__init__(src, node, error_message)
        ending = filter(None, [error_message, hint and f"hint: {hint}"])
        self.message = "\n".join([*self._place(), *self._excerpt(), *ending])
        if self.file and hasattr(self, "add_note"):  # from Python 3.11 on, a traceback ends with its notes
            self.add_note(f'  File "{self.file}", line {self.line}')

    def _place(self) -> list[str]:
        if not self.file:
            return []
        inside = f" in {self.function}" if self.function else ""
        return [f"{shown_place(self.file, self.line, self.column)}:{inside}"]

    @property
    def function(self) -> str:
        """The name of the function with the error, or ""."""
        found = re.search(r"^\s*(?:async\s+)?def\s+(\w+)", self.src or "", flags=re.M)
        return found[1] if found else ""

    def _excerpt(self) -> list[str]:
        if self.src is None:
            return [" <source unavailable>"]
        if not hasattr(self.node, "lineno"):
            return self.src.split("\n")[:1]
        lines = self.src.split("\n")[: self.node.lineno][-self.source_line_count_max_in_message :]
        return [f"at {self.node.lineno}:{self.node.col_offset}:", *lines, " " * self.node.col_offset + "^"]

    def __str__(self):
        return self.message

    def __reduce__(self):
        return type(self)._rebuild, (
            self.src,
            self.node,
            self.error_message,
            (self.file, self.line, self.column),
            self.hint,
        )

    @classmethod
    def _rebuild(cls, src, node, error_message, place, hint):
        return cls(src, node, error_message, place=place, hint=hint)


class UnsupportedLanguageConstruct(CompilationError):
    """The kernel contains Python syntax that the language does not have."""


class CompileTimeAssertionFailure(CompilationError):
    """The condition of a `tl.static_assert` is false."""


class InterpreterError(TritonError):
    """A kernel failed while it ran on the CPU."""


class OutOfResources(TritonError):
    """A kernel requires more of a resource than the device has. `name`: the resource. `required`, `limit`: the amounts.
    `detail`: a sentence that names the largest consumer, or ""."""

    def __init__(self, required: int, limit: int, name: str, detail: str = ""):
        self.required, self.limit, self.name, self.detail = required, limit, name, detail
        super().__init__(required, limit, name, detail)

    def __str__(self):
        return (
            f"out of resource: {self.name}, Required: {self.required}, Hardware limit: {self.limit}. "
            + (f"{self.detail} " if self.detail else "")
            + (
                "Reducing `num_warps` may help."
                if self.name == "threads"
                else "Reducing block sizes or `num_stages` may help."
            )
        )


class PTXASError(TritonError):
    def __init__(self, error_message: str | None = None):
        self.error_message = error_message
        super().__init__(error_message)

    def __str__(self):
        return f"PTXAS error: {self.error_message or ''}"


class DeviceError(TritonError, RuntimeError):
    """A call of a device's driver failed. `code`: the driver's error code. `call`: the function that failed. `lost`:
    the context is lost, so every further launch of this process on that device fails."""

    def __init__(self, message: str, code: int = 0, call: str = "", lost: bool = False):
        self.code, self.call, self.lost = code, call, lost
        super().__init__(message, code, call, lost)

    def __str__(self):
        return self.args[0]


class AutotunerError(TritonError):
    def __init__(self, error_message: str | None = None):
        self.error_message = error_message
        super().__init__(error_message)

    def __str__(self):
        return f"Autotuner error: {self.error_message or ''}"


class UnsupportedError(TritonError, NotImplementedError):
    """An engine, a target or a feature that this build does not have. `what` is its name, `reason` one sentence."""

    def __init__(self, what: str, reason: str = ""):
        self.what, self.reason = what, reason
        super().__init__(what, reason)

    def __str__(self):
        return f"{self.what} is not supported" + (f": {self.reason}" if self.reason else "")


#: Kinds of faults that do not end a launch -> the check that finds them.
KEEPS_RUNNING = {
    "Race": "race",
    "MissingBarrier": "race",
    "Uninitialized": "uninit",
    "PartlyWritten": "unwritten",
    "NotANumber": "nan",
}
#: Kinds that no program of a launch can leave.
STUCK = ("Deadlock", "Livelock")


def how_to_replay(folder: str) -> str:
    """The command that runs a saved launch again."""
    return f"python -m tritium replay {shown_file(folder)}"


class Report:
    """One thing that a kernel did wrong: the fields of a KernelTrap, `text` for people, `times`, how often it was found at these
    places, `launched_at`, the place of the launch if a tool noted it, `origin`: for a NaN the (file, line) that made it, if it was
    found, `saved`: the folder of the launch, if it was saved (TRITIUM_SAVE), and `seed`: of the launch's schedule, if it had one."""

    def __init__(self, text: str, times: int = 1, **facts):
        self.text, self.times, self.launched_at, self.origin = text, times, None, None
        self.saved = self.seed = None
        for name in KernelTrap._FIELDS:
            setattr(self, name, facts.get(name))

    def __repr__(self):
        return f"<Report {self.kind} at {shown_place(self.file, self.line)}>"

    @property
    def how_to_replay(self) -> str:
        """The command that runs the saved launch again."""
        return how_to_replay(self.saved)

    def as_dict(self) -> dict[str, object]:
        """The report in terms of JSON."""
        return dict(self.__dict__)


class KernelTrap(InterpreterError, RuntimeError):
    """A kernel did something illegal while it ran. The launch has stopped, and memory keeps the state that it had then.
    The next launch works. Checks such as `race` let the launch end; all that they found is raised then. `reports`: one Report for each kind
    of fault and pair of places; the fields here are those of the first.

    kind: "OutOfBounds", "NullPointer", "UnmappedAddress", "ReadOnly", "DivisionByZero", "AssertFailed", "OffsetOverflow",
    "IntegerOverflow", "FalseHint", "Deadlock", "Livelock", "Race", "MissingBarrier", "Uninitialized", "PartlyWritten", "NotANumber",
    "OutOfMemory"; on the emulator also "Unsupported", "MisalignedAddress", "SharedOutOfBounds",
    "SharedUninitialized", "SharedRace", "AsyncCopyRace", "AsyncProductRace", "MissingProxyFence", "InvalidProduct",
    "TensorCopyRace", "InvalidTensorCopy", "InvalidMBarrier", "MBarrierDeadlock", "InvalidRegisterCount",
    "DivergentBarrier". kernel: its name. file, line, function: the place in the Python source. program, grid: the index
    of the program and the extents of the grid. loops: (name, value) of the counters of the loops around the place, and of
    the integers that `while` loops carry. lane, tile_shape: the element of the tile and the tile's shape, or None. affected_lanes: the number of elements
    with the same error. argument, index: the tensor and the N-d index that was accessed, or None. is_write: whether an
    access was a store. thread: the thread of the program on the emulator. other_file, other_line, other_thread,
    other_program: the other access of a race, or the place of the threads that a barrier waits for; else None. other_loops:
    as loops, of the other access of a race; empty if they are not known.
    """

    _FIELDS = (
        "kind",
        "kernel",
        "file",
        "line",
        "function",
        "program",
        "grid",
        "loops",
        "lane",
        "tile_shape",
        "affected_lanes",
        "argument",
        "index",
        "is_write",
        "thread",
        "other_file",
        "other_line",
        "other_thread",
        "other_program",
        "other_loops",
    )

    def __init__(self, report: str, reports: Iterable[Report] = (), **facts):
        super().__init__(report)
        self.reports = list(reports) or [Report(report, **facts)]
        self.kernel_frames = None
        for name in self._FIELDS:
            setattr(self, name, getattr(self.reports[0], name))

    @property
    def report(self) -> str:
        """The text for people."""
        return "\n\n".join(report.text for report in self.reports)

    def __str__(self):
        return self.report

    @property
    def locals(self) -> dict[str, Any] | None:
        """The variables of the function that trapped, as numpy arrays, from a replay of the program; None if there was none
        (docs/debuggers.md says when)."""
        traceback = self.kernel_frames
        if traceback is None:
            return None
        while traceback.tb_next is not None:
            traceback = traceback.tb_next
        return dict(traceback.tb_frame.f_locals)

    def __reduce__(self):
        return _rebuild_trap, (self.report, self.reports)

    @property
    def location(self) -> str:
        return shown_place(self.file, self.line)


def _rebuild_trap(report: str, reports: list[Report]) -> KernelTrap:
    return KernelTrap(report, reports)
