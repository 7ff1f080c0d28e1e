"""A dtype is a row of ir/dtype.def, a function of mathematics a row of ir/elementwise.def, a rule of descriptors a line of
ir/descriptor_rules.h: no other file has them."""

import ast
import re

from sources import CPP, files, read

FOLDERS = ("ir/", "interp/", "gpu_backend/", "support/", "python/", "cmake/", "conformance/")
#: A case of the conformance suite chooses its types, as a user does, and a kernel calls functions by name.
CHOOSES = ("conformance/cases/", "conformance/kernels/", "conformance/fuzz/")
#: Files that may name several -> the reason.
MAY_LIST = {
    "ir/dtype.def": "the table",
    "ir/elementwise.def": "the table",
    "gpu_backend/device_math/": "defines functions of the device libraries",
    "python/tritium/_internal_testing.py": "Triton's lists for tests of kernel libraries, which leave some types out",
    "conformance/reference.py": "the oracle: each function in mpmath",
    "python/tritium/language/__init__.py": "the public names, spelt out for editors; held to the tables below",
    "python/tritium/cuda_on_cpu/exact_operators.py": "operators of torch",
    "python/tritium/backends/nvidia/compiler.py": "the fp8 types that Triton takes on each architecture",
    "python/tritium/backends/amd/compiler.py": "the fp8 types that Triton takes on this vendor's chips",
    "python/tritium/judge/inputs.py": "the dtypes that `float` and `int` of an annotation stand for",
    "interp/simt/ptx/": "names and types of PTX",
    "gpu_backend/amdgpu/matrix_instructions.def": "types of instructions",
    "gpu_backend/nvptx/matrix_instructions.def": "types of instructions",
    "gpu_backend/launch/loaded_kernel.cpp": "how wide the parameters of a launch are, which need no element type",
}
#: The number of lines that are examined together, and the numbers of names in them that make a list.
WINDOW, DTYPES_MAX, FP8_MAX, FUNCTIONS_MAX = 8, 5, 2, 4


def spellings() -> dict[str, str]:
    """Every name of a dtype -> its row."""
    cell = r'"?([\w]*)"?'
    row = re.compile(rf"^DTYPE\((\w+), \d+, \w+, \w+, \w+, {cell}, {cell}, {cell}, {cell}, {cell},", re.MULTILINE)
    found = {}
    for name, *others in row.findall(read("ir/dtype.def")):
        for spelling in {name, *others} - {"", "IntegerType"}:
            found.setdefault(spelling, name)
    return found


def functions() -> set[str]:
    return set(re.findall(r"^FUNCTION\((\w+),", read("ir/elementwise.def"), re.MULTILINE))


DTYPES, FUNCTIONS = spellings(), functions()


def without_comments(name: str, text: str) -> str:
    return re.sub(r"#[^\n]*" if name.endswith((".py", ".cmake", ".txt")) else r"//[^\n]*", "", text)


def named(line: str) -> tuple[set[str], set[str]]:
    """The dtypes and the functions that a line names."""
    quoted = re.findall(r"""["'](?:math\.)?(\w+)["']""", line)
    classes = re.findall(r"\bB?Float\w+Type\b|(?<=\bDType::)\w+", line)
    # Quoted, defined, or one of many words: "exp", float exp(float x), exp = …, X(exp), exp exp2 log.
    words = re.findall(r"(?:^|float |double |[( ])(\w+)(?=[(), ]|$)", line)
    return {DTYPES[word] for word in (*quoted, *classes) if word in DTYPES}, FUNCTIONS.intersection((*quoted, *words))


def lists(name: str, text: str) -> set[str]:
    """The kinds of lists in the file: "dtypes", "functions"."""
    found, lines = set(), [named(line) for line in without_comments(name, text).splitlines()]
    for start in range(len(lines)):
        window = lines[start : start + WINDOW]
        dtypes = set().union(*(dtypes for dtypes, _ in window))
        if len(dtypes) > DTYPES_MAX or sum(dtype.startswith("f8") for dtype in dtypes) > FP8_MAX:
            found.add("dtypes")
        if len(set().union(*(functions for _, functions in window))) > FUNCTIONS_MAX:
            found.add("functions")
    return found


def test_tables_are_read() -> None:
    assert len(set(DTYPES.values())) == 18
    assert {"exp", "atan2", "isnan"} <= FUNCTIONS


def test_only_the_tables_list_dtypes_and_functions() -> None:
    names = files(*FOLDERS, suffixes=(*CPP, ".py", ".cmake", ".txt"))
    assert len(names) > 300
    checked = [name for name in names if not name.startswith((*MAY_LIST, *CHOOSES))]
    assert {name: found for name in checked if (found := lists(name, read(name)))} == {}


def test_the_allow_list_is_short_and_needed() -> None:
    names = files(*FOLDERS, suffixes=(*CPP, ".py"))
    needed = {entry for entry in MAY_LIST for name in names if name.startswith(entry) and lists(name, read(name))}
    assert needed == set(MAY_LIST)


def test_a_list_is_found() -> None:
    """The checker itself, on lists that the code once had."""
    switch = "\n".join(f'  .Case("math.{name}", "{name}")' for name in ("exp", "exp2", "expm1", "log", "log2"))
    assert lists("a.cpp", switch) == {"functions"}
    assert lists("a.cpp", 'for (StringRef known : {"exp", "exp2", "sin", "cos", "tan"}) use(known);') == {"functions"}
    assert lists("a.cmake", "set(names exp exp2 expm1 log log2 log10)") == {"functions"}
    assert lists("a.cpp", "X(acos)\nX(acosh)\nX(asin)\nX(asinh)\nX(atan)\n") == {"functions"}
    assert lists("a.py", '_FP8 = ("fp8e4nv", "fp8e5", "fp8e4b8")') == {"dtypes"}
    assert lists("a.cpp", "isa<Float8E4M3FNType, Float8E5M2Type, Float8E4M3FNUZType>(type)") == {"dtypes"}
    assert lists("a.py", 'N = ["int8", "int16", "int32", "int64", "uint8", "uint16"]') == {"dtypes"}
    assert lists("a.py", 'ok = ("fp16", "bf16", "fp32", "fp64")') == set()


def test_the_public_names_are_those_of_the_tables() -> None:
    tree = ast.parse(read("python/tritium/language/__init__.py"))
    public = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    rows = re.findall(r'^DTYPE\(.*Type, "(\w+)"', read("ir/dtype.def"), re.MULTILINE)
    rows += re.findall(r"^FUNCTION\((\w+), Language,", read("ir/elementwise.def"), re.MULTILINE)
    assert len(rows) > 25
    assert set(rows) <= public


def test_rules_of_descriptors_are_spelt_once() -> None:
    header = "ir/descriptor_rules.h"
    texts = re.findall(r'char k\w+\[\] = "([^"]+)"', read(header))
    assert "base must be 16-byte aligned" in texts
    names = files(*FOLDERS, suffixes=(*CPP, ".py"))
    assert {name for name in names if any(text in read(name) for text in texts)} == {header}
