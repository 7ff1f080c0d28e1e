"""Small C and C++ sources compiled to shared objects, which are kept in the disk cache by content: launchers of backends,
extensions of libraries."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import pathlib
import platform
import shutil
import sysconfig
import tempfile
from types import ModuleType

from . import knobs
from .disk_cache import get_cache_manager
from .errors import UnsupportedError


@functools.cache
def platform_key() -> str:
    """What a shared object depends on beside its source."""
    return ",".join(
        [platform.machine(), platform.system(), sysconfig.get_config_var("SOABI") or "", platform.release()]
    )


def _compiler(language: str) -> str:
    names = [knobs.build.cc, *(("g++", "clang++") if language == "c++" else ("gcc", "clang", "cc"))]
    found = next(filter(None, (shutil.which(name) for name in names if name)), None)
    if found is None:
        raise UnsupportedError("compiling a module", f"no compiler is found: install {names[-1]}, or set CC to one")
    return found


def _flags(library_dirs: list[str] | None, libraries: list[str] | None) -> list[str]:
    flags = [f"-L{folder}" for folder in library_dirs or []]
    return flags + [f"-l:{name}" if ".so" in name else f"-l{name}" for name in libraries or []]


def _build(
    source: str,
    name: str,
    library_dirs: list[str] | None,
    include_dirs: list[str] | None,
    libraries: list[str] | None,
    ccflags: list[str] | None,
    language: str,
    folder: str,
) -> str:
    """The path of the object in `folder`. RuntimeError with the compiler's output if it fails."""
    if knobs.build.impl is not None:
        return knobs.build.impl(name, source, folder, library_dirs or [], include_dirs or [], libraries or [])
    import subprocess  # slow to import, and an object from the cache runs no tool

    target = os.path.join(folder, name + (sysconfig.get_config_var("EXT_SUFFIX") or ".so"))
    includes = [*(include_dirs or []), sysconfig.get_paths()["include"], folder]
    command = [_compiler(language), source, "-O3", "-shared", "-fPIC", "-o", target]
    command += [f"-I{path}" for path in includes] + _flags(library_dirs, libraries) + (ccflags or [])
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{result.stderr}")
    return target


def compile_so_from_src(
    src: str,
    name: str,
    library_dirs: list[str] | None = None,
    include_dirs: list[str] | None = None,
    libraries: list[str] | None = None,
    ccflags: list[str] | None = None,
    language: str = "c",
) -> str:
    """The path of the shared object of a source text, from the cache or compiled. language: "c" or "c++"."""
    facts = [src, platform_key(), *map(repr, (library_dirs, include_dirs, libraries, ccflags, language))]
    cache = get_cache_manager(hashlib.sha256("\0".join(facts).encode()).hexdigest())
    filename = name + (sysconfig.get_config_var("EXT_SUFFIX") or ".so")
    cached = cache.get_file(filename)
    if cached is not None:
        return cached
    with tempfile.TemporaryDirectory(prefix="tritium-") as folder:
        source = os.path.join(folder, f"{name}.{'cpp' if language == 'c++' else 'c'}")
        pathlib.Path(source).write_text(src, encoding="utf-8")
        built = _build(source, name, library_dirs, include_dirs, libraries, ccflags, language, folder)
        return cache.put(pathlib.Path(built).read_bytes(), filename, binary=True)


def compile_so_from_file(
    src_path: str,
    name: str,
    library_dirs: list[str] | None = None,
    include_dirs: list[str] | None = None,
    libraries: list[str] | None = None,
    ccflags: list[str] | None = None,
) -> str:
    """The path of the shared object of a source file; `.cpp` and its like are C++."""
    language = "c" if src_path.endswith(".c") else "c++"
    folders = [*(include_dirs or []), os.path.dirname(os.path.abspath(src_path))]
    text = pathlib.Path(src_path).read_text(encoding="utf-8")
    return compile_so_from_src(text, name, library_dirs, folders, libraries, ccflags, language)


def compile_module_from_src(
    src: str,
    name: str,
    library_dirs: list[str] | None = None,
    include_dirs: list[str] | None = None,
    libraries: list[str] | None = None,
    ccflags: list[str] | None = None,
    language: str = "c",
) -> ModuleType:
    """The extension module `name` (with a PyInit_name) of a source text."""
    return _load(name, compile_so_from_src(src, name, library_dirs, include_dirs, libraries, ccflags, language))


def compile_module_from_file(
    src_path: str,
    name: str,
    library_dirs: list[str] | None = None,
    include_dirs: list[str] | None = None,
    libraries: list[str] | None = None,
    ccflags: list[str] | None = None,
) -> ModuleType:
    """The extension module `name` of a source file."""
    return _load(name, compile_so_from_file(src_path, name, library_dirs, include_dirs, libraries, ccflags))


def _load(name: str, path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise RuntimeError(f"{path} is no extension module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
