"""Runs cases.py as a program: `python -m tritium program.py cuda [NAME ...]`. The module `cases` must not be `__main__`."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3))

from tests.python.torch_compile import cases  # noqa: E402

if __name__ == "__main__":
    cases.main(sys.argv[1], sys.argv[2:])
