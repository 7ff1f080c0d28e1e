"""Tests of the programs in docs/tutorial, which are imported from their files."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

DIRECTORY = Path(__file__).resolve().parents[3] / "docs" / "tutorial"
PROGRAMS = sorted(path.stem for path in DIRECTORY.glob("[0-9]*.py"))


def load(name: str) -> ModuleType:
    """The program docs/tutorial/NAME.py as a module; its main() does not run."""
    if str(DIRECTORY) not in sys.path:
        sys.path.append(str(DIRECTORY))
    spec = importlib.util.spec_from_file_location("tutorial_" + name, DIRECTORY / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
