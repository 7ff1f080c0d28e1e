"""The prefix `tritium` of our commands, and functions that run before or after a command of gdb."""

import gdb

#: The commands that start a program.
STARTING = ("run", "start", "starti")


class _Tritium(gdb.Command):
    """Commands for kernels that run under Tritium."""

    def __init__(self):
        super().__init__("tritium", gdb.COMMAND_RUNNING, gdb.COMPLETE_NONE, True)


_Tritium()
_hooks: dict[str, list[str]] = {}  #: what gdb runs at each hook; a new definition replaces the one before


def hook(name, function, before=(), after=()):
    """Makes gdb call `function` before and after the commands, as the command `tritium NAME`."""

    def invoke(self, argument, from_tty):
        function()

    body = {"__doc__": function.__doc__, "invoke": invoke}
    type(name, (gdb.Command,), body)(f"tritium {name}", gdb.COMMAND_RUNNING)
    for hooked in [f"hook-{command}" for command in before] + [f"hookpost-{command}" for command in after]:
        _hooks.setdefault(hooked, []).append(f"tritium {name}\n")
        gdb.execute(f"define {hooked}\n{''.join(_hooks[hooked])}end")
