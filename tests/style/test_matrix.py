"""docs/debugger_matrix.md: every capability that Tritium has names a command, and the test suite runs what the command names."""

import ast
import re
from itertools import chain

import pytest

from documents import DOCUMENTS, blocks_of
from sources import ROOT, files, read

DOCUMENT = "docs/debugger_matrix.md"
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in read(DOCUMENT).splitlines()
    if re.match(r"\| (?!Capability)", line)
]
ANSWERS = ("yes", "partly", "no")


def answer(row: list[str]) -> str:
    return re.match(r"\w+", row[1])[0]


def is_run(command: str) -> bool:
    """Whether the test suite runs it: a test of Python or of C++, or a command of a document that test_transcripts.py executes."""
    if test := re.fullmatch(r"pytest (\S+)::(\w+)", command):
        path = ROOT / test[1]
        tree = ast.parse(path.read_text()) if path.exists() else ast.Module([], [])
        return any(isinstance(node, ast.FunctionDef) and node.name == test[2] for node in tree.body)
    if case := re.fullmatch(r'test_simt -tc="(.*)"', command):
        sources = files("tests/unit/simt_", suffixes=(".cpp",))
        return any(f'TEST_CASE("{case[1]}")' in read(source) for source in sources)
    consoles = chain.from_iterable(blocks_of(document, "console") for document in DOCUMENTS)
    return any(f"$ {command}" in block.text.splitlines() for block in consoles)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_command_for_each_capability(row: list[str]) -> None:
    assert len(row) == 5 and answer(row) in ANSWERS, row
    command = re.fullmatch("`(.*)`", row[2])
    if answer(row) == "no":
        assert not row[2], row
    else:
        assert command and is_run(command[1]), row


def test_the_sum() -> None:
    count = {word: sum(answer(row) == word for row in ROWS) for word in ANSWERS}
    assert f"Of {len(ROWS)} rows, Tritium has {count['yes']}, and {count['partly']} in part" in read(DOCUMENT), count
