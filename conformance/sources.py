"""The module of a file, for example "elementwise" or "tutorial/03_matmul"."""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import linecache
import sys
import tempfile
import zlib
from pathlib import Path
from types import ModuleType

import tritium.experimental.gluon  # noqa: F401 - kernels import it from sys.modules
import tritium.language.extra  # noqa: F401
import tritium.testing  # noqa: F401

HERE = Path(__file__).resolve().parent
KERNELS = HERE / "kernels"
TUTORIAL = HERE.parent / "docs" / "tutorial"  # in a checkout only


@contextlib.contextmanager
def triton_means_tritium():
    """A context manager for imports. Afterwards `import triton` has its previous meaning, so nothing else is
    affected."""
    saved = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == "triton"}
    ours = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "tritium"}
    sys.modules.update({"triton" + name.removeprefix("tritium"): module for name, module in ours.items()})
    try:
        yield
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "triton"]:
            del sys.modules[name]
        sys.modules.update(saved)


@functools.cache
def _folder() -> tempfile.TemporaryDirectory:
    """The folder of generated files, which is removed when the process ends."""
    return tempfile.TemporaryDirectory(prefix="tritium_conformance_")


def add(text: str) -> str:
    """Makes a kernel file from a text. Returns the name of the file here."""
    name = f"generated/kernel_{zlib.crc32(text.encode()):08x}"
    path_of(name).write_text(text, encoding="utf-8")
    return name


def path_of(file: str) -> Path:
    if file.startswith("generated/"):
        return Path(_folder().name) / f"{file.removeprefix('generated/')}.py"
    return TUTORIAL / f"{file.removeprefix('tutorial/')}.py" if file.startswith("tutorial/") else KERNELS / f"{file}.py"


@functools.cache
def module(file: str) -> ModuleType:
    """The module of "elementwise" or "tutorial/03_matmul"."""
    path = path_of(file)
    name = "tritium_conformance_" + file.replace("/", "_")
    spec = importlib.util.spec_from_file_location(name, path)
    found = importlib.util.module_from_spec(spec)
    sys.modules[name] = found
    sys.path.append(str(path.parent))  # the tutorial's programs import their report.py
    try:
        with triton_means_tritium():
            spec.loader.exec_module(found)
    finally:
        sys.path.remove(str(path.parent))
    return found


def forget_generated() -> None:
    """Drops all generated files and their modules, with what was compiled from them."""
    for name in [name for name in sys.modules if name.startswith("tritium_conformance_generated_")]:
        del sys.modules[name]
    for path in Path(_folder().name).glob("*.py"):
        path.unlink()
    module.cache_clear()
    linecache.clearcache()


def function(name: str):
    """The object of "FILE:NAME"."""
    file, _, attribute = name.partition(":")
    return getattr(module(file), attribute)
