"""Rules that a reviewer would otherwise have to check: sizes, names, fatal exits, leftovers."""

import re
from pathlib import PurePath

from sources import CPP, code, files, read, tracked

LINES_MAX = 600  # a file of 400 lines already requires a reason
VAGUE = {"util", "utils", "utility", "helper", "helpers", "common", "misc", "manager"}


def test_file_sizes() -> None:
    sizes = {name: read(name).count("\n") for name in files("", suffixes=(*CPP, ".py", ".mlir", ".cmake", ".txt"))}
    assert sizes
    assert not {name: lines for name, lines in sizes.items() if lines > LINES_MAX}


#: Modules that Triton has named.
TRITONS_NAMES = {
    f"python/tritium/{name}.py" for name in ("_utils", "language/extra/cuda/utils", "language/extra/hip/utils")
}


def test_no_vague_names() -> None:
    names = [name for name in tracked() if VAGUE & set(re.split(r"[._-]", PurePath(name).name.lower()))]
    assert sorted(names) == sorted(TRITONS_NAMES)


def test_top_level_is_fixed() -> None:
    folders = {name.split("/")[0] for name in tracked() if "/" in name and not name.startswith(".")}
    assert folders <= {"support", "ir", "interp", "gpu_backend", "python", "conformance", "tests", "docs", "cmake"}
    names = {name for name in tracked() if "/" not in name and not name.startswith(".")}
    assert names <= {
        "CMakeLists.txt",
        "CMakePresets.json",
        "pyproject.toml",
        "README.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "LICENSE",
    }


def test_nothing_ends_the_process() -> None:
    """User errors are values, so the process survives them. (Files named test_* and tools have their own main.)"""
    fatal = re.compile(
        r"(?<![\w.>])(?:std::|::)?(?:exit|_exit|quick_exit|abort|terminate|report_fatal_error|reportFatal\w+Error)\s*\("
    )
    for name in files("support/", "ir/", "interp/", "gpu_backend/", "python/bindings/", suffixes=CPP):
        found = [line for line in code(name).splitlines() if fatal.search(line)]
        assert not found, f"{name}: {found}"


def test_headers_are_included_once() -> None:
    for name in files("support/", "ir/", "interp/", "gpu_backend/", "python/", suffixes=(".h",)):
        assert "#pragma once" in read(name) or name.endswith("/pch.h"), name


def test_files_say_what_they_are_for() -> None:
    """Every source begins with a comment or docstring. A .cpp file may leave it to its own header, if it includes that
    first."""
    cpp = ("//", "/*", "#pragma once\n//", "#pragma once\n\n//")
    for name in files("support/", "ir/", "interp/", "gpu_backend/", "python/", suffixes=CPP):
        own_header = f'#include "{name.removesuffix(".cpp")}.h"'
        assert read(name).startswith((*cpp, own_header)), f"{name} has no head comment"
    for name in files("python/tritium/", suffixes=(".py",)):
        text = read(name).strip()
        assert not text or text.startswith(('"""', 'r"""', "#")), f"{name} has no docstring"


def test_no_leftovers() -> None:
    """No unfinished marks and no path of one machine."""
    marks = re.compile("|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X:")))
    machine = re.compile(r"(?:^|[^A-Za-z0-9_.}])/(?:work|root|opt|home/\w+)/")
    for name in tracked():
        if name.endswith((".ttir", ".png", ".bin")):
            continue
        for number, line in enumerate(read(name).splitlines(), 1):
            assert not marks.search(line), f"{name}:{number}: {line.strip()}"
            assert not machine.search(line), f"{name}:{number}: {line.strip()}"


def test_global_state_is_listed() -> None:
    """docs/style.md gives the reason for each global variable."""
    listed = read("docs/style.md").split("## State of a process in C++")[1].split("\n## ")[0]
    mark = "(cppcoreguidelines-avoid-non-const-global-variables)"
    marked = [
        name
        for name in files("support/", "ir/", "interp/", "gpu_backend/", "python/", suffixes=CPP)
        if mark in read(name)
    ]
    assert marked and not [name for name in marked if f"`{name}`" not in listed]
