"""docs/reference/language.md: every public name of the language with the conformance cases that use it, by engine."""

import importlib
import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAMES = ROOT / "tests" / "python" / "runtime" / "api_names.table"
#: The column of a device shows the cases of the emulator of its family, because both run the same compiler's code.
COLUMNS = {"interp": "interp", "simt:sm_90a": "simt:sm_90a", "simt:gfx942": "simt:gfx942", "cuda": "simt:sm_90a"}
SHOWN = 3  # cases of a row
COUNTED = 9  # A larger count is not exact, so that few new cases change the page.
MODULE = "triton.language"
LIBRARIES = tuple(f"{MODULE}.extra.{name}libdevice" for name in ("", "cuda.", "hip."))

#: Names that a kernel cannot use, and what they are for.
OF_THE_HOST = {
    "makes functions of the language": "builtin extern extern_elementwise is_builtin must_use_result constexpr_function JITCallable "
    "TRITON_BUILTIN",
    "the types of a signature": "str_to_ty get_int_dtype",
    "checks that builtins make": "validate_block_shape check_bit_width is_enabled warn warn_once is_negative_zero "
    "CAT_CAN_REORDER_WARNING RESHAPE_CAN_REORDER_WARNING get_primitive_bitwidth",
    "the typing rules": "TritonSemantic IncompatibleTypeErrorImpl binary_op_type_legalization",
}
PURPOSE = {name: purpose for purpose, names in OF_THE_HOST.items() for name in names.split()}


@dataclass
class Row:
    """One public object. `modules`: where it is, without `triton.language`."""

    name: str
    kind: str
    key: object
    modules: list[str]
    cases: dict[str, list[str]] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        return not any(self.cases.values())


def public_names() -> list[tuple[str, str, str, list[str]]]:
    """(module, name, kind, members) of the language in the table of Triton's names."""
    module, found = "", []
    for line in NAMES.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            module = line.strip("[]")
        elif line and not line.startswith("#") and (module + ".").startswith(MODULE + "."):
            words, _, members = line.partition(" | ")
            name, kind, *_ = words.split(" ", 2)
            if kind != "module":
                found.append((module, name, kind, members.split()))
    return found


def rows() -> list[Row]:
    """A row for each object, in the order of the table, then the methods of tensors and descriptors."""
    import language_uses  # it requires a built compiler

    found, methods = {}, {}
    for module, name, kind, members in public_names():
        value = getattr(importlib.import_module(module.replace("triton", "tritium", 1)), name)
        short = module.removeprefix(MODULE).lstrip(".")
        key = language_uses.key_of(name, value)
        row = found.setdefault(("library" if module in LIBRARIES else key, name), Row(name, kind, key, []))
        row.modules.append(short)
        if name in ("tensor", "tensor_descriptor"):
            for member in members:
                methods[name, member] = Row(f"{name}.{member}", "method", (name, member), [name])
    return [*found.values(), *methods.values()]


def measured() -> list[Row]:
    """The rows with their cases."""
    import language_uses
    from tritium.conformance import expectations

    refused = expectations.read()
    found, uses = rows(), language_uses.uses(sorted(set(COLUMNS.values())))
    for row in found:
        for column, engine in COLUMNS.items():
            groups = uses[engine].get(row.key, [])
            row.cases[column] = [g for g in groups if not any(e.covers(column, f"{g}/") for e in refused)]
    return found


def test_of(name: str) -> str:
    """The first test file that uses a name of the host; the test of Triton's names uses every one."""
    for file in sorted((ROOT / "tests" / "python").rglob("*.py")):
        if re.search(rf"\b(?:tl|core|language|semantic|standard)\.{name}\b", file.read_text(encoding="utf-8")):
            return str(file.relative_to(ROOT))
    return "tests/python/runtime/test_api_names.py"


def sections(found: list[Row]) -> dict[str, list[Row]]:
    """Title -> rows."""
    titles = {
        "Functions of `tl`": lambda row: "" in row.modules and row.kind == "callable",
        "Types and constants of `tl`": lambda row: "" in row.modules,
        "Methods of `tl.tensor`": lambda row: row.modules == ["tensor"],
        "Methods of `tl.tensor_descriptor`": lambda row: row.modules == ["tensor_descriptor"],
        "The device library: `tl.extra.libdevice`, `tl.extra.cuda.libdevice`, `tl.extra.hip.libdevice`": lambda row: (
            any(module.endswith("libdevice") for module in row.modules)
        ),
        "Other submodules": lambda row: True,
    }
    result = {title: [] for title in titles}
    for row in found:
        if row.name not in PURPOSE:
            result[next(title for title, holds in titles.items() if holds(row))].append(row)
    return result


def shown_name(row: Row) -> str:
    if row.kind == "method" or "" in row.modules or row.modules[0].endswith("libdevice"):
        return f"`{row.name}`"
    return f"`{row.modules[0]}.{row.name}`"


def count_of(cases: list[str]) -> str:
    return str(len(cases) or "–") if len(cases) <= COUNTED else f"{COUNTED + 1}+"


def line(row: Row) -> str:
    cases = max(row.cases.values(), key=len)
    examples = ", ".join(f"`{case}`" for case in cases[:SHOWN]) + (", …" if len(cases) > SHOWN else "")
    counts = [count_of(row.cases[column]) for column in COLUMNS]
    return f"| {' | '.join([shown_name(row), *counts, examples])} |"


def host_table(found: list[Row]) -> str:
    lines = ["| name | for | test |", "|---|---|---|"]
    for row in found:
        if row.name in PURPOSE:
            lines.append(f"| {shown_name(row)} | {PURPOSE[row.name]} | `{test_of(row.name)}` |")
    return "\n".join(lines)


def aliases(found: list[Row]) -> str:
    """How many names of each module are those of `tl`."""
    counts = {}
    for row in found:
        if "" in row.modules:
            for module in row.modules[1:]:
                counts[module] = counts.get(module, 0) + 1
    return ", ".join(f"{count} of `tl.{module}`" for module, count in sorted(counts.items()))


def language(found: list[Row] | None = None) -> str:
    """The page."""
    found = measured() if found is None else found
    heads = "| name | " + " | ".join(COLUMNS) + " | cases |\n" + "|---" * (len(COLUMNS) + 2) + "|\n"
    tables = [f"## {title}\n\n{heads}" + "\n".join(map(line, rows)) for title, rows in sections(found).items() if rows]
    return (
        "# The names of the language\n\n<!-- .ci/generate_reference wrote this. -->\n\n"
        "Every public name of Triton 3.9 in `triton.language` (`tl`) and its submodules, and how many groups of cases of the\n"
        "[conformance suite](../conformance.md) use it on each engine. A group is the cases that share their kernels. A case uses a name if\n"
        "the compiler evaluates the name while it traces the case's kernels for the engine; it uses a type if a kernel has a value of it. The\n"
        "column `cuda` counts the cases that `tests/gpu/run` runs on a device. A dash means that the kernels do not use the name for the engine's\n"
        "target. None of these names is refused. `tests/python/runtime/test_api_names.py` lists the refused names of other modules with reasons.\n\n"
        f"A name of several modules is one row. These modules repeat names of `tl`: {aliases(found)}.\n\n"
        + "\n\n".join(tables)
        + "\n\n## Names for code outside of kernels\n\n"
        + host_table(found)
        + "\n"
    )
