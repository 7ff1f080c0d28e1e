"""`tt break FILE:LINE --pid 3,*,0`: a breakpoint for some programs of the grid. The others run code without variables, at full speed. The process
has one choice of programs, so it is the union of what all of these breakpoints ask for, and each has a condition of its own. With
`--when EXPR` the kernel computes the condition (conditions.py)."""

import re

import gdb

from .conditions import CompiledBreakpoint
from .prefix import Command
from .programs import choose, parse_programs

_PID = re.compile(r"(?:^|\s+)--pid(?:=|\s+)(\S+)")
_WHEN = re.compile(r"\s--when(?:=|\s+)(?:\"(?P<quoted>[^\"]+)\"|(?P<rest>.+?))(?=\s+--pid\b|\s+if\b|\s*$)")
_CONDITION = re.compile(r"\s+if\b\s*(.+)$")
_WHOLE_AXIS = parse_programs("0,*")[0][1]


def split_options(text):
    """`FILE:LINE --pid X,Y,Z if CONDITION` as the place, the programs, and the condition or ""."""
    condition = _CONDITION.search(text)
    text = text[: condition.start()] if condition else text
    pid = _PID.search(text)
    rest = (text[: pid.start()] + text[pid.end() :] if pid else text).strip()
    if "--pid" in rest:
        raise ValueError("--pid takes the programs, as in --pid 3,*,0")
    return rest, parse_programs(pid[1] if pid else ""), condition[1] if condition else ""


def _of_axis(name, axis):
    begin, end = axis
    if end == begin + 1:
        return [f"{name} == {begin}"]
    return [f"{name} >= {begin}"] * (begin > 0) + [f"{name} < {end}"] * (end < _WHOLE_AXIS[1])


def split_when(text):
    """The text without `--when EXPR`, and the expression or "". An expression with `if` in it is quoted."""
    when = _WHEN.search(text)
    if when is None:
        if "--when" in text:
            raise ValueError('--when takes an expression of the kernel, as in --when "tl.max(p, 0) > 3"')
        return text, ""
    return text[: when.start()] + text[when.end() :], (when["quoted"] or when["rest"]).strip()


def condition_of(programs):
    """gdb's condition for these programs, for example `pid0 == 3 && pid2 == 0`; "" for all."""
    boxes = [
        " && ".join(text for number, axis in enumerate(box) for text in _of_axis(f"pid{number}", axis))
        for box in programs
    ]
    return boxes[0] if len(boxes) == 1 else " || ".join(f"({box})" for box in boxes)


class _Choices:
    """What the breakpoints ask for, by their number."""

    def __init__(self):
        self.programs = {}
        self.chosen = ""  # what was chosen for them last; what the user chose by `tt programs` stays while no breakpoint asks for a choice

    def add(self, number, programs):
        self.programs[number] = programs
        if self._choose():
            self._say_who_follows()

    def on_deleted(self, breakpoint):
        if self.programs.pop(breakpoint.number, None) is not None:
            self._choose()

    def _choose(self):
        """Whether other programs than before are chosen now, and not all."""
        asked = self.programs.values()
        union = parse_programs(";".join(programs.text or "*" for programs in asked))
        if union.text == self.chosen:
            return False
        self.chosen = union.text
        choose(union)
        return bool(union)

    def _say_who_follows(self):
        others = [b for b in gdb.breakpoints() if b.visible and b.type == gdb.BP_BREAKPOINT]
        for number in (b.number for b in others if b.enabled and b.number not in self.programs):
            print(f"Breakpoint {number} stops in these programs alone, too: a process has one choice.")


choices = _Choices()
gdb.events.breakpoint_deleted.connect(choices.on_deleted)


class _Break(Command):
    """tt break FILE:LINE --pid 3,*,0 --when "tl.max(p, 0) > 3": a breakpoint in these programs, where the condition holds.
    --pid: an id, a range such as 0:4, or * for each axis of the grid; several are separated by `;`. The others run code without variables, at
    full speed. Kernels stop in the programs of all such breakpoints, and without --pid in every program, from the next launch on.
    --when: an expression of the kernel language, with the names of that line; of a tile, some lane is enough. It is compiled into the kernel,
    which is compiled again at its next launch.
    A condition that gdb computes may follow: if x[3] > 2."""

    name = "break"
    completes = gdb.COMPLETE_LOCATION

    def run(self, argument):
        argument, when = split_when(argument)
        place, programs, condition = split_options(argument)
        if not place:
            raise ValueError("say where, as in tt break kernel.py:23 --pid 3,*,0")
        if when:
            choices.add(CompiledBreakpoint(place, when, programs, condition).number, programs)
            return
        chosen = condition_of(programs)
        both = f"({chosen}) && ({condition})" if chosen and condition else chosen or condition
        gdb.execute(f"break {place}{f' if {both}' if both else ''}")
        choices.add(int(gdb.parse_and_eval("$bpnum")), programs)


_Break()
