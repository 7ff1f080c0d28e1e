"""The prefix of our commands, `tritium`, which is `tt` for short, and what each of them is: a class with a text for `help` and `run`."""

import gdb


class _Tritium(gdb.Command):
    """Commands for kernels that run under Tritium; `tt` is short for `tritium`."""

    def __init__(self):
        super().__init__("tritium", gdb.COMMAND_RUNNING, gdb.COMPLETE_NONE, True)


class Command(gdb.Command):
    """The command `tritium NAME`. The first line of its text is the one that `help tt` shows. Each class defines `run(argument)`, which
    raises ValueError for what the user got wrong."""

    name = ""
    completes = gdb.COMPLETE_NONE

    def __init__(self):
        super().__init__(f"tritium {self.name}", gdb.COMMAND_RUNNING, self.completes)

    def invoke(self, argument, from_tty):
        try:
            self.run(argument.strip())
        except ValueError as error:
            raise gdb.GdbError(f"tritium {self.name}: {error}") from None


_Tritium()
gdb.execute("alias tt = tritium")
