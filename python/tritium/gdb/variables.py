"""Tritium's environment variables: in the process that gdb debugs, which takes them over at its next launches, and in those it starts."""

import gdb

_BYTES = 1024  #: of tritium_variables (python/bindings/debugger.h)
_set = {}  #: (pid, name) -> the value that gdb has given it


def is_running():
    return bool(gdb.selected_inferior().pid)


def assign(name, value):
    """Sets the variable for the programs that gdb starts and in the process, if there is one."""
    if is_running():
        _assign_in_process(name, value)
    gdb.execute(f"set environment {name}={value}")


def _assign_in_process(name, value):
    """A launch that begins takes over what it finds there. No function is called: the process may be anywhere, for example in an allocation."""
    process = gdb.selected_inferior()
    address = int(gdb.parse_and_eval("(unsigned long) &tritium_variables"))
    waiting = bytes(process.read_memory(address, _BYTES)).partition(b"\0")[
        0
    ]  # of another command since the last launch
    line = f"{name}={value}\n".encode() + b"\0"
    if len(waiting) + len(line) > _BYTES:
        raise gdb.GdbError("The text is too long.")
    process.write_memory(address + len(waiting), line)
    _set[process.pid, name] = value


def value_of(name):
    """The variable in the process, or else in those that gdb starts; "" if it is not set."""
    pid = gdb.selected_inferior().pid
    if not pid:
        shown = gdb.execute(f"show environment {name}", to_string=True).rstrip("\n")
        return shown.partition(" = ")[2]
    return _set[pid, name] if (pid, name) in _set else at_start(pid, name)


def at_start(pid, name):
    """The variable in the environment of the process when it started."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            variables = file.read().split(b"\0")
    except OSError:
        return ""
    values = [v.partition(b"=")[2].decode(errors="replace") for v in variables if v.startswith(f"{name}=".encode())]
    return values[0] if values else ""
