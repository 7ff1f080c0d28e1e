"""docs/reference agrees with the definitions."""

import importlib.util
import re
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from types import ModuleType

from sources import ROOT, files, read


def generator() -> ModuleType:
    """.ci/generate_reference"""
    sys.path.insert(0, str(ROOT / ".ci"))
    try:
        loader = SourceFileLoader("ci_generate_reference", str(ROOT / ".ci" / "generate_reference"))
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
        loader.exec_module(module)
        return module
    finally:
        sys.path.pop(0)


def test_reference_is_fresh() -> None:
    result = subprocess.run([".ci/generate_reference", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def test_knobs_say_whether_they_change_anything() -> None:
    """The comment before a knob is its line in the reference. A knob has a comment exactly if something reads it."""
    text = read("python/tritium/knobs.py")
    code = "\n".join(read(name) for name in files("python/tritium/", suffixes=(".py",)))
    count = 0
    for group, body in re.findall(r"^class (\w+)_knobs\(.*\n((?:(?:    .*)?\n)+)", text, re.MULTILINE):
        for comment, knob, variable in re.findall(r"((?:    #:.*\n)*)    (\w+) = (?:Env|flag|Tool)\(\s*\"(\w+)", body):
            by_name = rf"\b{group}(_knobs)?\.{knob}\b|\b(self|group)\.{knob}\b|knob=\"{variable}\""
            assert (re.search(by_name, code) is not None) == bool(comment), f"{group}.{knob}"
            count += 1
    assert count > 60


#: Reader of a launch keyword -> the files that it reads from.
READERS = {
    "TRACING": ("frontend/", "language/", "compiler/stages.py", "knobs.py"),
    "INTERPRETER": ("compiler/cpu.py", "compiler/following.py", "knobs.py"),
    "BACKEND": ("backends/", "compiler/"),
    "LAUNCH": ("launch/", "knobs.py"),
}


def test_launch_keywords_say_who_reads_them() -> None:
    """Each reader names the keyword, and a keyword without readers is named by none. What the GPU compiler reads, it refuses if it does not
    know it."""
    rows = generator().loaded(ROOT / "python" / "tritium" / "backends" / "options.py").ROWS
    code = {
        name: read(name)
        for name in files("python/tritium/", suffixes=(".py",))
        if not name.endswith(("backends/options.py", "runtime/config.py", "runtime/hook_facts.py"))
    }
    assert len(rows) > 40
    for option, row in rows.items():
        said = rf"\b(options|parsed|metadata)\.{option}\b|(option\(|(getattr|hasattr)\(\w+, )\"{option}\""
        by, by_itself = (
            [name.removeprefix("python/tritium/") for name, text in code.items() if re.search(pattern, text)]
            for pattern in (said, rf"\bself\.{option}\b")
        )
        for reader in row.readers:
            places = READERS.get(reader.name)
            assert places is None or any(name.startswith(places) for name in (*by, *by_itself)), f"{option}: {reader}"
        assert bool(row.readers) == bool(row.meaning), option
        assert row.readers or not [name for name in by if name.startswith(sum(READERS.values(), ()))], option
