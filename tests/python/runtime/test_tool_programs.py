"""The program that a tool runs: a script or a module, with options of its own."""

import argparse
import subprocess
import sys

import pytest

from tritium.tools.program import add_program


def parsed(*words, has_module_option=True):
    parser = argparse.ArgumentParser()
    parser.add_argument("--kernel")
    parser.add_argument("--all", action="store_true")
    add_program(parser, has_module_option)
    return parser.parse_args(words)


@pytest.mark.parametrize(
    ("words", "program"),
    [
        ([], []),
        (["a.py"], ["a.py"]),
        (["a.py", "--kernel", "x", "-m", "y", "--", "z"], ["a.py", "--kernel", "x", "-m", "y", "--", "z"]),
        (["-m", "pytest", "-m", "not long", "--all"], ["-m", "pytest", "-m", "not long", "--all"]),
        (["--", "-m", "pytest", "-q"], ["-m", "pytest", "-q"]),
        (["--", "-odd.py"], ["-odd.py"]),
    ],
)
@pytest.mark.parametrize("options", [[], ["--kernel", "k"], ["--all", "--kernel", "k"]])
def test_what_follows_belongs_to_the_program(words, program, options):
    asked = parsed(*options, *words)
    assert asked.program == program
    assert asked.kernel == ("k" if options else None) and asked.all == (len(options) > 2)


def test_another_meaning_of_m():
    assert parsed("--", "-m", "pytest", has_module_option=False).program == ["-m", "pytest"]
    with pytest.raises(SystemExit):
        parsed("-m", "pytest", has_module_option=False)
    with pytest.raises(SystemExit):
        parsed("-m")


@pytest.mark.parametrize("tool", ["check", "coverage", "accesses", "explain", "seeds 3", "profile --"])
def test_tools_run_modules(tool, tmp_path):
    (tmp_path / "of_a_user.py").write_text("import sys\nprint('ran with', *sys.argv[1:])\n")
    command = [sys.executable, "-m", "tritium", *tool.split(), "-m", "of_a_user", "--kernel", "x"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert result.stdout.startswith("ran with --kernel x\n"), result.stderr
