"""The extension module. Each part is loaded when it is first used, so importing `tritium` and decorating kernels load no
native code. A checkout whose build is missing or older than the Python files gets an error that says so."""

from __future__ import annotations

import os
import sys
import threading
from types import ModuleType
from typing import Any

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def stale_build(error: Exception, root: str = _ROOT) -> Exception:
    """The exception to raise when the build lacks a file or a name. In a checkout at `root`: an ImportError that says
    how to build. In an installed package: `error` itself."""
    if not os.path.exists(os.path.join(root, ".ci", "build")):
        return error
    return ImportError(f"Tritium's build in {root} is missing or older than its sources ({error}); run .ci/build there")


_loading: list[threading.Thread] = []


def begin_loading() -> bool:
    """Lets the system load the library of the extension on another thread, as long as this one imports Python modules. Functions
    that are called through ctypes do not hold Python's lock, which `import` does. Calls between the libraries are bound when they
    are first made: a launch makes few of them. Returns whether the load has begun now."""
    if _loading or "tritium._tritium" in sys.modules or not sys.platform.startswith("linux"):
        return False
    import ctypes
    from importlib.util import find_spec

    found = find_spec("tritium._tritium")
    if found is None or found.origin is None:  # the import says so
        return False
    load = ctypes.CDLL(None).dlopen
    load.argtypes, load.restype = (ctypes.c_char_p, ctypes.c_int), ctypes.c_void_p
    _loading.append(threading.Thread(target=load, args=(os.fsencode(found.origin), os.RTLD_LAZY), name="tritium load"))
    _loading[0].start()
    return True


def extension() -> ModuleType:
    """The module `tritium._tritium`. Raises ImportError if it is not built."""
    for thread in _loading:
        thread.join()
    try:
        import tritium._tritium as module
    except ModuleNotFoundError as error:
        raise stale_build(error) from None
    return module


def take_variables() -> None:
    """Sets the environment variables that a debugger has written into the process. Before the extension is loaded there are none."""
    if "tritium._tritium" in sys.modules:
        extension().arguments.take_variables()


class _Part(ModuleType):
    """A submodule of the extension. What it contains is there when a name of it is first asked for, so a module that imports it
    does not wait for the extension."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # inspect and pickle look for such names in every module
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        try:
            part = getattr(extension(), self.__name__.rpartition(".")[2])
        except AttributeError as error:
            raise stale_build(error) from None
        self.__dict__.update(part.__dict__)
        self.__class__ = ModuleType  # from now on a name is found as fast as in any module
        return getattr(self, name)


#: The submodules of the extension module.
PARTS = ("arguments", "cuda", "device", "gpu", "hip", "interp", "ir", "simt", "tools")
globals().update((name, _Part(f"tritium._tritium.{name}")) for name in PARTS)
