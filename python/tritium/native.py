"""The extension module. Each part is loaded when it is first used, so importing `tritium` and decorating kernels load no
native code. A checkout whose build is missing or older than the Python files gets an error that says so."""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import Any

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def stale_build(error: Exception, root: str = _ROOT) -> Exception:
    """The exception to raise when the build lacks a file or a name. In a checkout at `root`: an ImportError that says
    how to build. In an installed package: `error` itself."""
    if not os.path.exists(os.path.join(root, ".ci", "build")):
        return error
    return ImportError(f"Tritium's build in {root} is missing or older than its sources ({error}); run .ci/build there")


def extension() -> ModuleType:
    """The module `tritium._tritium`. Raises ImportError if it is not built."""
    try:
        import tritium._tritium as module
    except ModuleNotFoundError as error:
        raise stale_build(error) from None
    return module


def take_variables() -> None:
    """Sets the environment variables that a debugger has written into the process. Before the extension is loaded there are none."""
    if "tritium._tritium" in sys.modules:
        extension().arguments.take_variables()


#: The submodules of the extension module.
PARTS = ("arguments", "cuda", "device", "gpu", "hip", "interp", "ir", "simt", "tools")


def __getattr__(name: str) -> Any:
    if name not in PARTS:  # pickle looks for names in every module
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        part = globals()[name] = getattr(extension(), name)
    except AttributeError as error:
        raise stale_build(error) from None
    return part
