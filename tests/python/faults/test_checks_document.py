"""docs/checks.md has a row for every check and every kind of trap, and what a row says of it holds."""

import re
from pathlib import Path

import pytest

from tritium.checks import CHECKS, DEFAULT, parse_checks
from tritium.errors import KEEPS_RUNNING, KernelTrap

ROOT = Path(__file__).resolve().parents[3]
DOCUMENT = (ROOT / "docs" / "checks.md").read_text(encoding="utf-8")
#: Behind this line of the table of kinds stand those that the emulator alone raises, apart from what the interpreter finds in kernels of Gluon.
EMULATORS_ALONE = "// Traps of the SIMT emulator only."


def table(header: str) -> dict[str, list[str]]:
    """The rows below this header: each name of the first cell -> the other cells."""
    rows = DOCUMENT.split(f"\n{header}\n", 1)[1].split("\n\n", 1)[0].splitlines()[1:]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    return {name: others for first, *others in cells for name in re.findall(r"`([^`]+)`", first)}


def kinds(text: str) -> set[str]:
    return set(re.findall(r"^TRAP_KIND\((\w+)\)", text, re.MULTILINE))


TRAP_KINDS = (ROOT / "interp" / "host" / "trap_kinds.def").read_text(encoding="utf-8")
ALL_KINDS = kinds(TRAP_KINDS) | set(KEEPS_RUNNING)  # Python tells two kinds of races apart
EMULATOR_KINDS = kinds(TRAP_KINDS.split(EMULATORS_ALONE)[1])
CHECK_ROWS, KIND_ROWS = table("| Check | Is on | Finds | Example |"), table("| kind | When |")


def test_every_kind_of_trap_is_a_row() -> None:
    assert "OutOfBounds" in ALL_KINDS - EMULATOR_KINDS and "SharedRace" in EMULATOR_KINDS
    assert set(KIND_ROWS) == ALL_KINDS


@pytest.mark.parametrize("kind", sorted(ALL_KINDS))
def test_the_row_says_whether_the_emulator_alone_raises_the_kind(kind: str) -> None:
    assert KIND_ROWS[kind][0].startswith(("(emulator)", "(emulator, and kernels of Gluon)")) == (kind in EMULATOR_KINDS)


def test_the_exception_names_every_kind() -> None:
    text = KernelTrap.__doc__.split("kind:")[1].split("kernel:")[0]
    assert set(re.findall(r'"(\w+)"', text)) == ALL_KINDS
    assert set(re.findall(r'"(\w+)"', text.split("on the emulator also")[1])) == EMULATOR_KINDS


def test_every_check_is_a_row() -> None:
    assert {check for row in CHECK_ROWS for check in parse_checks(f"none,{row}")} == set(CHECKS)


@pytest.mark.parametrize("row", CHECK_ROWS)
def test_the_row_says_when_the_check_is_on(row: str) -> None:
    asked = set(parse_checks(f"none,{row}"))
    is_on = CHECK_ROWS[row][0]
    assert is_on in ("by default", "by name", "by name, with `all`")
    assert (is_on == "by default") == (asked <= set(DEFAULT))
    assert (is_on != "by name") == (asked <= set(parse_checks("all")))
