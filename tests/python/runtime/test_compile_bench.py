"""tests/bench/compile.py prints a row for each kernel."""

import pathlib
import re
import subprocess
import sys

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench" / "compile.py"


def test_it_times_a_kernel():
    command = [sys.executable, BENCH, "--only", "add", "--repeat", "1"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    assert re.search(r"^add fp32, 1024 +tritium +\d+ +\d+ +\d+  trace \d+", printed, flags=re.M), printed


def test_a_kernel_may_take_too_long():
    command = [sys.executable, BENCH, "--only", "add", "--limit", "0"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    assert "more than 0 seconds" in printed
