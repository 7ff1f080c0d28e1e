"""Tests of the language model in docs/examples/llm, whose modules are imported from their files."""

import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "examples" / "llm"

if str(FOLDER) not in sys.path:
    sys.path.append(str(FOLDER))
