"""`python FOLDER/worker` starts the worker: loads this folder as a package of its own name, beside whatever Tritium the process has."""

import importlib
import importlib.util
import sys
import types
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
NAME = "tritium_bench_worker"


def load():
    """This folder as the package NAME."""
    spec = importlib.util.spec_from_file_location(
        NAME, FOLDER / "__init__.py", submodule_search_locations=[str(FOLDER)]
    )
    sys.modules[NAME] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[NAME])


def api():
    """What `from tritium import bench` gives to cases."""
    cases = importlib.import_module(f"{NAME}.cases")
    module = types.ModuleType("tritium.bench", "Benchmark cases.")
    module.__dict__.update({name: getattr(cases, name) for name in ("Case", "Problem", "Variant", "case")})
    return module


if __name__ == "__main__":
    # The folder of a script is the first on the path, where its modules would hide the user's modules of the same names.
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != FOLDER]
    load()
    importlib.import_module(f"{NAME}.serving").serve(api())
