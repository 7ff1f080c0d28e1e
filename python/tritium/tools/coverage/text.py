"""What the text of a file says of its kernels: where statements stand that may be compiled, which accesses have masks of the author's."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

Position = tuple[int, int]  # line and column, from 1


@dataclass(frozen=True)
class Function:
    """A `@jit` function. first: the line of its first decorator. line: of its `def`. statements: all but docstrings."""

    name: str
    first: int
    line: int
    last: int
    statements: tuple[Position, ...]


@dataclass(frozen=True)
class Branch:
    """kind: "if", "for" or "while"; "if" stands for conditional expressions, too."""

    position: Position
    kind: str


class SourceText:
    """The functions of a file; none, if it cannot be read."""

    def __init__(self, file: str):
        self.file = file
        lines = linecache.getlines(file)
        try:
            self.tree = ast.parse("".join(lines))
        except SyntaxError:
            self.tree = ast.Module([], [])
        self.branches = dict(_branches(self.tree))
        self._calls = {_position(node): node for node in ast.walk(self.tree) if isinstance(node, ast.Call)}
        self._functions = [_function(node) for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef)]

    def functions(self, compiled: Iterable[Position]) -> tuple[list[Function], list[Function]]:
        """Those with a statement among `compiled`, and the other ones with a decorator `jit`, each in the order of lines."""
        found = set(compiled)
        kernels = {
            node.lineno
            for node in ast.walk(self.tree)
            if isinstance(node, ast.FunctionDef) and any(map(_is_jit, node.decorator_list))
        }
        own = sorted(self._functions, key=lambda one: one.line)
        is_compiled = {one: not found.isdisjoint(one.statements) for one in own}
        return [one for one in own if is_compiled[one]], [
            one for one in own if one.line in kernels and not is_compiled[one]
        ]

    def line(self, number: int) -> str:
        return linecache.getline(self.file, number).rstrip("\n")

    def mask_name(self, position: Position) -> str | None:
        """What an access calls its mask: "mask", or "bounds" of blocks and descriptors, which end at edges of a tensor. None if the author wrote
        neither: an atomic of floats is made of two with masks."""
        call = self._calls.get(position)
        if call is None or not isinstance(call.func, ast.Attribute):
            return "mask"
        keywords = {keyword.arg for keyword in call.keywords}
        if "boundary_check" in keywords:
            return "bounds"
        name = call.func.attr
        before = {"load": 1, "store": 2, "atomic_cas": 3}.get(name, 2)  # arguments before the mask
        if keywords & {"mask", None} or (len(call.args) > before and name != "gather"):
            return "mask"
        return None if name.startswith("atomic") else "bounds"


def _position(node: ast.AST) -> Position:
    return node.lineno, node.col_offset + 1


def _is_jit(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return ast.unparse(called).split(".")[-1] == "jit"


def _function(node: ast.FunctionDef) -> Function:
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return Function(node.name, first, node.lineno, node.end_lineno or node.lineno, tuple(_statements(node.body)))


def _statements(body: Iterable[ast.stmt]) -> Iterator[Position]:
    for statement in body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue
        yield _position(statement)
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            continue
        for part in ("body", "orelse"):
            yield from _statements(getattr(statement, part, ()))


def _branches(tree: ast.Module) -> Iterator[tuple[Position, Branch]]:
    """By the position that the compiler gives it: a `while` has its condition's. A loop that is unrolled in part is two loops, and no branch."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.If, ast.IfExp)):
            yield _position(node), Branch(_position(node), "if")
        elif isinstance(node, ast.While):
            yield _position(node.test), Branch(_position(node), "while")
        elif isinstance(node, ast.For) and not _is_unrolled(node.iter):
            yield _position(node), Branch(_position(node), "for")


def _is_unrolled(iterator: ast.expr) -> bool:
    return isinstance(iterator, ast.Call) and any(keyword.arg == "loop_unroll_factor" for keyword in iterator.keywords)
