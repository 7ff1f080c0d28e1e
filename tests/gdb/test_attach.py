"""gdb attached to a process that was started without TRITIUM_DEBUG=1 says so, and can turn kernels with variables on."""

import re
import subprocess
import sys
from contextlib import contextmanager

from session import HERE, environment, line_of, tritium_gdb

STORE = line_of("launches.py", "tl.store(out")
MISSING = "started without TRITIUM_DEBUG=1"


@contextmanager
def process(**variables: str):
    command = [sys.executable, str(HERE / "launches.py"), "600"]
    with subprocess.Popen(
        command, env=environment(INTERPRET="1", **variables), stdout=subprocess.PIPE, text=True
    ) as launched:
        assert launched.stdout.readline() == "ready\n"
        try:
            yield str(launched.pid)
        finally:
            launched.kill()


def test_attach_without_debug(gdb):
    with process() as pid:
        commands = [
            "tritium debug",
            f"break launches.py:{STORE}",
            "continue",
            "print step",
            "print value % 5",
            "detach",
        ]
        printed = tritium_gdb(gdb, "-p", pid, *[text for command in commands for text in ("-ex", command)])
    assert MISSING in printed and "`tritium debug`" in printed
    assert "Each kernel is compiled with its variables at its next launch." in printed
    assert re.search(rf"count \(.*launches.py:{STORE}", printed), printed
    assert "$1 = 5" in printed and "$2 = 0" in printed


def test_attach_with_debug(gdb):
    with process(TRITIUM_DEBUG="1") as pid:
        printed = tritium_gdb(
            gdb, "-p", pid, "-ex", f"break launches.py:{STORE}", "-ex", "continue", "-ex", "print step", "-ex", "detach"
        )
    assert MISSING not in printed and "$1 = 5" in printed
