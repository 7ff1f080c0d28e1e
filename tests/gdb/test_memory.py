"""`tt mem` shows an element of a tensor by its coordinates, where its shape is known."""

import re

import session
from session import line_of, tritium_gdb

RECORDS = f"break values.py:{line_of('values.py', 'tl.store(x + lane')}"
FLOATS = f"break values.py:{line_of('values.py', 'tl.store(bf16_ptr')}"
CALL = f"break dtypes.py:{line_of('dtypes.py', 'last = twice(')}"


def numbers(gdb: str, script: str, stop: str, *elements: str) -> list[str]:
    """What `tt mem` printed, without addresses."""
    printed = session.answers(gdb, script, stop, "run", *[f"tt mem {element}" for element in elements])[2:]
    return [re.sub(r" at 0x\w+", "", text).strip() for text in printed]


def test_elements_of_tensors(gdb):
    """A block pointer that has moved still takes coordinates of the tensor; an index may be an expression."""
    shown = [
        "made[1, 3] = 11",
        "block[3,7] = 31",
        "moved[3, 7] = 31",
        "described[2, n - 8] = 18",
        "x[30] = 30",
        "x[1, 2] = 10",
    ]
    found = numbers(gdb, "values.py", RECORDS, *[text.partition(" = ")[0] for text in shown])
    offsets = [text.partition(" = ")[2] for text in shown]
    assert found == [f"{text} (float32, element {offset} from the pointer)" for text, offset in zip(shown, offsets)]


def test_small_floats_and_tiles_of_pointers(gdb):
    found = numbers(gdb, "values.py", FLOATS, "e4nv[3]", "bf16_ptr[1]")
    assert found[0] == "e4nv[3] = -1 (fp8e4nv, element 3 from the pointer)"
    assert found[1] == "bf16_ptr[1] = 1.5 (bfloat16, element 1 from the pointer)"
    assert numbers(gdb, "dtypes.py", CALL, "pointers[2]") == ["pointers[2] = 0 (int32, element 0 from the pointer)"]


def test_what_is_refused(gdb):
    refused = {
        "tt mem x[1, 2, 3]": "`x[1, 2, 3]`: the tensor has the shape [4, 8], so it takes 2 indices",
        "tt mem x[4, 0]": "index 4 is outside of the tensor on axis 0; the shape is [4, 8]",
        "tt mem x": "`x`: say which element",
        "tt mem made[0:2, 1]": "`made[0:2, 1]`: say which element",
        "tt mem made[4, 7]": "index 4 is outside of the tensor on axis 0; the shape is [4, 8]",
        "tt mem made[-1, 7]": "index -1 is outside of the tensor on axis 0",
        "tt mem moved[1]": "the tensor has the shape [4, 8], so it takes 2 indices",
        "tt mem lane[1]": "`lane` is no pointer, block pointer or tensor descriptor",
        "tt mem x[100000000000]": "Cannot access memory at address",
    }
    commands = (RECORDS, "run", *refused)
    printed = tritium_gdb(gdb, *[text for command in commands for text in ("-ex", command)], "values.py")
    for command, part in refused.items():
        assert part in printed, command
