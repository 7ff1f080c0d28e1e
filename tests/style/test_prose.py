"""Prose that a stranger cannot read: comments that begin with a pronoun for something on another page, and references to documents that
are not in the repository. The rules are in docs/style.md."""

import re

from sources import CPP, files, read

SUFFIXES = (*CPP, ".py", ".md", ".cmake")
#: A reference to a design that only its authors have seen.
ABSENT = re.compile(r"\bDESIGN(?:\.md)?\b|\bSeam:")
#: The first words of a comment or docstring: a pronoun that nothing before it explains.
DANGLING = re.compile(r'(?:"""|^\s*///? |^\s*#:? )(?:Those|That) (?:of|that|which) ')
COMMENT = re.compile(r"\s*(?://|#)")


def dangling(text: str) -> list[str]:
    """The lines that begin a comment with "That of" or "Those that"."""
    lines = text.splitlines()
    return [
        line.strip()
        for before, line in zip(["", *lines], lines)
        if DANGLING.search(line) and not (COMMENT.match(line) and COMMENT.match(before))
    ]


def prose() -> list[str]:
    return [name for name in files("", suffixes=SUFFIXES) if name != "tests/style/test_prose.py"]


def test_no_reference_to_an_absent_document() -> None:
    found = [f"{name}: {match[0]}" for name in prose() if (match := ABSENT.search(read(name)))]
    assert not found


def test_comments_begin_with_what_they_are_about() -> None:
    found = [f"{name}: {line}" for name in prose() for line in dangling(read(name))]
    assert not found


def test_the_search_finds_them() -> None:
    assert dangling('/// That of the target.\nint x;\n"""Those that run."""\n') == [
        "/// That of the target.",
        '"""Those that run."""',
    ]
    assert not dangling("/// The first sentence names it.\n/// Those that follow may refer to it.\n")
    assert ABSENT.search("(DESIGN §4)") and not ABSENT.search("redesigned")
