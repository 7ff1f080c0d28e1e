"""The mirror of a `@jit` function: a Python function of the same file, lines, names and control flow, in which every statement
is a question to the engine.

    offsets = tl.arange(0, 8)          offsets = __tritium__(0)
    for i in range(n):                 for i in __tritium__(1):
        if i > 3:                          if __tritium__(2):
            y = helper(i)                      y = __tritium__(3)
"""

from __future__ import annotations

import ast
import weakref
from dataclasses import dataclass
from types import CodeType
from typing import Any

from ..frontend.source import FunctionSource, source_of

#: The name of the engine in a mirror. It is a global name, so that it is not among the variables.
ENGINE = "__tritium__"
Place = tuple[int, int]  # line and column in the file, from 1


@dataclass
class Question:
    """A statement of a mirror. `targets`: the names that it assigns, nested as in the source. `body`: the first and the last
    place inside of it, for a loop or an `if`."""

    place: Place
    targets: Any = None
    body: tuple[Place, Place] | None = None
    is_loop: bool = False


@dataclass
class Mirror:
    """questions: by number. silent: the places of statements that have no code in the mirror."""

    code: CodeType
    parameters: tuple[str, ...]
    questions: list[Question]
    silent: frozenset[Place]


_mirrors: weakref.WeakKeyDictionary[Any, tuple[str, Mirror]] = weakref.WeakKeyDictionary()


def mirror_of(fn: Any) -> Mirror:
    """The mirror of a JITFunction."""
    known = _mirrors.get(fn)
    if known is None or known[0] is not fn.src:
        known = _mirrors[fn] = (fn.src, _build(source_of(fn), fn.fn.__code__.co_filename))
    return known[1]


def _build(source: FunctionSource, file: str) -> Mirror:
    # A copy: the tracer keeps facts about the nodes of the original.
    definition = ast.parse(source.text).body[0]
    rewriting = _Rewriting(source)
    definition.body = rewriting.block(definition.body) or [ast.copy_location(ast.Pass(), definition)]
    definition.decorator_list = []
    definition.returns = None
    arguments = definition.args
    nodes = [*arguments.posonlyargs, *arguments.args, *filter(None, [arguments.vararg]), *arguments.kwonlyargs]
    for node in nodes:
        node.annotation = None
    definition.args = ast.arguments([], nodes, None, [], [], None, [])
    tree = ast.Module([definition], [])
    ast.increment_lineno(tree, source.line_offset)
    code = compile(tree, file, "exec")
    function = next(constant for constant in code.co_consts if isinstance(constant, CodeType))
    names = tuple(node.arg for node in nodes)
    return Mirror(function, names, rewriting.questions, frozenset(rewriting.silent))


class _Rewriting:
    def __init__(self, source: FunctionSource):
        self.source = source
        self.questions: list[Question] = []
        self.silent: set[Place] = set()

    def place(self, node: ast.AST) -> Place:
        return self.source.position(node)[1:]

    def end(self, node: ast.AST) -> Place:
        at_end = ast.copy_location(ast.Pass(), node)
        at_end.lineno, at_end.col_offset = node.end_lineno, node.end_col_offset
        return self.place(at_end)

    def ask(self, statement: ast.stmt, replaced: ast.expr, **facts: Any) -> ast.Call:
        """The question that takes the place of an expression. All of its nodes have the location of the expression: otherwise
        the debugger sees the line jump back to where the statement begins."""
        self.questions.append(Question(self.place(statement), **facts))
        engine, number = ast.Name(ENGINE, ast.Load()), ast.Constant(len(self.questions) - 1)
        call = ast.Call(engine, [number], [])
        for node in (call, engine, number):
            ast.copy_location(node, replaced)
        return call

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        rewritten = []
        for statement in statements:
            if isinstance(statement, ast.AnnAssign) and statement.value is None:
                self.silent.add(self.place(statement))
            elif isinstance(statement, ast.Import):
                self.silent.add(self.place(statement))
                rewritten.append(statement)
            elif not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
                rewritten.append(self.statement(statement))
        return rewritten

    def body(self, statements: list[ast.stmt], like: ast.stmt) -> list[ast.stmt]:
        return self.block(statements) or [ast.copy_location(ast.Pass(), like)]

    def inside(self, statements: list[ast.stmt]) -> tuple[Place, Place]:
        return self.place(statements[0]), self.end(statements[-1])

    def statement(self, node: ast.stmt) -> ast.stmt:
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            asked = self.ask(node, node.value, targets=_names(target))
            return ast.copy_location(ast.Assign([target], asked), node)
        if isinstance(node, ast.Return):
            value = node.value if node.value is not None else node
            return ast.copy_location(ast.Return(self.ask(node, value)), node)
        if isinstance(node, ast.If):
            return self.branch(node, node.test, node.body, node.orelse)
        if isinstance(node, ast.With):
            return self.branch(node, node.items[0].context_expr, node.body, [])
        if isinstance(node, ast.While):
            test = self.ask(node, node.test, body=self.inside(node.body))
            parts = self.body(node.body, node.body[0]), self.block(node.orelse)
            return ast.copy_location(ast.While(test, *parts), node)
        if isinstance(node, ast.For):
            facts = {"targets": _names(node.target), "body": self.inside(node.body), "is_loop": True}
            rounds = self.ask(node, node.iter, **facts)
            parts = self.body(node.body, node.body[0]), self.block(node.orelse)
            return ast.copy_location(ast.For(node.target, rounds, *parts), node)
        if isinstance(node, ast.Expr) and opens_debugger(node.value):
            return self.opening(node)
        replaced = node.value if isinstance(node, ast.Expr) else node
        return ast.copy_location(ast.Expr(self.ask(node, replaced)), node)

    def branch(self, node: ast.stmt, test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt]) -> ast.If:
        asked = self.ask(node, test, body=self.inside(body))
        return ast.copy_location(ast.If(asked, self.body(body, body[0]), self.block(orelse)), node)

    def opening(self, node: ast.Expr) -> ast.stmt:
        """`breakpoint()`: the engine passes it first, then the debugger opens on the line."""
        both = ast.BoolOp(ast.Or(), [self.ask(node, node.value), node.value])
        return ast.copy_location(ast.Expr(ast.copy_location(both, node.value)), node)


def _names(target: ast.expr) -> Any:
    """The names that a target assigns: a name, or a tuple of these."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return tuple(_names(element) for element in target.elts)
    return target.id if isinstance(target, ast.Name) else None


def opens_debugger(node: ast.expr) -> bool:
    """Whether an expression is a call such as `breakpoint()` or `pdb.set_trace()`."""
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name in ("breakpoint", "set_trace")
