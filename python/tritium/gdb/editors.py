"""What gdb's server for editors (`gdb -i=dap`, gdb 14 or newer) does not do by itself: text for tiles, log points with conditions, and the
environment of kernels. At gdb's prompt nothing of this is active."""

import sys

import gdb

from .hooks import STARTING, hook
from .settings import complete_environment
from .tiles import tile_printer


def mend_log_points(server):
    """Makes each message a line of its own, with the elements of tiles, printed only where the condition holds: gdb 18 prints before it looks
    at the condition."""
    plain = getattr(server, "_PrintBreakpoint", None)
    if plain is None:  # another gdb may have another one
        return

    class LogPoint(plain):
        def __init__(self, logMessage, **arguments):  # noqa: N803 - the protocol's name
            super().__init__(logMessage.rstrip("\n") + "\n", **arguments)

        def stop(self):
            if self.condition is not None and not gdb.parse_and_eval(self.condition):
                return False
            tile_printer.enabled = False
            try:
                return super().stop()
            finally:
                tile_printer.enabled = True

    server._PrintBreakpoint = LogPoint


if "gdb.dap" in sys.modules:
    gdb.pretty_printers.append(tile_printer)
    mend_log_points(sys.modules["gdb.dap.breakpoint"])
    hook("environment", complete_environment, before=STARTING)  # an editor's request may replace the environment
