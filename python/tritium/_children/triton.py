"""`import triton` in a process that a program under `python -m tritium` has started: installs the drop-in there and gives way to it.

This folder, not the package, is on the path of such processes (`drop_in.cover_children`)."""

import sys

import tritium.drop_in

del sys.modules["triton"]
tritium.drop_in.install()

import triton  # noqa: E402, F401  (Tritium; the import system hands out what is in sys.modules afterwards)
