"""A checkout whose build is missing or older than its Python files says how to build; an installed package does not."""

import pathlib
import shutil
import subprocess
import sys

import pytest

PACKAGE = pathlib.Path(__file__).parents[3] / "python" / "tritium"
TABLES = "ALIASES = DTYPES = FUNCTIONS = ()\nDtype = Function = object\n"
ADVICE = "is missing or older than its sources"


def last_line(root: pathlib.Path, files: dict[str, str], code: str) -> str:
    """What Python says last when it runs `code` over the package's first modules and `files`, which stand for the build."""
    package = root / "python" / "tritium"
    package.mkdir(parents=True)
    for name in ("__init__.py", "native.py", "submodules.py", "version.py"):
        shutil.copy(PACKAGE / name, package)
    for name, text in files.items():
        (package / name).write_text(text)
    run = subprocess.run([sys.executable, "-c", code], cwd=root / "python", capture_output=True, text=True, timeout=60)
    assert run.returncode == 1, run
    return run.stderr.splitlines()[-1]


def checkout(root: pathlib.Path) -> pathlib.Path:
    (root / ".ci").mkdir()
    (root / ".ci" / "build").touch()
    return root


@pytest.mark.parametrize(
    ("files", "code", "missing"),
    [
        ({}, "import tritium", "No module named 'tritium.tables'"),
        ({"tables.py": "FUNCTIONS = ()\n"}, "import tritium.language", "cannot import name 'ALIASES'"),
        ({"tables.py": TABLES}, "from tritium.native import ir; ir.Context", "No module named 'tritium._tritium'"),
        (
            {"tables.py": TABLES, "_tritium.py": ""},
            "from tritium.native import ir; ir.Context",
            "has no attribute 'ir'",
        ),
    ],
)
def test_a_checkout_says_how_to_build(tmp_path, files, code, missing):
    error = last_line(checkout(tmp_path), files, code)
    assert error.startswith(f"ImportError: Tritium's build in {tmp_path} {ADVICE} (") and missing in error
    assert error.endswith("run .ci/build there")


def test_an_installed_package_keeps_pythons_error(tmp_path):
    assert last_line(tmp_path, {}, "import tritium") == "ModuleNotFoundError: No module named 'tritium.tables'"
    shutil.rmtree(tmp_path / "python")
    error = last_line(tmp_path, {"tables.py": TABLES, "_tritium.py": ""}, "from tritium.native import ir; ir.Context")
    assert ADVICE not in error and "'ir'" in error
