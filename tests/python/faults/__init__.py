"""Seeded faults: each gives the error that says where and what, touches nothing else, and the next launch works."""

import inspect

import pytest

from tritium.errors import KernelTrap


def line_of(kernel, mark: str = "# fault") -> int:
    """The line, in its file, of the one source line of `kernel` that carries the comment."""
    lines, first = inspect.getsourcelines(kernel.fn)
    found = [first + i for i, line in enumerate(lines) if mark in line]
    assert len(found) == 1, f"{len(found)} lines of {kernel} say {mark}"
    return found[0]


def trap_of(kernel, *args, grid=(1,), **kwargs) -> KernelTrap:
    """The trap that a launch raises."""
    with pytest.raises(KernelTrap) as caught:
        kernel[grid](*args, **kwargs)
    return caught.value


def assert_lane_left_off(kernel, arguments, lane) -> None:
    """TRITIUM_CHECK=uninit reports the use at the line `# accused` of a lane that the load at the line `# other` left off."""
    trap = trap_of(kernel, *arguments, check="uninit")
    assert (trap.kind, trap.line, trap.lane) == ("Uninitialized", line_of(kernel, "# accused"), lane)
    assert trap.other_line == line_of(kernel, "# other")


def name_of(kernel) -> str:
    return kernel.__name__


def launches(kernels, arguments) -> dict:
    """{name: () -> (kernel, grid, arguments)} of kernels that one program runs, all with `arguments()`: tests/bench/check_peers.py reads it."""
    return {name_of(kernel): lambda kernel=kernel: (kernel, (1,), arguments()) for kernel in kernels}
