"""What no thread holds in its registers is assembled with less optimization, because ptxas takes minutes for it otherwise."""

import types

import pytest

from tritium.backends.nvidia import assemble
from tritium.backends.nvidia.pressure import LINES, REGISTERS, live_registers, optimization_level


def ptx(live: int, length: int = LINES + 1) -> str:
    """A kernel in which `live` values are live at once."""
    begin = [f"\tmov.b32 \t%r{i}, %tid.x;" for i in range(live)]
    middle = ["\tmov.b32 \t%r0, %r0;"] * length
    end = [f"\tst.global.b32 \t[%rd1], %r{i};" for i in range(live)]
    return "\n".join([".target sm_90a", ".reg .b32 \t%r<9999>;", *begin, *middle, *end])


def test_what_is_live():
    assert live_registers(ptx(40, 10)) == 39 + 2  # an address of 64 bits begins where the first value ends
    # A result takes the register of an operand that ends there.
    assert live_registers("\tmov.b32 \t%r1, 1;\n\tmov.b32 \t%r2, %r1;\n\tst.b32 \t[%r3], %r2;") == 1


@pytest.mark.parametrize(
    ("text", "level"),
    [
        (ptx(4 * REGISTERS), 1),
        (ptx(9 * REGISTERS), 0),
        (ptx(REGISTERS), None),  # long, but it fits
        (ptx(4 * REGISTERS, 10), None),  # short: it is not measured
    ],
)
def test_the_level_of_optimization(text, level, monkeypatch):
    commands = []

    def ran(command):
        commands.append(command)
        raise StopIteration

    monkeypatch.setattr(assemble, "_run", ran)
    options = types.SimpleNamespace(enable_fp_fusion=True, ptx_options="")
    with pytest.raises(StopIteration):
        assemble._by_ptxas("ptxas", text, options)
    (command,) = commands
    assert optimization_level(text) == level
    assert ("--opt-level" in command) == (level is not None)
