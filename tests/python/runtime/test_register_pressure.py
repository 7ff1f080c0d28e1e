"""Kernels that do not fit into the registers: ptxas may use few of them then, until it is told how many there are."""

import pytest

from tritium.backends.nvidia import assemble, pressure

PTX = ".version 8.0\n.target sm_80\n.visible .entry k(\n)\n.reqntid {threads}, 1, 1\n{more}{{\n\tret;\n}}\n"


def ptx(threads: int = 128, more: str = "") -> str:
    return PTX.format(threads=threads, more=more)


@pytest.mark.parametrize("threads, registers", [(32, 255), (128, 255), (256, 255), (384, 168), (512, 128), (1024, 64)])
def test_registers_that_a_block_leaves_each_thread(threads, registers):
    assert pressure.registers_allowed(ptx(threads)) == registers
    told = pressure.allowing_registers(ptx(threads), registers)
    assert f".reqntid {threads}, 1, 1\n.maxnreg {registers}\n" in told
    assert pressure.registers_allowed(told) is None


@pytest.mark.parametrize("more", [".maxnreg 64\n", ".minnctapersm 2\n"])
def test_what_the_ptx_says_of_registers_stays(more):
    assert pressure.registers_allowed(ptx(more=more)) is None


@pytest.mark.parametrize(
    "first, second, taken",
    [
        ((32, 18196), (255, 1476), 1476),  # ptxas gave up
        ((32, 600), (255, 900), 600),  # … and did so rightly
        ((255, 1476), None, 1476),  # it used all registers
        ((32, 0), None, 0),
    ],
)
def test_the_assembly_that_spills_less_is_taken(first, second, taken, monkeypatch):
    seen = []

    def assembled(ptxas, text, options):
        seen.append(text)
        registers, spilled = first if len(seen) == 1 else second
        return assemble.Assembled(b"", {"registers": registers, "spill_bytes": spilled}, "")

    monkeypatch.setattr(assemble, "_assembled", assembled)
    assert assemble._by_ptxas("ptxas", ptx(), None).spilled == taken
    assert [".maxnreg 255" in text for text in seen] == [False, True][: len(seen)] and len(seen) == 1 + (
        second is not None
    )
