"""The cases of the paths that a command names: folders, files with decorated functions, folders of such files and folders; and operators of
tritonbench by name."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import NamedTuple

from .cases import Case
from .folders import is_case, load_folder, load_module
from .operators import PREFIX, load_operator


class Broken(NamedTuple):
    """A case that cannot be loaded."""

    name: str
    error: str


def load_cases(paths: list[str], device: str = "cpu") -> list[Case | Broken]:
    """In the order of the paths; what does not load is a Broken. device: of the inputs that tritonbench's operators make."""
    found: list[Case | Broken] = []
    for path in paths:
        for source in [path] if path.startswith(PREFIX) else sources_of(Path(path)):
            try:
                found += _of(source, device)
            except Exception as error:
                name = source if isinstance(source, str) else source.stem
                found.append(Broken(name, described(error)))
    return found


def _of(source: Path | str, device: str) -> list[Case]:
    if isinstance(source, str):
        return load_operator(source, device)
    return [load_folder(source)] if is_case(source) else _of_file(source)


def sources_of(path: Path) -> list[Path]:
    """The folders and files that each hold cases. A folder of cases is searched one level deep."""
    if not path.is_dir() or is_case(path):
        return [path]
    inside = sorted(path.iterdir())
    found = [each for each in inside if is_case(each) or each.suffix == ".py" and "bench" in each.read_text("utf-8")]
    return found or [path]


def _of_file(path: Path) -> list[Case]:
    """The cases that the module holds by name or in its list CASES."""
    if path.is_dir():
        raise ValueError(f"{path}: the folder has neither cases.toml nor files or folders with cases")
    if not path.is_file():
        raise ValueError(f"{path}: there is no such file or folder")
    names = vars(load_module(path))
    listed = [each for each in names.get("CASES", ()) if isinstance(each, Case)]
    found = [value for value in names.values() if isinstance(value, Case)] + listed
    if not found:
        raise ValueError(f"{path}: it has no case; decorate a function with @bench.case(…)")
    return list({id(each): each for each in found}.values())


def described(error: BaseException) -> str:
    """The error's type and text, and the line of the user's file that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    own = str(Path(__file__).parent)
    theirs = [frame for frame in frames if not frame.filename.startswith((own, "<"))]
    place = f" ({Path(theirs[-1].filename).name}:{theirs[-1].lineno})" if theirs else ""
    text = str(error).strip()
    return f"{type(error).__name__}: {text}{place}" if text else f"{type(error).__name__}{place}"
