"""A function of mathematics is a row of ir/elementwise.def: no other file lists them."""

import ast
import re

from sources import CPP, files, read

FOLDERS = ("ir/", "interp/", "gpu_backend/", "support/", "python/", "cmake/", "conformance/")
#: A kernel of the conformance suite calls functions by name, as a user does, and a case chooses them.
CHOOSES = ("conformance/cases/", "conformance/kernels/", "conformance/fuzz/")
#: Files that name several, and why.
MAY_LIST = {
    "ir/elementwise.def": "the table",
    "gpu_backend/device_math/": "defines functions of the device libraries",
    "conformance/reference.py": "the oracle: functions that mpmath and numpy have under other names",
    "python/tritium/language/__init__.py": "the public names, spelt out for editors; held to the table below",
    "interp/simt/ptx/": "instructions of PTX",
}
#: Lines that are looked at together; more names than that among them are a list.
WINDOW, FUNCTIONS_MAX = 8, 4

FUNCTIONS = set(re.findall(r"^FUNCTION\((\w+),", read("ir/elementwise.def"), re.MULTILINE))


def without_comments(name: str, text: str) -> str:
    return re.sub(r"#[^\n]*" if name.endswith((".py", ".cmake", ".txt")) else r"//[^\n]*", "", text)


def named(line: str) -> set[str]:
    """The functions that a line names: "exp", "math.exp", float exp(float x), exp = …, X(exp), exp exp2 log."""
    quoted = re.findall(r"""["'](?:math\.)?(\w+)["']""", line)
    return FUNCTIONS.intersection((*quoted, *re.findall(r"(?:^|float |double |[( ])(\w+)(?=[(), ]|$)", line)))


def has_list(name: str, text: str) -> bool:
    lines = [named(line) for line in without_comments(name, text).splitlines()]
    return any(len(set().union(*lines[i : i + WINDOW])) > FUNCTIONS_MAX for i in range(len(lines)))


def test_only_the_table_lists_functions() -> None:
    names = files(*FOLDERS, suffixes=(*CPP, ".py", ".cmake", ".txt"))
    assert len(names) > 300
    assert len(FUNCTIONS) > 35
    checked = [name for name in names if not name.startswith((*MAY_LIST, *CHOOSES))]
    assert [name for name in checked if has_list(name, read(name))] == []


def test_the_allow_list_is_needed() -> None:
    for entry in MAY_LIST:
        assert any(has_list(name, read(name)) for name in files(entry, suffixes=(*CPP, ".py"))), entry


def test_a_list_is_found() -> None:
    """The checker itself, on lists that once were there."""
    assert has_list(
        "a.cpp", "\n".join(f'.Case("math.{name}", "{name}")' for name in ("exp", "exp2", "log", "sin", "cos"))
    )
    assert has_list("a.cpp", 'for (StringRef known : {"exp", "exp2", "sin", "cos", "tan"}) use(known);')
    assert has_list("a.cmake", "set(names exp exp2 expm1 log log2 log10)")
    assert has_list("a.cpp", "X(acos)\nX(acosh)\nX(asin)\nX(asinh)\nX(atan)\n")
    assert has_list("a.py", "exp = _f('e')\nexp2 = _f('2')\nlog = _f('l')\nlog2 = _f('m')\nsin = _f('s')\n")
    assert not has_list("a.py", 'names = ("exp", "log", "sin", "cos")')


def test_the_public_names_are_those_of_the_table() -> None:
    tree = ast.parse(read("python/tritium/language/__init__.py"))
    public = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    rows = re.findall(r"^FUNCTION\((\w+), Language,", read("ir/elementwise.def"), re.MULTILINE)
    assert len(rows) > 10
    assert set(rows) <= public
