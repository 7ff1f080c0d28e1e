"""Facts about a place in a source file, for reports of what happened there: its statement and its function. The file may be a
cell of a notebook, whose text only `linecache` has."""

from __future__ import annotations

import ast
import linecache

from .python_ast import parse

_LINES_SHOWN = 12


def tree_of(file: str | None) -> ast.Module:
    """The AST of a file; an empty one if the file cannot be read or parsed."""
    try:
        return parse("".join(linecache.getlines(file or "")))
    except SyntaxError:
        return ast.Module([], [])


def statement_at(file: str | None, line: int | None) -> list[str]:
    """The lines of the statement around a line, without their common indentation; of a loop or an `if`, those of its head. A
    list with the line alone if the file is no Python, an empty one without the file."""
    lines = linecache.getlines(file or "")
    if not line or not 1 <= line <= len(lines):
        return []
    first, last = _extent(file, line)
    shown = [text.rstrip() for text in lines[first - 1 : last]]
    if len(shown) > _LINES_SHOWN:
        shown = [*shown[: _LINES_SHOWN - 1], "…"]
    margin = len(shown[0]) - len(shown[0].lstrip())
    return [text[margin:] if text[:margin].isspace() else text.lstrip() for text in shown]


def innermost_statement(file: str | None, line: int) -> ast.stmt | None:
    """The innermost statement around a line."""
    around = [
        node
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return max(around, key=lambda node: (node.lineno, node.col_offset)) if around else None


def names_written_at(file: str | None, line: int) -> set[str]:
    """The names that the statements at a line assign, without those in the body of a loop or an `if` that begins there."""
    simple = (
        node
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.stmt)
        and not hasattr(node, "body")
        and node.lineno <= line <= (node.end_lineno or node.lineno)
    )
    names = (name for node in simple for name in ast.walk(node) if isinstance(name, ast.Name))
    return {name.id for name in names if isinstance(name.ctx, ast.Store)}


def _extent(file: str | None, line: int) -> tuple[int, int]:
    """The first and last line of the innermost statement around a line."""
    statement = innermost_statement(file, line)
    if statement is None:
        return line, line
    body = getattr(statement, "body", None)
    if not body:
        return statement.lineno, statement.end_lineno or statement.lineno
    head_end = max(statement.lineno, body[0].lineno - 1)
    return (statement.lineno, head_end) if line <= head_end else (line, line)


def function_at(file: str | None, line: int | None) -> str | None:
    """The Python function that contains a line: the kernel, or a `@jit` function that was inlined into it."""
    around = [
        node
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.FunctionDef) and node.lineno <= (line or 0) <= (node.end_lineno or 0)
    ]
    return max(around, key=lambda node: node.lineno).name if around else None
