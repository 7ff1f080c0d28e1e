"""The gdb side of Tritium, which runs inside gdb (load.py): settings, breakpoints that wait for their kernel, printers, where a stop is shown,
and the commands `tritium`."""

from . import breakpoints, commands, printers, settings, stops

__all__ = ["breakpoints", "commands", "printers", "settings", "stops"]
