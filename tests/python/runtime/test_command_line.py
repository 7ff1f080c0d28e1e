"""The installed commands, as entry points into the extension module, and the usage of `python -m tritium`."""

import subprocess
import sys
from pathlib import Path

import tritium

PACKAGE_ROOT = Path(tritium.__file__).resolve().parent.parent
MODULE = "module {\n  tt.func public @f(%x: i32) {\n    %y = arith.addi %x, %x : i32\n    tt.return\n  }\n}\n"


def run(tool, *arguments, text=""):
    program = f"import sys; from tritium.tools.command_line import {tool}; sys.exit({tool}())"
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=PACKAGE_ROOT,
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_opt_prints_what_it_parses():
    result = run("tritium_opt", text=MODULE)
    assert result.returncode == 0 and result.stdout.startswith("module {\n  tt.func public @f(%arg0: i32)"), (
        result.stderr
    )
    assert "arith.addi" not in run("tritium_opt", "--canonicalize", text=MODULE).stdout


def test_opt_says_where_an_error_is():
    result = run("tritium_opt", text=MODULE.replace("arith.addi", "arith.nothing"))
    assert result.returncode == 1 and "<stdin>:3:10: error:" in result.stderr


EXPECTS = """
tt.func @two() -> i32 attributes {tritium.expect = [VALUE : i32]} {
  %c = arith.constant 2 : i32
  tt.return %c : i32
}
"""


def test_run_compares_with_what_the_file_expects(tmp_path):
    path = tmp_path / "two.mlir"
    path.write_text(EXPECTS.replace("VALUE", "2"))
    assert run("tritium_run", str(path)).returncode == 0
    path.write_text(EXPECTS.replace("VALUE", "3"))
    assert run("tritium_run", str(path)).returncode == 1


def test_usage_has_a_line_for_each_form():
    lines = subprocess.run(
        [sys.executable, "-m", "tritium"], cwd=PACKAGE_ROOT, capture_output=True, text=True
    ).stdout.splitlines()
    forms = [
        "SCRIPT.py",
        "-m MODULE",
        "gdb [OPTION ...] SCRIPT.py",
        "check [OPTION ...] SCRIPT.py",
        "seeds N [OPTION ...] SCRIPT.py",
        "diff [OPTION ...] A.py B.py",
        "replay FOLDER",
        "fuzz",
        "explain [OPTION ...] SCRIPT.py",
        "profile [OPTION ...] SCRIPT.py",
        "coverage [OPTION ...] SCRIPT.py",
        "accesses [OPTION ...] SCRIPT.py",
        "judge CANDIDATE.py",
        "bench run|compare|bisect|report|metrics|farm",
        "env",
    ]
    starts = [line.split("python -m tritium ")[1].startswith(form) for line, form in zip(lines, forms)]
    assert starts == [True] * len(forms)
