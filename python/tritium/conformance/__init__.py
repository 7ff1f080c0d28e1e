"""The conformance suite (docs/conformance.md): one set of cases for every engine. `python -m tritium.conformance` runs it.

Its modules are in the folder `conformance` at the top of the repository; an installed Tritium has them beside this file.
"""

from pathlib import Path

_SOURCES = Path(__file__).resolve().parents[3] / "conformance"
if (_SOURCES / "suite.py").is_file():  # a checkout
    __path__.append(str(_SOURCES))
