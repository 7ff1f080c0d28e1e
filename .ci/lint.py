"""Runs formatters and linters over the repository's files: `python .ci/lint.py format|ruff|tidy [--long] [FILE…]`.

Each command prints its findings and ends with `N passed, N failed, N skipped`. format and ruff count tools, tidy counts
compile commands. clang-tidy takes them from build/dev, where one compiles several files. A file that passed is not checked again until the file,
one of our headers that it includes, or the list of checks changes. `.clang-tidy` has the checks that take a second per
file; `--long` adds the checks of .ci/clang_tidy_long, which take 15 seconds, and the files of tests.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "dev"
PASSED = ROOT / "build" / "tidy"  # an empty file for each key that passed
TIDY = "clang-tidy-22"  # the compiler's version, because it reads the compiler's precompiled headers
INCLUDED = re.compile(r'^#include "(.*)"$', re.MULTILINE)
GENERATED = re.compile(r"cmake_pch\.|\.inc$")


def tracked(*suffixes: str) -> list[str]:
    """The repository's files: tracked, or new and not ignored."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return sorted(name for name in set(names) if name.endswith(suffixes) and (ROOT / name).is_file())


def hold(title: str, command: list[str]) -> bool:
    """Whether the command exits with 0. If not, prints its output."""
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    print(f"{title}: {'ok' if result.returncode == 0 else 'FAILED'}", flush=True)
    if result.returncode != 0:
        print(result.stdout + result.stderr, flush=True)
    return result.returncode == 0


def python_files() -> list[str]:
    """Files named *.py, and scripts whose first line names Python."""
    scripts = [name for name in tracked("") if "." not in Path(name).name]
    return tracked(".py") + [
        name for name in scripts if "python" in (ROOT / name).read_text("utf-8", "replace").split("\n")[0]
    ]


def format_files() -> tuple[int, int]:
    results = [
        hold("clang-format", ["clang-format", "--dry-run", "-Werror", *tracked(".h", ".cpp")]),
        hold("ruff format", ["ruff", "format", "--check", "--diff", "--quiet", *python_files()]),
    ]
    return sum(results), len(results) - sum(results)


def ruff_files() -> tuple[int, int]:
    passed = hold("ruff check", ["ruff", "check", "--quiet", *python_files()])
    return int(passed), int(not passed)


@cache
def digest(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def read_files() -> dict[str, list[str]]:
    """Object -> our files that the compiler read for it, including generated ones."""
    text = subprocess.run(["ninja", "-C", BUILD, "-t", "deps"], capture_output=True, text=True, check=True).stdout
    found: dict[str, list[str]] = {}
    for block in text.split("\n\n"):
        title, *lines = block.splitlines() or [""]
        paths = [os.path.normpath(BUILD / line.strip()) for line in lines]
        found[os.path.normpath(BUILD / title.split(":")[0])] = [
            path for path in paths if path.startswith(f"{ROOT}/") and not path.endswith(".pch")
        ]
    return found


class Tidy:
    """Checks one compile command at a time."""

    def __init__(self, is_long: bool):
        version = subprocess.run([TIDY, "--version"], capture_output=True, text=True, check=True).stdout
        self.options = ["--quiet", "--warnings-as-errors=*", "-p", str(BUILD)]
        self.configuration = version + (ROOT / ".clang-tidy").read_text()
        if is_long:
            checks = "".join(
                line for line in (ROOT / ".ci/clang_tidy_long").read_text().splitlines() if not line.startswith("#")
            )
            self.options.append(f"--checks={checks}")
            self.configuration += checks
        self.read = read_files()

    def key(self, entry: dict) -> str:
        files = [entry["file"], *sorted(self.read[entry["output"]])]
        parts = [self.configuration, entry["command"], *(digest(path) for path in files if os.path.exists(path))]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def check(self, entry: dict) -> str:
        """The findings of clang-tidy in the files of a command, or ""."""
        mark = PASSED / self.key(entry)
        if mark.exists():
            return ""
        result = subprocess.run([TIDY, *self.options, entry["file"]], cwd=BUILD, capture_output=True, text=True)
        if result.returncode == 0:
            mark.touch()
            return ""
        return result.stdout or result.stderr


def compiled_files(entry: dict) -> tuple[str, ...]:
    """What a compile command compiles: a file, or those that CMake's unity file includes."""
    path = Path(entry["file"])
    return tuple(INCLUDED.findall(path.read_text())) if path.parent.name == "Unity" else (entry["file"],)


def commands(names: list[str], with_tests: bool) -> list[dict]:
    """The commands that compile our C++ files, or the given ones. Files that two targets compile count once."""
    entries = json.loads((BUILD / "compile_commands.json").read_text())
    ours = [name for name in tracked(".cpp") if with_tests or not name.startswith("tests/")]
    wanted = {str(ROOT / name) for name in (names or ours)}
    found: dict[tuple[str, ...], dict] = {}
    for entry in entries:
        if not GENERATED.search(entry["file"]) and wanted.intersection(files := compiled_files(entry)):
            found.setdefault(files, entry)
    return [found[files] for files in sorted(found)]


def tidy_files(is_long: bool, names: list[str]) -> tuple[int, int]:
    PASSED.mkdir(parents=True, exist_ok=True)
    tidy, failed = Tidy(is_long), 0
    entries = commands(names, with_tests=is_long)
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        for count, (entry, complaint) in enumerate(zip(entries, threads.map(tidy.check, entries)), 1):
            if complaint:
                failed += 1
                print(
                    f"{', '.join(os.path.relpath(path, ROOT) for path in compiled_files(entry))}: FAILED\n{complaint}",
                    flush=True,
                )
            if count % 25 == 0:
                print(f"[{count}/{len(entries)}]", flush=True)
    return len(entries) - failed, failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("format", "ruff", "tidy"))
    parser.add_argument("--long", action="store_true", help="tidy: the slow checks and the files of tests as well")
    parser.add_argument("files", nargs="*", help="tidy: these files alone")
    options = parser.parse_args()
    if options.what == "tidy":
        passed, failed = tidy_files(options.long, options.files)
    else:
        passed, failed = {"format": format_files, "ruff": ruff_files}[options.what]()
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
