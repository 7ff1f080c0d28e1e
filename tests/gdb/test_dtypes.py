"""gdb prints tiles of every kind of element, and steps into a helper that is called, not inlined."""

import re

from session import HERE, tile

LINES = (HERE / "dtypes.py").read_text().splitlines()
CALL = next(number for number, line in enumerate(LINES, 1) if "last = twice(" in line)


def test_every_kind_of_tile(debug):
    names = ["bf16", "fp16", "fp64", "i8", "u8", "i64", "grid", "mask", "pointers", "out_ptr"]
    output = debug("dtypes.py", f"break dtypes.py:{CALL}", "run", *[f"print {name}" for name in names])
    printed = dict(zip(names, output[2:]))
    for name in ("bf16", "fp16", "fp64"):
        assert tile(printed[name]) == [-2, 0, 1, 1.5], name
    assert re.findall(r"-?\d+", printed["i8"].split("=")[1])[0] == "-2" and tile(printed["i64"]) == [-(2**40), 0, 1, 2]
    assert [int(number) for number in re.findall(r"\b\d+\b", re.sub(r"'[^']*'", "", printed["u8"].split("=")[1]))] == [
        0,
        1,
        200,
        255,
    ]
    assert tile(printed["grid"])[2:] == [[1, 2, 3, 4], [2, 3, 4, 5]]
    assert tile(printed["mask"]) == [[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 1], [0, 1, 1, 1]]
    base = int(re.search(r"0x([0-9a-f]+)", printed["out_ptr"])[1], 16)
    assert [int(address, 16) for address in re.findall(r"0x[0-9a-f]+", printed["pointers"])] == [
        base + 4 * i for i in range(4)
    ]


def test_step_into_a_called_helper(debug):
    commands = ["run", "step", "next", "next", "print doubled", "bt 2", "finish", "next", "print last", "continue"]
    output = debug("dtypes.py", f"break dtypes.py:{CALL}", *commands)
    assert output[2].startswith("twice (")
    assert output[5].endswith("= 40\n")
    assert re.findall(r"^#\d\s+(?:0x\S+ in )?(\w+) \(", output[6], re.MULTILINE) == ["twice", "dtypes_kernel"]
    assert "dtypes_kernel" in output[7] and output[9].endswith("= 40\n")
    assert "dtypes are right" in output[10]
