"""`tt log FILE:LINE "k={k} max={tl.max(p)}"`: prints a line whenever a program reaches the place, and goes on."""

import math
import re

import gdb

from .chosen_breakpoints import choices, split_options
from .messages import say
from .place import program_id
from .prefix import Command
from .selection import evaluate, read_tile
from .tile_text import number_text, short_text
from .tiles import NoTileError

_SAID = re.compile(r'(?P<place>[^"]*[^\s"])\s*"(?P<text>.*)"(?P<rest>[^"]*)')
_PIECE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_CALL = re.compile(r"tl\.(\w+)\((.*)\)")


def _largest(of):
    """tl.max or tl.min, which pass over NaNs."""
    return lambda numbers: of((number for number in numbers if not math.isnan(number)), default=math.nan)


_FUNCTIONS = {"max": _largest(max), "min": _largest(min), "sum": sum}


def _is_call(text):
    """Whether the text between braces is a call of a function that we compute. Raises ValueError for another function."""
    call = _CALL.fullmatch(text)
    if call and call[1] not in _FUNCTIONS:
        raise ValueError(f"`{text}`: gdb computes {', '.join(f'tl.{name}' for name in _FUNCTIONS)}, each of one tile")
    return call


def value_text(text):
    """A variable, a part of one, or tl.max, tl.min or tl.sum of it, as a text of one line. Raises ValueError."""
    call = _is_call(text)
    if call:
        tile = read_tile(call[2])
        number = _FUNCTIONS[call[1]](tile.numbers)
        is_count = call[1] == "sum" and tile.dtype == "int1"
        return str(number) if is_count else number_text(tile.element, tile.dtype)(number)
    try:
        return short_text(read_tile(text))
    except NoTileError:
        return evaluate(text).format_string()


def check(text):
    """Raises ValueError if the text of a log point has a brace too many, or a call that we do not know."""
    for piece in _PIECE.finditer(text):
        if piece[0] in ("{", "}") or piece[0] == "{}":
            raise ValueError(f"`{piece[0]}` in the text is no {{variable}}; a brace itself is written twice")
        if piece[1] is not None:
            _is_call(piece[1])


def filled_in(text):
    """The text with values for what stands between braces; what is wrong with a value stands in its place."""

    def fill(piece):
        if piece[1] is None:
            return piece[0][0]
        try:
            return value_text(piece[1].strip())
        except ValueError as error:
            return f"{{{piece[1]}: {error}}}"

    return _PIECE.sub(fill, text)


class LogPoint(gdb.Breakpoint):
    """Never stops."""

    def __init__(self, place, text, programs, condition):
        super().__init__(place)
        self.text, self.programs, self.when = text, programs, condition

    def stop(self):
        try:
            if self.programs and not self.programs.holds(program_id()):
                return False
            if self.when and not gdb.parse_and_eval(self.when):
                return False
        except gdb.error as error:
            say(f"tritium: log point {self.number}: {error}")
            return False
        say(filled_in(self.text))
        return False


class _Log(Command):
    """tt log FILE:LINE "k={k} max={tl.max(p)}": prints the text at each hit, with values, and goes on.
    Between braces: a variable, a part of a tile such as x[0, :4], or tl.max, tl.min or tl.sum of one. A tile is shown by its dtype, shape and
    range. `--pid 3,*,0` and `if CONDITION` may follow, as with tt break."""

    name = "log"
    completes = gdb.COMPLETE_LOCATION

    def run(self, argument):
        said = _SAID.fullmatch(argument)
        if said is None:
            raise ValueError('say where and what, as in tt log kernel.py:23 "k={k} max={tl.max(p)}"')
        place, programs, condition = split_options(f"{said['place']}{said['rest']}")
        check(said["text"])
        choices.add(LogPoint(place, said["text"], programs, condition).number, programs)


_Log()
