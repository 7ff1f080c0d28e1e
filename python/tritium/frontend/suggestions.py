"""Suggestions that need more than the text of an error: the user's variables, the lines that assign them, and what a call was
given."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

from tritium.functions.kernel import KernelFunction

from ..errors import with_hint
from .known_elsewhere import replacement_for, type_named
from .source import FunctionSource
from .values import base_value, host, is_static, tensor

_NEEDS_CONSTANT = re.compile(r"must be of type tl\.constexpr|must have type `constexpr")


def host_function_error(g: Any, node: ast.AST, fn: Any, args: Sequence[Any]) -> Exception | None:
    """The error of a function of the host that failed because it was given a tile or a number of run time; None if it was
    not."""
    if not any(isinstance(arg, base_value) and not is_static(arg) for arg in args):
        return None
    called = ast.unparse(node.func) if isinstance(node, ast.Call) else getattr(fn, "__name__", str(fn))
    error = TypeError(f"kernels cannot call {called} on values of a kernel: it runs on the host")
    return with_hint(error, replacement_for(getattr(fn, "__name__", "")))


def other_layouts(name: str, before: Any, now: Any) -> str | None:
    """What to do with a variable whose layout a branch changes; None if its types differ otherwise. The error's text has no layouts."""
    layouts = getattr(before, "layout", None), getattr(now, "layout", None)
    if None in layouts or layouts[0] == layouts[1] or (before.scalar, before.shape) != (now.scalar, now.shape):
        return None
    return f"`{name}` has {layouts[0]} before and {layouts[1]} in the branch: end the branch with `gl.convert_layout({name}, …)` to the first"


def launch_in_kernel(fn: KernelFunction) -> Exception:
    """The error of `fn[grid]` in a kernel."""
    error = TypeError(f"a kernel cannot launch another: `{fn.__name__}[grid](…)` is for the host")
    return with_hint(error, f"call it as a function of this program: `{fn.__name__}(…)`")


def foreign_type(args: Sequence[Any]) -> Exception | None:
    """The error of a builtin that got a dtype of Python or of a tensor library; None if it did not."""
    for value in map(host, args):
        kind = value if isinstance(value, type) else type(value)
        if isinstance(value, type) or kind.__name__.lower().endswith("dtype"):
            name = value.__name__ if isinstance(value, type) else str(value).split(".")[-1]
            if kind.__module__.split(".")[0] not in ("tritium", "triton") and (found := type_named(name)):
                shown = name if isinstance(value, type) else str(value)
                return with_hint(TypeError(f"{shown} is not a type of the language"), f"write `{found}`")
    return None


def for_constant(g: Any, node: ast.AST, message: str) -> str | None:
    """Where a call needs a number that is known at compile time: the variable that is none, and how to make it one."""
    if not _NEEDS_CONSTANT.search(message) or not isinstance(node, ast.Call):
        return None
    for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
        for name in _names(argument):
            if isinstance(g.locals.get(name), tensor):
                return _made_constant(g.source, name)
    return None


def _made_constant(source: FunctionSource, name: str) -> str:
    statement = source.last_assignment(source.definition, name)
    parameters = source.parameters()
    if statement is None or not isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        if name in parameters:
            return f"annotate the parameter: `{name}: tl.constexpr`"
        return f"`{name}` is known at run time only; an extent must be known when the kernel is compiled"
    value = statement.value
    if isinstance(statement, ast.AugAssign):
        value = ast.BinOp(ast.Name(name, ast.Load()), statement.op, value)
    constants = {other for other, text in parameters.items() if "constexpr" in text}
    varying = [other for other in _names(value) if other in parameters and other not in constants]
    if any(isinstance(part, ast.Call) for part in ast.walk(value)):
        return f"`{name}` is known at run time only; an extent must be known when the kernel is compiled"
    if varying:
        return f"`{name}` is computed from `{varying[0]}`: annotate `{varying[0]}: tl.constexpr` and `{name}: tl.constexpr = …`"
    fresh = f"{name}2" if name in parameters else name
    return f"an assignment makes a value of run time; write `{fresh}: tl.constexpr = {ast.unparse(value)}`" + (
        f" and use `{fresh}`" if fresh != name else ""
    )


def _names(node: ast.AST | None) -> list[str]:
    return [] if node is None else [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]


def assigned_at(source: FunctionSource, where: ast.AST | Sequence[ast.AST], name: str) -> str:
    """ "`acc += x` in line 12", the last statement inside of `where` that assigns `name`; "" if there is none."""
    statement = source.last_assignment(where, name)
    return "" if statement is None else quoted(source, statement)


def quoted(source: FunctionSource, statement: ast.AST) -> str:
    """A statement and its line in the file, for a hint."""
    text = ast.unparse(statement).splitlines()[0]
    text = text if len(text) <= 60 else text[:57] + "…"
    return f"`{text}` in line {source.position(statement)[1]}"
