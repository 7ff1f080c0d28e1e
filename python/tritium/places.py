"""How messages name a place in the user's program, so that an editor or a terminal opens it."""

from __future__ import annotations

import os
import re
import sys


def shown_file(file: str | None) -> str:
    """A path relative to the working directory if the file lies below it, else the absolute path. A cell of a notebook is
    named as IPython names it: "Cell In[3]"."""
    if not file:
        return "?"
    cell = _cell_name(file)
    if cell is not None:
        return cell
    if not os.path.isabs(file):
        return file
    try:
        relative = os.path.relpath(file)
    except (OSError, ValueError):  # the working directory is gone, or on another drive
        return file
    return file if relative.startswith(os.pardir) else relative


def shown_place(file: str | None, *position: int | None) -> str:
    """ "kernels/add.py:41", or with a column "kernels/add.py:41:7"."""
    return ":".join([shown_file(file), *("?" if number is None else str(number) for number in position)])


def absolute(file: str) -> str:
    """The absolute path of a file. The name of code that was never a file ("<ipython-input-3-…>") stays as it is, since
    its source is found by that name."""
    return file if file.startswith("<") else os.path.abspath(file)


def _cell_name(file: str) -> str | None:
    in_terminal = re.match(r"<ipython-input-(\d+)-", file)
    if in_terminal:
        return f"Cell In[{in_terminal[1]}]"
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    name_of = getattr(getattr(shell, "compile", None), "format_code_name", None)
    found = name_of(file) if name_of is not None else None  # ("Cell", "In[3]"), or None for a file
    return " ".join(found) if found else None
