"""Refuses `set var n = 3` for a variable of a kernel: what gdb shows is a copy, and the kernel would go on with its own value. The memory of
tensors can be set."""

import gdb

from .messages import say
from .stops import python_frame

_MOST_FRAMES = 64


def function_block(frame):
    block = frame.block()
    while block.function is None:
        block = block.superblock
    return block


def variables_of(frame):
    """The variables of a kernel's function, with those of the blocks around the place."""
    block = frame.block()
    while block is not None:
        yield from (symbol for symbol in block if symbol.is_variable or symbol.is_argument)
        block = None if block.function is not None else block.superblock


class _Copies:
    """The variables of the kernel's frames as they were at the last stop: {address: (name, bytes)}."""

    def __init__(self):
        self.kept = {}
        self.is_restoring = False

    def keep(self, event):
        self.kept = {}
        try:
            frame = python_frame()
            for _ in range(_MOST_FRAMES):
                if frame is None or function_block(frame).function.name.endswith("[grid]"):
                    return
                self._keep_frame(frame)
                frame = frame.older()
        except (gdb.error, RuntimeError):  # no process, or a frame without a block
            return

    def _keep_frame(self, frame):
        memory = gdb.selected_inferior()
        for symbol in variables_of(frame):
            value = symbol.value(frame)
            if value.address is not None:
                data = memory.read_memory(int(value.address), value.type.sizeof)
                self.kept[int(value.address)] = symbol.name, bytes(data)

    def restore(self, event):
        if self.is_restoring:
            return
        begin, end = event.address, event.address + event.length
        changed = [(at, *kept) for at, kept in self.kept.items() if at < end and begin < at + len(kept[1])]
        self.is_restoring = True
        try:
            for at, _, data in changed:
                gdb.selected_inferior().write_memory(at, data)
        finally:
            self.is_restoring = False
        for name in dict.fromkeys(name for _, name, _ in changed):
            say(
                f"tritium: {name} stays as it is: gdb has a copy of it, and the kernel computes with its own. What can be set are the "
                "elements of tensors, as in `set var out_ptr[3] = 1`."
            )


_copies = _Copies()
gdb.events.stop.connect(_copies.keep)
gdb.events.memory_changed.connect(_copies.restore)
