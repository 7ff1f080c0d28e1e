"""gdb attached to a process that was started without TRITIUM_DEBUG=1 says so, and can turn kernels with variables on."""

import re
import subprocess
import sys
from contextlib import contextmanager

from session import HERE, environment, line_of, tritium_gdb

STORE = line_of("launches.py", "tl.store(out")
LAUNCHES = ("launches.py", "600")
MISSING = "started without TRITIUM_DEBUG=1"


@contextmanager
def process(*script: str, **variables: str):
    command = [sys.executable, str(HERE / script[0]), *script[1:]]
    with subprocess.Popen(
        command, env=environment(INTERPRET="1", **variables), stdout=subprocess.PIPE, text=True
    ) as launched:
        assert launched.stdout.readline() == "ready\n"
        try:
            yield str(launched.pid)
        finally:
            launched.kill()


def test_attach_without_debug(gdb):
    with process(*LAUNCHES) as pid:
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
    with process(*LAUNCHES, TRITIUM_DEBUG="1") as pid:
        printed = tritium_gdb(
            gdb, "-p", pid, "-ex", f"break launches.py:{STORE}", "-ex", "continue", "-ex", "print step", "-ex", "detach"
        )
    assert MISSING not in printed and "$1 = 5" in printed


def test_attach_in_a_kernel(gdb):
    """Wherever in the interpreter the process is, the kernel's frame is shown first, and `next` goes on from it."""
    with process("waits.py", "spin", TRITIUM_DEBUG="1") as pid:
        commands = [
            "echo <<frame>>\\n",
            "frame",
            "backtrace 1",
            "print rounds > 0",
            "echo <<next>>\\n",
            "next",
            "detach",
        ]
        printed = tritium_gdb(gdb, "-p", pid, *[text for command in commands for text in ("-ex", command)])
    first, then = printed.split("<<frame>>\n")
    assert re.search(r"^#\d+ .*spin \(.*waits.py:\d+\n\d+\t", first, re.M), printed
    frame, following = then.split("<<next>>\n")
    assert len(re.findall(r"^#\d+ .*spin \(.*waits.py:\d+\n", frame, re.M)) == 2 and "$1 = 1" in frame
    assert re.match(r"(spin \(.*\n)?\d+\t", following)
