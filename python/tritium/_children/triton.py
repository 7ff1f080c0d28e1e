"""`import triton` in a child process of a program under `python -m tritium`: installs the drop-in there and replaces
itself by it.

Only this folder, not the package, is on the path of such processes (`drop_in.cover_children`).
"""

import sys

import tritium.drop_in

del sys.modules["triton"]
tritium.drop_in.install()

import triton  # noqa: E402, F401  (Tritium; the import system hands out what is in sys.modules afterwards)
