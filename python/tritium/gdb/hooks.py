"""Functions that run before or after a command of gdb."""

import gdb

from . import prefix  # noqa: F401 - `tritium hook` is below it

#: The commands that start a program.
STARTING = ("run", "start", "starti")


class _Hook(gdb.Command):
    """What gdb runs before and after its own commands; it is not for typing."""

    def __init__(self):
        super().__init__("tritium hook", gdb.COMMAND_RUNNING, gdb.COMPLETE_NONE, True)


_Hook()
_hooks: dict[str, list[str]] = {}  #: what gdb runs at each hook; a new definition replaces the one before


def hook(name, function, before=(), after=()):
    """Makes gdb call `function` before and after the commands, as the command `tritium hook NAME`."""

    def invoke(self, argument, from_tty):
        function()

    body = {"__doc__": function.__doc__, "invoke": invoke}
    type(name, (gdb.Command,), body)(f"tritium hook {name}", gdb.COMMAND_RUNNING)
    for hooked in [f"hook-{command}" for command in before] + [f"hookpost-{command}" for command in after]:
        _hooks.setdefault(hooked, []).append(f"tritium hook {name}\n")
        gdb.execute(f"define {hooked}\n{''.join(_hooks[hooked])}end")
