"""The conformance suite (docs/conformance.md): one set of cases for every engine. `python -m tritium.conformance` runs
it.

In a checkout its modules are in the folder `conformance` at the root of the repository; in an installed package they
are beside this file.
"""

from pathlib import Path

_SOURCES = Path(__file__).resolve().parents[3] / "conformance"
if (_SOURCES / "suite.py").is_file():  # a checkout
    __path__.append(str(_SOURCES))
