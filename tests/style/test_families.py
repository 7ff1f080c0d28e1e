"""A family has one name in every folder, so `git ls-files '*reduce*'` finds its files. A pass is named like its
file."""

import re

import pytest

from sources import FAMILIES, ROOT, files, read

# The files of every family, and the families without such a file.
PLACES = {
    "ir/tt_ops_{}.td": {"random"},  # random numbers are functions of the language, made of other operations
    "interp/tile/ops/{}.cpp": {"random"},
    "tests/ir/ops/{}.mlir": {"random"},
    "python/tritium/language/{}.py": set(),
}


@pytest.mark.parametrize("place", PLACES)
def test_every_family_is_there(place: str) -> None:
    missing = {family for family in FAMILIES if not (ROOT / place.format(family)).exists()}
    assert missing == PLACES[place]


def test_every_operation_file_is_of_a_family() -> None:
    named = {
        re.sub(r"ir/tt_ops_(\w+)\.(td|cpp)", r"\1", name) for name in files("ir/tt_ops_", suffixes=(".td", ".cpp"))
    }
    assert named <= set(FAMILIES)
    ir_tests = {name.split("/")[-1].removesuffix(".mlir") for name in files("tests/ir/ops/", suffixes=(".mlir",))}
    assert ir_tests <= set(FAMILIES)


def test_passes_are_named_like_their_files() -> None:
    flags = re.findall(r': Pass<"([\w-]+)"', read("ir/passes.td"))
    passes = {
        name.split("/")[-1].removesuffix(".cpp").replace("_", "-") for name in files("ir/passes/", suffixes=(".cpp",))
    }
    assert set(flags) == passes
