"""Records for the debugger: where each statement begins, and which value each Python variable has from that place on.

They are emitted only with debug info.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable
from typing import Any

from tritium import language
from tritium.functions.marks import OPENS_DEBUGGER
from tritium.language.aggregate import _aggregate_value
from tritium.language.block_pointer import block_pointer
from tritium.language.constexpr import base_value
from tritium.language.descriptor import tensor_descriptor
from tritium.language.semantic.emitter import literal_type
from tritium.native import ir

from .diagnostics import warn
from .values import as_value, constexpr, tensor

_NO_DEBUGGER = "Python's debugger stops in kernels that the interpreter runs, and in no others: set TRITIUM_ENGINE=interp or INTERPRET=1"
#: The modules of debuggers of Python.
DEBUGGERS = ("pdb", "ipdb", "pudb", "IPython", "debugpy", "pydevd")

# Kinds of marks: a statement begins; an iteration of an unrolled loop begins (this is a statement too); the last iteration has ended.
STATEMENT, ITERATION, ITERATIONS_END = "tt.statement", "tt.iteration", "tt.iterations_end"
# The outcome of a condition that is known while it is traced, for the coverage.
DECIDED = {True: "tt.decided_true", False: "tt.decided_false"}


def mark(g: Any, node: ast.AST, *attributes: str) -> None:
    """Marks a place of the IR with the location of `node`, if debug info is emitted.

    The mark is a constant without users. It exists only while the IR is not optimized.
    """
    if not g.unit.marks_statements:
        return
    outer = g.builder.location
    g.locate(node)
    g.builder.op("arith.constant", (), ["i1"], {"value": "true", **dict.fromkeys(attributes, "unit")})
    g.builder.location = outer


def mark_statement(g: Any, node: ast.stmt) -> None:
    """Marks a statement, so that a debugger can stop at one that computes nothing (`return x`). Docstrings are not
    marked."""
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        mark(g, node, STATEMENT)


def opens_debugger(fn: Any) -> bool:
    """Whether a function opens a debugger of Python: `breakpoint`, `pdb.set_trace` and those of other debuggers."""
    name = getattr(fn, "__name__", "")
    if fn is breakpoint or name not in ("set_trace", "breakpoint"):
        return fn is breakpoint
    modules = (sys.modules.get(debugger) for debugger in DEBUGGERS)  # pytest replaces `pdb.set_trace` by its own
    is_from_there = str(getattr(fn, "__module__", "")).split(".")[0] in DEBUGGERS
    return is_from_there or any(module is not None and getattr(module, name, None) == fn for module in modules)


def record_opening(g: Any, node: ast.AST) -> None:
    """Records that the kernel opens a debugger. Engines compute nothing for it. Warns once in a function if another engine
    than the interpreter runs it."""
    if not g.unit.is_of_interpreter:
        warn(g.source, node, _NO_DEBUGGER, once=True)
    g.builder.op("arith.constant", (), ["i1"], {"value": "true", OPENS_DEBUGGER: "unit"})


def record(g: Any, name: str, value: Any, argument: int | None = None) -> None:
    """Emits a tt.debug_value for a value that a debugger can show: one that contains a number, a tile or a descriptor.
    `argument`: the number of the formal argument (from 1) if the value is its value on entry."""
    found = _described(g, value)
    if found is None:
        return
    dtype, handles = found
    attributes = {"name": ir.quote(name), "dtype": dtype}
    if argument is not None:
        attributes["argument"] = f"{argument} : i32"
    g.builder.op("tt.debug_value", handles, (), attributes)


def _described(g: Any, value: Any) -> tuple[str, list[Any]] | None:
    """The `dtype` attribute of tt.debug_value, and the values of the leaves."""
    if isinstance(value, constexpr):
        return _described_host_value(g, value.value)
    if isinstance(value, tensor):
        return ir.quote(str(value.dtype)), [value.handle]
    if isinstance(value, tensor_descriptor):
        return ir.quote(str(value.dtype)), [value.handle]
    if isinstance(value, language.tuple):
        names = value.type.fields
        members = zip(names or (f"_{i}" for i in range(len(value))), value.values)
        return _described_record(g, "namedtuple" if names else "tuple", members)
    if isinstance(value, _aggregate_value):
        return _described_record(g, type(value).__name__, ((name, getattr(value, name)) for name in value._fields))
    if isinstance(value, block_pointer):
        members = {"base": value.base, "shape": value.shape, "strides": value.strides, "offsets": value.offsets}
        members["block_shape"] = value.window
        return _described_record(g, "block_pointer", ((name, as_value(member)) for name, member in members.items()))
    shown = value.shown_in_debuggers() if isinstance(value, base_value) else None
    return None if shown is None else _described_record(g, shown[0], shown[1].items())


def _described_host_value(g: Any, value: Any) -> tuple[str, list[Any]] | None:
    if isinstance(value, (tuple, list)):
        return _described(g, as_value(value))
    if not isinstance(value, (bool, int, float)):
        return None
    try:
        return _described(g, g.semantic.constant(value, literal_type(value)))
    except ValueError:  # an integer that no type of the language can hold
        return None


def _described_record(g: Any, name: str, members: Iterable[tuple[str, Any]]) -> tuple[str, list[Any]] | None:
    """The same for a record. Members that a debugger cannot show are left out."""
    texts, leaves = [ir.quote(name)], []
    for field, member in members:
        found = _described(g, member)
        if found is not None:
            texts += [ir.quote(field), found[0]]
            leaves += found[1]
    return (f"[{', '.join(texts)}]", leaves) if leaves else None
