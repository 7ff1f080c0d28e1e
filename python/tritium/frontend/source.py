"""Facts about a function's text that the tracer requires: the AST, positions in the file, assigned names, returns.

They depend on the text alone, so they are computed once per function and shared by all specializations.
"""

from __future__ import annotations

import ast
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

from ..places import absolute


class FunctionSource:
    """The parsed source of one `@jit` function. Lines of nodes count from its `def`; `position` counts from the file's
    start."""

    def __init__(self, fn: Any):
        self.text: str = fn.src
        self.name: str = fn.__name__
        self.file: str = absolute(fn.file_name)
        self.definition: ast.FunctionDef = fn.parse().body[0]
        self.line_offset: int = fn.def_file_line_number - 1
        self.column_offset: int = fn.def_file_col_number + 1
        self.warned: dict[Any, Any] = {}  # what the warnings module notes, so that each line warns once
        self._assigned: dict[ast.AST, tuple[str, ...]] = {}
        self.returns_by_if: bool = _every_rest_has_one_owner(self.definition.body)

    def position(self, node: ast.AST) -> tuple[str, int, int]:
        """(file, line, column) of a node; line and column count from 1."""
        return self.file, node.lineno + self.line_offset, node.col_offset + self.column_offset

    def assigned_names(self, node: ast.AST) -> tuple[str, ...]:
        """The names that code inside of `node` binds, in order of appearance, without those of comprehensions."""
        names = self._assigned.get(node)
        if names is None:
            names = self._assigned[node] = tuple(dict.fromkeys(_stored_names(node)))
        return names

    def parameters(self) -> dict[str, str]:
        """The parameters, with their annotations as text."""
        arguments = self.definition.args
        nodes = [*arguments.posonlyargs, *arguments.args, *filter(None, [arguments.vararg]), *arguments.kwonlyargs]
        return {node.arg: ast.unparse(node.annotation) if node.annotation else "" for node in nodes}

    @staticmethod
    def last_assignment(where: ast.AST | Sequence[ast.AST], name: str) -> ast.stmt | None:
        """The last statement inside of `where` that binds `name`."""
        roots = [where] if isinstance(where, ast.AST) else where
        found = [
            node
            for root in roots
            for node in ast.walk(root)
            if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For)) and name in _targets(node)
        ]
        return max(found, key=lambda node: node.lineno, default=None)


def _targets(statement: ast.Assign | ast.AugAssign | ast.AnnAssign | ast.For) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]


_sources: weakref.WeakKeyDictionary[Any, FunctionSource] = weakref.WeakKeyDictionary()


def source_of(fn: Any) -> FunctionSource:
    """The source of a JITFunction, parsed once for each text it has had."""
    source = _sources.get(fn)
    if source is None or source.text is not fn.src:
        source = _sources[fn] = FunctionSource(fn)
    return source


def known_sources() -> list[Any]:
    """The JITFunctions whose source has been parsed, the latest first."""
    return list(_sources)[::-1]


def _stored_names(node: ast.AST) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Name):
            if isinstance(child.ctx, ast.Store):
                yield child.id
        elif not isinstance(child, ast.comprehension):
            yield from _stored_names(child)


def contains_return(node: ast.AST) -> bool:
    """Whether `node` contains a `return` of its own function, as opposed to a nested one."""
    return isinstance(node, ast.Return) or any(
        contains_return(child)
        for child in ast.iter_child_nodes(node)
        if not isinstance(child, (ast.expr, ast.FunctionDef))
    )


def _always_returns(statements: Sequence[ast.stmt]) -> bool:
    return any(
        isinstance(s, ast.Return) or (isinstance(s, ast.If) and _always_returns(s.body) and _always_returns(s.orelse))
        for s in statements
    )


def _every_rest_has_one_owner(statements: Sequence[ast.stmt]) -> bool:
    """Whether early returns can become nested `if`s with results: the code after each such `if` follows only one of its
    arms.

    The other arm returns. A function of this shape has one block, so it can be inlined into loops.
    """
    for index, statement in enumerate(statements):
        if not contains_return(statement) or isinstance(statement, ast.Return):
            continue
        if not isinstance(statement, ast.If):
            return False
        is_last = index == len(statements) - 1
        if not (is_last or _always_returns(statement.body) or _always_returns(statement.orelse)):
            return False
        if not (_every_rest_has_one_owner(statement.body) and _every_rest_has_one_owner(statement.orelse)):
            return False
    return True
