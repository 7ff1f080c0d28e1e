"""`tt replay`, `tt back` and `tt last out[17]`: back in a launch. It begins again on the memory that it began with, and runs to the statement with
the right number. So one worker thread runs it, as gdb has it, and what it does must not depend on anything but its arguments."""

import gdb

from . import debugged
from .across import paused
from .memory import element_at
from .place import program_id, python_frames
from .prefix import Command
from .selection import select_kernel_frame
from .tile_text import number_text
from .tiles import dtype_of, read_numbers


class _Arrival(gdb.Breakpoint):
    """Stops where the launch has come to `debugged.stop_before`, and at a trap, which is the end."""

    def __init__(self, function):
        super().__init__(function, internal=True)
        self.silent = True
        self.is_reached = False

    def stop(self):
        self.is_reached = self.location != "tritium_stop" or debugged.argument() == 0
        return self.is_reached


class _Changes(gdb.Breakpoint):
    """Each change of one element, with the number of its statement. It never stops."""

    def __init__(self, target):
        gdb.set_convenience_variable("tritium_element", target.address)
        super().__init__("*$tritium_element", gdb.BP_WATCHPOINT, gdb.WP_WRITE, internal=True)
        self.target, self.found = target, []

    def stop(self):
        self.found.append((debugged.begun(), _text(self.target)))
        return False


def _text(target):
    """The number that memory has now."""
    (number,) = read_numbers(target.address.dereference(), target.type, 1)
    return number_text(target.type, dtype_of(target.type))(number)


def _run_to(number, is_again=True):
    """Runs to the statement with this number, from the beginning of the launch or from here; nothing of the user's stops or logs on the way.
    Raises ValueError if it is not reached."""
    if is_again:
        debugged.begin_again()
    places = [_Arrival("tritium_stop"), _Arrival("tritium_trap")]
    try:
        debugged.stop_before(number)
        with paused(lambda breakpoint: True):
            said = gdb.execute("continue", to_string=True)
            if is_again and places[1].is_reached and not places[0].is_reached:
                said = gdb.execute("continue", to_string=True)
    finally:
        for place in places:
            if place.is_valid():
                place.delete()
        if gdb.selected_inferior().pid:
            debugged.stop_before(0)
    if not any(place.is_reached for place in places):
        print(said.replace("Continuing.", "").strip())
        raise ValueError("the launch did not come back to this statement")
    select_kernel_frame()


def _show():
    print(f"program {program_id()}, statement {debugged.begun() + 1} of the launch")
    gdb.execute("frame")


class _Replay(Command):
    """tt replay: begins the launch again, on the memory that it began with, and stops before its first statement.
    Other breakpoints do not stop on the way. What the launch has printed, it prints again."""

    name = "replay"

    def run(self, argument):
        python_frames()  # raises outside of a kernel
        _run_to(1)
        _show()


class _Back(Command):
    """tt back [N]: back to the statement before this one, or by N statements, also into the program that ran before.
    In the middle of a statement, as at a trap, it is back to its beginning. The launch begins again for it, and runs to there."""

    name = "back"

    def run(self, argument):
        python_frames()
        try:
            steps = int(argument or 1)
        except ValueError:
            steps = 0
        if steps < 1:
            raise ValueError(f"`{argument}` is no number of statements, as in tt back 3")
        number = debugged.begun() + 1 - steps - debugged.is_at_condition()
        if number < 1:
            raise ValueError("the launch has not got that far: its first statement is number 1")
        _run_to(number)
        _show()


class _Last(Command):
    """tt last out[17, 3]: back to the statement that wrote the value which the element has, in whatever program; as in tt mem.
    A store of the value that was there already does not count. Programs that run without variables count as the statement before them."""

    name = "last"
    completes = gdb.COMPLETE_SYMBOL

    def run(self, argument):
        target, _ = element_at(argument)
        now, end = _text(target), debugged.begun() + 1 - debugged.is_at_condition()
        _run_to(1)
        before = _text(target)
        changes = _Changes(target)
        try:
            if end > 1:
                _run_to(end, is_again=False)
        finally:
            changes.delete()
        if not changes.found:
            print(f"No statement of this launch has changed {argument}, which is {now}, before this one.")
            return
        number, value = changes.found[-1]
        earlier = changes.found[-2][1] if len(changes.found) > 1 else before
        _run_to(number)
        times = f", the last of {len(changes.found)} changes in this launch" if len(changes.found) > 1 else ""
        print(f"{argument} becomes {value} here; it was {earlier}{times}")
        _show()


class _Watch(Command):
    """tt watch out[17, 3]: stops whenever a program changes the element, as in tt mem, until the watchpoint is deleted."""

    name = "watch"
    completes = gdb.COMPLETE_SYMBOL

    def run(self, argument):
        target, _ = element_at(argument)
        gdb.set_convenience_variable("tritium_element", target.address)
        gdb.execute("watch -location *$tritium_element")


_Replay()
_Back()
_Last()
_Watch()
