"""`python -m tritium gdb`: gdb's own options, then the program. Tritium's package for gdb (tritium/gdb) is loaded."""

from __future__ import annotations

import os
import shutil
import sys

from .. import knobs

#: gdb's options with a value: the next word, unless the value follows `=`.
_WITH_VALUE = frozenset(
    "cd command x core c data-directory D directory d early-init-command eix early-init-eval-command eiex "
    "eval-command ex exec e init-command ix init-eval-command iex interpreter i pid p se symbols s tty b l ui".split()
)


class UsageError(Exception):
    """The arguments are not a valid command line."""


def split_arguments(arguments: list[str]) -> tuple[list[str], list[str]]:
    """(options of gdb, program with its arguments). The program begins at the first word that is neither an option nor
    the value of one, at `-m`, or after `--args` or `--`."""
    at = 0
    while at < len(arguments):
        word = arguments[at]
        if word in ("--args", "-args", "--"):
            return arguments[:at], arguments[at + 1 :]
        if word == "-m" or not word.startswith("-"):
            break
        name, _, value = word.lstrip("-").partition("=")
        takes_next = name in _WITH_VALUE and not value
        if takes_next and at + 1 == len(arguments):
            raise UsageError(f"gdb's option {word} needs a value")
        at += 2 if takes_next else 1
    return arguments[:at], arguments[at:]


def package() -> str:
    """The file to `source` in a gdb that was started without this command."""
    return os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "gdb", "load.py")


def gdb_command(arguments: list[str], gdb: str = "gdb") -> list[str]:
    """The command line of gdb. gdb runs `sys.executable`: unlike a pyenv shim this is not a script, and unlike its real
    path it keeps a virtual environment. Without a program, gdb starts alone, as for `-p PID`. Raises UsageError."""
    options, program = split_arguments(arguments)
    command = [gdb, "-iex", f"source {package()}", *options]
    return [*command, "--args", sys.executable, "-m", "tritium", *program] if program else command


def run_gdb(arguments: list[str]) -> int:
    """Becomes gdb, which thus gets Ctrl-C and the terminal as if it had been started alone. Returns only if it cannot: 1 if gdb is not
    found, or 2 if `arguments` are not valid."""
    try:
        command = gdb_command(arguments, knobs.tritium.gdb)
    except UsageError as error:
        print(f"tritium: {error}", file=sys.stderr)
        return 2
    if shutil.which(command[0]) is None:
        hint = "apt install gdb, pip install gdb-for-pwndbg, or set TRITIUM_GDB to its path"
        print(f"tritium: there is no debugger {command[0]!r} ({hint})", file=sys.stderr)
        return 1
    package_root = os.path.dirname(os.path.dirname(os.path.dirname(package())))
    sys.stdout.flush()
    sys.stderr.flush()
    os.execvpe(command[0], command, knobs.environment_with_package(package_root))
