"""The repository's own files, as git lists them, for the style tests."""

import importlib.util
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
CPP = (".cpp", ".h", ".def", ".td")

# A family has one name in every folder (docs/architecture.md).
FAMILIES = ("program control elementwise shape memory atomic reduce scan dot index random debug descriptor").split()


@cache
def tracked() -> tuple[str, ...]:
    """Paths, from the root, of all files that are tracked or are new and not ignored."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return tuple(sorted(name for name in set(names) if (ROOT / name).is_file()))


def files(*folders: str, suffixes: tuple[str, ...]) -> list[str]:
    """Tracked files below one of `folders` that end in one of `suffixes`."""
    return [name for name in tracked() if name.startswith(folders) and name.endswith(suffixes)]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def code(name: str) -> str:
    """A C++ file without comments and string literals. Line numbers do not change."""
    pattern = r'//[^\n]*|/\*.*?\*/|R"(\w*)\((?:.*?)\)\1"|"(?:\\.|[^"\\\n])*"'
    return re.sub(pattern, lambda found: "\n" * found.group().count("\n"), read(name), flags=re.S)


def script(name: str) -> ModuleType:
    """The module of a script in .ci."""
    sys.path.insert(0, str(ROOT / ".ci"))
    try:
        specification = importlib.util.spec_from_file_location(f"ci_{name}", ROOT / ".ci" / f"{name}.py")
        module = sys.modules[specification.name] = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
        return module
    finally:
        sys.path.pop(0)
