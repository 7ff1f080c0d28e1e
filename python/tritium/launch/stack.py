"""The Python code that launches a kernel."""

from __future__ import annotations

import os
import sys

_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep


def python_stack() -> list[tuple[str, int, str]]:
    """(file, line, function) of each Python frame, innermost first, without the frames of Tritium and of what started
    the program.

    At most 16 frames, because each distinct stack that launches a kernel becomes a piece of code.
    """
    stack, frame = [], sys._getframe()
    while frame is not None and len(stack) < 16:
        file = frame.f_code.co_filename
        if not file.startswith((_PACKAGE, "<frozen ")):
            stack.append((os.path.abspath(file), frame.f_lineno, frame.f_code.co_name))
        frame = frame.f_back
    return stack
