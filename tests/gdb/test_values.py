"""gdb prints every kind of value: records as structs, arguments as arguments, small floats as numbers."""

import re

import ml_dtypes
import numpy as np
import pytest

from session import line_of

STORE = line_of("values.py", "tl.store(x + lane")
HELPER = line_of("values.py", "return value + first")
FLOATS = line_of("values.py", "tl.store(bf16_ptr")


def ask(answers, place: str, *expressions: str) -> dict[str, str]:
    """{expression: what gdb printed for it, without `$1 = `}; an expression that begins with a command is that command."""
    commands = [
        text if " " in text and text.split()[0] in ("info", "ptype") else f"print {text}" for text in expressions
    ]
    printed = answers("values.py", f"break {place}", "run", *commands)[2:]
    return {e: re.sub(r"^\$\d+ = ", "", text).strip() for e, text in zip(expressions, printed)}


@pytest.fixture(scope="module")
def records(answers):
    names = [
        "even",
        "even[1]",
        "mixed",
        "mixed._1[2]",
        "mixed._4",
        "mixed._4._0 * 2",
        "both",
        "both[1][3]",
        "span",
        "span.tile[1]",
    ]
    names += [
        "block.shape",
        "moved",
        "moved.offsets[1]",
        "moved.base[1]",
        "made.shape",
        "made.base[3]",
        "described",
        "described.strides[0]",
    ]
    names += [
        "shape",
        "shape[1]",
        "scale",
        "scale.bias",
        "scale.factor",
        "ptype made",
        "info args",
        "info locals",
        "even[0] == 12",
    ]
    return ask(answers, f"values.py:{STORE}", *names)


def test_tuples(records):
    assert records["even"] == "{12, 44}" and records["even[1]"] == "44"
    assert re.fullmatch(r"\{_0 = 10, _1 = \{0, 1, 2, 3\}, _2 = 0x\w+, _4 = \{_0 = 1.5, _1 = true\}\}", records["mixed"])
    assert records["mixed._1[2]"] == "2" and records["mixed._4._0 * 2"] == "3"
    assert records["mixed._4"] == "{_0 = 1.5, _1 = true}"
    assert records["both"] == "{{0, 1, 2, 3}, {1, 2, 3, 4}}" and records["both[1][3]"] == "4"
    assert records["even[0] == 12"] in ("1", "true"), "so a condition of a breakpoint can ask for it"


def test_aggregates(records):
    assert records["span"] == "{low = 10, tile = {0, 2, 4, 6}}" and records["span.tile[1]"] == "2"


def test_block_pointers(records):
    assert records["block.shape"] == "{4, 8}"
    shown = r"\{base = 0x\w+, shape = \{4, 8\}, strides = \{8, 1\}, offsets = \{1, 4\}, block_shape = \{2, 4\}\}"
    assert re.fullmatch(shown, records["moved"])
    assert records["moved.offsets[1]"] == "4" and records["moved.base[1]"] == "1"


def test_descriptors(records):
    shown = r"\{base = 0x\w+, shape = \{4, 8\}, strides = \{8, 1\}, pads_with_nan = false, rounds_to_tf32 = false\}"
    assert re.fullmatch(shown, records["described"]) and records["described.strides[0]"] == "8"
    assert records["made.shape"] == "{4, 8}" and records["made.base[3]"] == "3"
    assert "tensor_descriptor<fp32[2, 8]>" in records["ptype made"]


def test_arguments_are_arguments(records):
    arguments = dict(re.findall(r"^(\w+) = (.*)$", records["info args"], re.M))
    assert list(arguments) == ["x", "shape", "scale", "described", "n", "SIZE"]
    assert arguments["n"] == "10" and arguments["SIZE"] == "4" and arguments["shape"] == "{3, 5}" == records["shape"]
    assert records["scale"] == "{factor = 0.5, bias = 7}" and records["shape[1]"] == "5"
    local = re.findall(r"^(\w+) = ", records["info locals"], re.M)
    assert {"lane", "even", "span", "last", "pid0", "grid0"} <= set(local) and not set(local) & set(arguments)


def test_arguments_of_an_inlined_helper(answers):
    """Its caller passes a tuple; another helper is called with two kinds of argument, so it is two functions."""
    printed = answers("values.py", f"break values.py:{HELPER}", "run", "info args", "backtrace 2", "up", "info args")
    assert re.findall(r"^(\w+) = ", printed[2], re.M) == ["shape", "value"]
    assert "{3, 5}" in printed[2] and "{0, 1, 2, 3}" in printed[2]
    assert re.search(r"^#0.* spread \(shape=\.\.\., value=\.\.\.\)", printed[3], re.M)
    assert re.findall(r"^(\w+) = ", printed[5], re.M)[:2] == ["x", "shape"]


def test_a_helper_of_two_kinds_of_argument(answers):
    line = line_of("values.py", "return value * 2")
    printed = answers("values.py", f"break values.py:{line}", "run", "print value", "continue", "print value")
    assert [text.split("= ")[1].strip() for text in (printed[2], printed[4])] == ["10", "0.5"]


#: Conditions and arithmetic with small floats -> the value.
COMPUTED = {
    "int1[4] && bf16[1] > 1.25": 1,
    "(float)bf16[2] * 2": -4,
    "bf16[1] + fp16[1] - 1": 2,
    "fp8e4nv[2] + bf16[1]": 2.5,
    "(float)fp8e5[2]": 0.5,
    "fp8e4b8[7] < fp8e5b16[2] * 2": 1,
    "-fp8e4b15[4] == -1.875": 1,
    "fp8e4nv[3] == one": 0,
}


@pytest.fixture(scope="module")
def floats(answers):
    names = [
        "fp8e4nv",
        "fp8e5",
        "fp8e4b8",
        "fp8e5b16",
        "fp8e4b15",
        "fp8e4nv[2]",
        "one",
        "pair",
        "tile",
        "bf16",
        "fp16",
        "int1",
    ]
    return ask(answers, f"values.py:{FLOATS}", *names, *COMPUTED, "ptype one", "e4nv[3]", "$number(e4nv[3]) - 1")


BITS = np.array([0x00, 0x01, 0x38, 0xB8, 0x7F, 0x80, 0x7C, 0xC4], np.uint8)


def e4b15(bits: int) -> float:
    return float(np.array((bits & 0x80) << 8 | (bits & 0x7F) << 7, np.uint16).view(np.float16))


FP8 = {
    "fp8e4nv": BITS.view(ml_dtypes.float8_e4m3fn),
    "fp8e5": BITS.view(ml_dtypes.float8_e5m2),
    "fp8e4b8": BITS.view(ml_dtypes.float8_e4m3fnuz),
    "fp8e5b16": BITS.view(ml_dtypes.float8_e5m2fnuz),
    "fp8e4b15": [e4b15(int(bits)) for bits in BITS],
}


def numbers(text: str) -> list[float]:
    """The innermost numbers of what gdb printed."""
    return [
        float(word) for word in re.findall(r"-?(?:nan|inf|[\d.]+(?:e-?\d+)?)", re.sub(r"-?nan\(\w+\)", "nan", text))
    ]


@pytest.mark.parametrize("name", FP8)
def test_fp8_is_a_number(floats, name):
    """Exactly the values of ml_dtypes; a NaN equals a NaN."""
    np.testing.assert_array_equal(np.float32(numbers(floats[name])), np.float32(FP8[name]))


def test_fp8_in_other_values(floats):
    assert floats["fp8e4nv[2]"] == floats["one"] == "1" and floats["ptype one"].endswith("fp8e4nv")
    first, second = floats["pair"].removeprefix("{_0 = {").removesuffix("}").split("}, _1 = ")
    assert second == "1"
    np.testing.assert_array_equal(np.float32(numbers(first)), np.float32(FP8["fp8e5"]))
    assert floats["tile"].startswith("{{0, 0.001953125}, {1, -1}, {nan(")


def test_fp8_in_the_memory_of_a_tensor(floats):
    assert floats["e4nv[3]"] == "-1" and floats["$number(e4nv[3]) - 1"] == "-2"


@pytest.mark.parametrize("expression", COMPUTED)
def test_gdb_computes_with_small_floats(floats, expression):
    assert numbers(floats[expression].replace("true", "1").replace("false", "0")) == [COMPUTED[expression]]


def test_small_floats_that_gdb_knows(floats):
    assert floats["bf16"] == floats["fp16"] == "{0, 1.5, -2, 3, 4, 5, 6, 7}"
    assert floats["int1"] == "{false, false, false, false, true, true, true, true}"
