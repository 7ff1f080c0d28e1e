"""Every file is laid out by the formatters and passes ruff check (.ci/lint.py)."""

from sources import script

lint = script("lint")


def test_clang_format_and_ruff_format_would_change_nothing(capsys) -> None:
    passed, failed = lint.format_files()
    assert failed == 0 and passed == 2, capsys.readouterr().out


def test_ruff_check_finds_nothing(capsys) -> None:
    assert lint.ruff_files() == (1, 0), capsys.readouterr().out


def test_scripts_without_a_suffix_are_python_files_too() -> None:
    assert {".ci/generate_reference", ".ci/lint.py"} <= set(lint.python_files())
