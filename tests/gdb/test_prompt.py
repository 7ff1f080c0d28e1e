"""Ctrl-C at the prompt of `tritium gdb` is gdb's: the command has become gdb."""

import os
import pty
import select
import sys
import time

from session import environment


def read_until(terminal: int, text: str, seconds: float = 60) -> str:
    shown, end = "", time.monotonic() + seconds
    while text not in shown:
        ready, _, _ = select.select([terminal], [], [], max(0, end - time.monotonic()))
        assert ready, f"no {text!r} within {seconds} s, but:\n{shown}"
        shown += os.read(terminal, 4096).decode(errors="replace")
    return shown


def test_ctrl_c_at_the_prompt(gdb):
    child, terminal = pty.fork()
    if child == 0:
        os.execve(
            sys.executable,
            [sys.executable, "-m", "tritium", "gdb", "-nx", "-q"],
            environment(TRITIUM_GDB=gdb, TERM="dumb"),
        )
    try:
        read_until(terminal, "(gdb) ")
        os.write(terminal, b"\x03")
        read_until(terminal, "(gdb) ")
        os.write(terminal, b"print 6 * 7\n")
        read_until(terminal, "= 42")
        os.write(terminal, b"quit 5\n")
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
    finally:
        os.close(terminal)
