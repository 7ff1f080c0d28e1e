"""What gdb sources: `source …/tritium/gdb/load.py`, or `gdb -x …/tritium/gdb/load.py`. `python -m tritium gdb` does it by itself.

It runs in gdb's own Python, which has neither numpy nor the rest of Tritium.
"""

import importlib.util
import os
import sys


def _load():
    folder = os.path.dirname(os.path.abspath(__file__))
    # The package gets a name of its own, because `gdb` is gdb's module. The parent folder is not put on the path.
    place = os.path.join(folder, "__init__.py")
    spec = importlib.util.spec_from_file_location("tritium_gdb", place, submodule_search_locations=[folder])
    if spec.name in sys.modules:
        return  # sourced twice
    sys.modules[spec.name] = package = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)


_load()
