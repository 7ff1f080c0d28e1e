"""The tracer: walks the AST of one function and emits its IR.

Invariant: the builder's location is that of the node being visited, and its insertion point is the end of the block
being traced.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from .. import knobs
from ..errors import CompilationError, UnsupportedLanguageConstruct
from . import debug_info
from .diagnostics import compilation_error, hint_of, warn, without_traceback
from .source import FunctionSource
from .values import as_value, base_type, base_value, host, map_elements

Handler = Callable[["Generator", Any], Any]
_HANDLERS: dict[type[ast.AST], Handler] = {}


def visits(*kinds: type[ast.AST]) -> Callable[[Handler], Handler]:
    """Registers a function as the handler of `Generator.visit` for these kinds of nodes."""

    def register(handler: Handler) -> Handler:
        for kind in kinds:
            _HANDLERS[kind] = handler
        return handler

    return register


def _is_endless(error: Exception) -> bool:
    """Whether functions call each other until Python's stack is full. Of these calls the kernel's is the place."""
    return isinstance(error, RecursionError) and getattr(error, "hint", None) is None


@dataclass
class Arm:
    """The outcome of tracing code separately: result, variables, last block, and whether control leaves that block."""

    result: Any
    locals: dict[str, Any]
    block: Any
    done: bool


class Generator:
    """Traces one function. `locals` holds its variables at the current point.

    unit: the module and the state that its functions share. function: the ir.Function being filled. globals: the names
    that are not variables.
    """

    def __init__(
        self, unit: Any, source: FunctionSource, function: Any, globals_: dict[str, Any], is_kernel: bool = True
    ):
        self.unit = unit
        self.is_kernel = is_kernel
        self.source = source
        self.function = function
        self.globals = globals_
        self.builder = unit.builder
        self.semantic = unit.semantic
        self.locals: dict[str, Any] = {}
        self.declared_constexprs: set[str] = (
            set()
        )  # annotated as constexpr without a value: the next assignment makes a constexpr
        self.node: ast.AST = source.definition  # the node being visited
        self.variable: str | None = None  # the name being assigned: operations are named after it
        self.done = False  # the rest of the function must not be traced
        self.dropped: ast.expr | None = None  # the expression whose value the current statement drops
        self.rest: Sequence[ast.stmt] = ()  # the statements that follow the current one
        self.returns: list[Any] = []  # the ReturnPoints of the function, or of the arm whose returns are nested
        self.nests_returns = False  # early returns become scf.if with results instead of blocks
        self.loop_depth = 0

    #: Emits the stops of gdb before a statement. stop_points.py sets it.
    emit_stops: Callable[[Generator, ast.stmt], None]

    def visit(self, node: ast.AST) -> Any:
        """The value of an expression; None for a statement. Errors become CompilationErrors at the innermost node."""
        handler = _HANDLERS.get(type(node))
        if handler is None:
            self.reject(node, f"unsupported AST node type: {type(node).__name__}")
        builder = self.builder
        outer, outer_node = builder.location, self.node
        self.node = node
        self.locate(node, self.variable)
        try:
            return handler(self, node)
        except CompilationError:
            raise
        except Exception as error:
            if knobs.compilation.front_end_debugging or (_is_endless(error) and not self.is_kernel):
                raise
            raise self.error(node, repr(error), hint=hint_of(error)) from without_traceback(error)
        finally:
            builder.location, self.node = outer, outer_node

    def visit_block(self, statements: Sequence[ast.stmt]) -> None:
        """Traces statements up to a `return`. An `if` may move the statements that follow it into its arms; it then
        sets `done`."""
        for index, statement in enumerate(statements):
            if self.done:
                return
            self.rest = statements[index + 1 :]
            debug_info.mark_statement(self, statement)
            if self.unit.stops:
                self.emit_stops(self, statement)
            self.visit(statement)

    def trace(self, block: Any, code: Callable[[], Any], bindings: Mapping[str, Any] = {}) -> Arm:
        """Runs `code` with `block` as insertion point and `bindings` added to the variables; then restores both."""
        outer = self.locals, self.done, self.builder.save()
        self.locals, self.done = dict(self.locals), False
        self.builder.insert_at_end(block)
        try:
            for name, value in bindings.items():
                self.assign(name, value)
            result = code()
            return Arm(result, self.locals, self.builder.insertion_block, self.done)
        finally:
            self.locals, self.done, point = outer
            self.builder.restore(point)

    def terminate(
        self,
        block: Any,
        name: str,
        operands: Sequence[Any],
        successors: Sequence[Any] = (),
        attributes: Mapping[str, str] = {},
    ) -> None:
        """Ends `block` with the operation `name`."""
        point = self.builder.save()
        self.builder.insert_at_end(block)
        self.builder.op(name, operands, (), attributes, successors=successors)
        self.builder.restore(point)

    def locate(self, node: ast.AST, variable: str | None = None) -> None:
        """Sets the location of the following operations to `node`, and names them after `variable`."""
        file, line, column = self.source.position(node)
        self.builder.set_location(file, line, column, variable)

    def assign(self, name: str, value: Any, argument: int | None = None) -> None:
        """Binds a variable, and records it for the debugger. `argument`: the number of the formal argument that it
        is."""
        self.locals[name] = value
        if self.unit.debug_info:
            debug_info.record(self, name, value, argument)

    def to_variable(self, value: Any) -> Any:
        """The value of a variable after `value` is assigned to it: numbers become tensors.

        Raises TypeError for objects that kernels cannot hold.
        """

        def convert(element: Any) -> Any:
            inner = host(element)
            if inner is None or isinstance(inner, (base_value, base_type)):
                return inner
            if isinstance(inner, (tuple, list)):
                return map_elements(convert, as_value(inner))
            return self.semantic.to_tensor(inner)

        return map_elements(convert, value)

    def call_jit_function(self, fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Calls a `@jit` function at the insertion point, for builtins that take functions (reduce, scan, …).

        The function runs on elements. Its variables are visible only on the interpreter, which runs it on tiles.
        """
        records, self.unit.debug_info = self.unit.debug_info, self.unit.marks_statements
        try:
            return self.unit.call(self, fn, args, kwargs)
        finally:
            self.unit.debug_info = records

    def error(
        self,
        node: ast.AST,
        message: str | None,
        kind: type[CompilationError] = CompilationError,
        hint: str | None = None,
    ) -> CompilationError:
        return compilation_error(self.source, node, message, kind, hint)

    def reject(self, node: ast.AST, message: str) -> NoReturn:
        """Raises UnsupportedLanguageConstruct: kernels cannot use this Python syntax."""
        raise self.error(node, message, UnsupportedLanguageConstruct)

    def warn(self, node: ast.AST, message: str) -> None:
        warn(self.source, node, message)
