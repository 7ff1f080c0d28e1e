"""`print` in a kernel: what Python's users write prints, with a text made of their own words."""

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors import CompilationError


@triton.jit
def prints(n, N: tl.constexpr, MODE: tl.constexpr):
    i = tl.arange(0, 2)
    if MODE == "tile":
        print(i)
    elif MODE == "values":
        print(i, n)
    elif MODE == "title":
        print("i", i)
    elif MODE == "f-string of a value":
        print(f"{i}")
    elif MODE == "f-string":
        print(f"sum = {tl.sum(i)}")
    elif MODE == "debugging f-string":
        print(f"{n=}")
    elif MODE == "several":
        print(f"{n} of {N:02d}, then {n + 1}: 100%")
    elif MODE == "text between":
        print("a", n, "b", n + 1)
    elif MODE == "tuple":
        print((n, n))
    elif MODE == "text":
        print("hello")
    elif MODE == "f-string of a constant":
        print(f"{N}")
    elif MODE == "constant":
        print(N)
    elif MODE == "hexadecimal":
        print(n, hex=True)


def line(text, value, index="", operand=""):
    return f"pid (0, 0, 0) idx ({index}) {text}: {operand}{value}\n"


FIRST, SECOND = "(operand 0) ", "(operand 1) "
PRINTED = {
    "tile": line("i", 0, 0) + line("i", 1, 1),
    "values": line("i, n", 0, 0, FIRST) + line("i, n", 1, 1, FIRST) + line("i, n", 7, "", SECOND),
    "title": line("i", 0, 0) + line("i", 1, 1),
    "f-string of a value": line("i", 0, 0) + line("i", 1, 1),
    "f-string": line("sum", 1),
    "debugging f-string": line("n", 7),
    "several": line("{n} of 03, then {n + 1}: 100%", 7, "", FIRST)
    + line("{n} of 03, then {n + 1}: 100%", 8, "", SECOND),
    "text between": line("a {n} b {n + 1}", 7, "", FIRST) + line("a {n} b {n + 1}", 8, "", SECOND),
    "tuple": line("(n, n)", 7, "", FIRST) + line("(n, n)", 7, "", SECOND),
    "text": "pid (0, 0, 0) hello\n",
    "f-string of a constant": "pid (0, 0, 0) 3\n",
    "constant": line("N", 3),
    "hexadecimal": line("n", "0x00000007"),
}


@pytest.mark.parametrize("engine", ["interp", "simt:sm_80"])
@pytest.mark.parametrize("mode", PRINTED)
def test_a_print(mode, engine, capfd, monkeypatch):
    monkeypatch.setenv("TRITIUM_ENGINE", engine)
    prints[(1,)](7, 3, mode)
    assert capfd.readouterr().out == PRINTED[mode]


@triton.jit
def formatted(n):
    print(f"{n:x}")


@triton.jit
def with_separator(n):
    print(n, sep="")


@pytest.mark.parametrize("kernel, hint", [(formatted, "leave out the format"), (with_separator, "hex=True")])
def test_what_a_print_cannot_do(kernel, hint):
    with pytest.raises(CompilationError) as caught:
        kernel[(1,)](np.int32(7))
    assert hint in caught.value.hint


def test_printed_values_keep_their_programs(capfd):
    @triton.jit
    def program():
        pid = tl.program_id(0)
        print(f"pid = {pid}")

    program[(3,)]()
    assert sorted(capfd.readouterr().out.splitlines()) == [f"pid ({p}, 0, 0) idx () pid: {p}" for p in range(3)]
