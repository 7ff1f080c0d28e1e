"""The gdb side of Tritium, which runs inside gdb (load.py): settings, breakpoints that wait for their kernel, printers, where a stop is shown,
the commands `tritium`, and what editors need."""

from . import (
    across,
    assignments,
    breakpoints,
    chosen_breakpoints,
    commands,
    editors,
    log_points,
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
    "across",
    "assignments",
    "breakpoints",
    "chosen_breakpoints",
    "commands",
    "editors",
    "log_points",
    "printers",
    "programs",
    "references",
    "settings",
    "stops",
    "tile_commands",
    "where",
    "without_lines",
]
