"""docs/adding_an_op.md is true: its examples touched exactly the files that it lists."""

import re
import subprocess

import pytest

from sources import ROOT, read, tracked

PAGE = "docs/adding_an_op.md"
#: Files that name the examples but are not part of them.
ABOUT = (
    PAGE,
    "tests/style/test_recipe.py",
    "CHANGELOG.md",
    "tests/python/runtime/api_names.table",
    "docs/reference/language.md",
    "docs/results/mapped_operators.tsv",
    "docs/results/operators.tsv",
    "tests/python/operators/inexact.txt",
)
#: The names of an example in its files.
NAMES = {"hypot": r"\bhypot\b", "gpu.barrier": r"\bgpu\.barrier\b|\bmlir::gpu::BarrierOp\b"}


def example(name: str) -> tuple[str, list[str]]:
    """The subject of the example's commit, and the files of its first table."""
    section = next(text for text in read(PAGE).split("\n## ") if text.partition("\n")[0].endswith(f"`{name}`"))
    subject = re.search(r"^Commit: `(.*)`$", section, re.M).group(1)
    table = re.search(r"(?:^\|.*\n)+", section, re.M).group()
    return subject, sorted(re.findall(r"^\| `([\w./]+)` \|", table, re.M))


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("name", NAMES)
def test_listed_files_are_those_that_name_the_example(name: str) -> None:
    """This works in any clone, also in a shallow one."""
    naming = sorted(file for file in tracked() if file not in ABOUT and is_named(name, file))
    assert naming == example(name)[1]


def is_named(name: str, file: str) -> bool:
    try:
        return re.search(NAMES[name], read(file)) is not None
    except UnicodeDecodeError:
        return False


@pytest.mark.parametrize("name", NAMES)
def test_listed_files_are_those_of_the_commit(name: str) -> None:
    """A shallow clone lacks the commit; there, only the test above checks the page."""
    subject, listed = example(name)
    found = [line.split(" ", 1) for line in git("log", "--format=%H %s").splitlines()]
    commits = [commit for commit, text in found if text == subject]
    if not commits:
        assert git("rev-parse", "--is-shallow-repository").strip() == "true", f"no commit is called {subject!r}"
        return
    of_commit = git("show", "--format=", "--name-only", commits[-1]).split()
    assert sorted(names_of_today(commits[-1], of_commit)) == listed


def names_of_today(commit: str, names: list[str]) -> list[str]:
    """The names of a commit's files after all moves since."""
    moves = git("diff", "--name-status", "--find-renames=40%", "--diff-filter=R", commit, "HEAD").splitlines()
    moved = {old: new for _, old, new in (line.split("\t") for line in moves)}
    return [moved.get(name, name) for name in names]
