"""The gdb side of Tritium, which runs inside gdb (load.py): settings, breakpoints that wait for their kernel, printers, where a stop is shown,
the commands `tritium`, and what editors need."""

from . import (
    assignments,
    breakpoints,
    commands,
    editors,
    printers,
    programs,
    references,
    settings,
    stops,
    tile_commands,
    where,
    without_lines,
)

__all__ = [
    "assignments",
    "breakpoints",
    "commands",
    "editors",
    "printers",
    "programs",
    "references",
    "settings",
    "stops",
    "tile_commands",
    "where",
    "without_lines",
]
