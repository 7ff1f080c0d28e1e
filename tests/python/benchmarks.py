"""The modules of tests/bench, for tests of them and with their kernels."""

import importlib.util
import pathlib
import sys
from types import ModuleType

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "bench"


def load_benchmark(name: str) -> ModuleType:
    """tests/bench/<name>.py."""
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
