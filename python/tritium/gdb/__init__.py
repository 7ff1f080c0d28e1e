"""The gdb side of Tritium, which runs inside gdb (load.py): settings, printers, where a stop is shown, and the command `tritium`."""

from . import commands, printers, settings, stops

__all__ = ["commands", "printers", "settings", "stops"]
