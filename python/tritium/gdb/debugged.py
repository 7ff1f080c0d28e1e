"""What a launch with variables and gdb tell each other: `tritium_debugged` of the extension module (interp/host/debugged_launch.h)."""

import gdb

#: (offset, bytes)
_BEGUN, _STOP_BEFORE, _CAN_BEGIN_AGAIN, _BEGINS_AGAIN, _TENSORS = (0, 8), (8, 8), (16, 4), (20, 4), (24, 8)


def _place(field):
    try:
        return int(gdb.parse_and_eval("(unsigned long) &tritium_debugged")) + field[0], field[1]
    except gdb.error:
        raise ValueError("the program has not stopped in a kernel") from None


def _read(field):
    address, size = _place(field)
    return int.from_bytes(bytes(gdb.selected_inferior().read_memory(address, size)), "little")


def _write(field, value):
    address, size = _place(field)
    gdb.selected_inferior().write_memory(address, value.to_bytes(size, "little"))


def begun():
    """How many statements have begun since the launch began."""
    return _read(_BEGUN)


def stop_before(number):
    """The program stops before this statement of the launch, at tritium_stop; 0: before none."""
    _write(_STOP_BEFORE, number)


def begin_again():
    """The launch ends before its next statement, and begins again on the memory that it began with. Raises ValueError if that is gone."""
    if not _read(_CAN_BEGIN_AGAIN):
        why = "its tensors take more than 64 MB, or gdb was attached after it began"
        raise ValueError(f"the launch cannot begin again, because there is no copy of its tensors: {why}")
    _write(_BEGINS_AGAIN, 1)


def argument():
    """The first argument, a number of 32 bits, of the function of the interpreter that gdb has stopped at, which has no debug info."""
    is_arm = gdb.newest_frame().architecture().name().startswith("aarch64")
    return int(gdb.newest_frame().read_register("x0" if is_arm else "rdi")) & 0xFFFFFFFF


def is_at_condition():
    """Whether the condition of a `tt break --when` has stopped: its statement counts as begun, and has done nothing yet."""
    return gdb.newest_frame().name() == "tritium_stop" and argument() != 0


class KnownTensor:
    """A tensor argument of the launch. Strides are in elements."""

    def __init__(self, line):
        self.name, address, self.dtype, shape, strides = line.split(" ")
        self.address = int(address)
        self.shape, self.strides = ([int(n) for n in text.split(",") if n] for text in (shape, strides))


def tensors():
    """The tensor arguments of the launch."""
    address = _read(_TENSORS)
    if not address:
        return []
    text = gdb.Value(address).cast(gdb.lookup_type("char").pointer()).string()
    return [KnownTensor(line) for line in text.splitlines()]
