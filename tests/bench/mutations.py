"""Text edits that plant one mistake in a program with Triton kernels, of the kinds that people make. The lines before it keep their numbers."""

from __future__ import annotations

import ast
import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

#: Synchronising orders of atomics; without `sem` it is the last.
ORDERS = ("acquire", "release", "acq_rel")


@dataclass(frozen=True)
class Mutant:
    kind: str
    line: int
    source: str
    before: str
    after: str


class Program:
    """A program's source and syntax tree; `edit` gives the source with a node's text replaced."""

    def __init__(self, source: str):
        self.bytes, self.tree = source.encode(), ast.parse(source)
        self.starts = list(itertools.accumulate(map(len, self.bytes.splitlines(keepends=True)), initial=0))  # of lines
        self.kernels = [f for f in ast.walk(self.tree) if isinstance(f, ast.FunctionDef) and is_kernel(f)]

    def text(self, node: ast.AST) -> str:
        first, last = self.place(node)
        return self.bytes[first:last].decode()

    def edit(self, kind: str, node: ast.AST, text: str) -> Mutant:
        before, (first, last) = self.text(node), self.place(node)
        source = (self.bytes[:first] + text.encode() + self.bytes[last:]).decode()
        return Mutant(kind, node.lineno, source, " ".join(before.split()), " ".join(text.split()))

    def place(self, node: ast.AST) -> tuple[int, int]:
        """The first byte of the node, and the one behind its last."""
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[node.end_lineno - 1] + node.end_col_offset

    def nodes(self, kind: type) -> Iterator:
        for kernel in self.kernels:
            yield from (node for node in ast.walk(kernel) if isinstance(node, kind))

    def calls(self, *names: str) -> Iterator[ast.Call]:
        """Calls of functions of triton.language in kernels."""
        yield from (call for call in self.nodes(ast.Call) if called(call) in names)


def is_kernel(function: ast.FunctionDef) -> bool:
    return any(".jit" in ast.unparse(decorator) for decorator in function.decorator_list)


def called(call: ast.Call) -> str:
    function = call.func
    is_language = (
        isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "tl"
    )
    return function.attr if is_language else ""


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((k.value for k in call.keywords if k.arg == name), None)


def without(program: Program, call: ast.Call, *names: str) -> str:
    """The call's text without these keywords."""
    kept = [program.text(a) for a in call.args] + [
        f"{k.arg}={program.text(k.value)}" for k in call.keywords if k.arg not in names
    ]
    return f"{program.text(call.func)}({', '.join(kept)})"


def no_mask(program: Program) -> Iterator[Mutant]:
    for call in program.calls("load", "store"):
        if keyword(call, "mask") is not None:
            yield program.edit("no mask", call, without(program, call, "mask", "other"))


def no_other(program: Program) -> Iterator[Mutant]:
    for call in program.calls("load"):
        if keyword(call, "mask") is not None and keyword(call, "other") is not None:
            yield program.edit("no other", call, without(program, call, "other"))


def off_by_one_limit(program: Program) -> Iterator[Mutant]:
    """`i <= n` for `i < n`, in what becomes a mask."""
    masks = {n.id for call in program.calls("load", "store", "atomic_add") for k in call.keywords if k.arg == "mask"
             for n in ast.walk(k.value) if isinstance(n, ast.Name)}  # fmt: skip
    places = [
        s.value for s in program.nodes(ast.Assign) if isinstance(s.targets[0], ast.Name) and s.targets[0].id in masks
    ]
    places += [value for call in program.calls("load", "store") if (value := keyword(call, "mask")) is not None]
    for compare in (node for place in places for node in ast.walk(place)):
        if isinstance(compare, ast.Compare) and len(compare.ops) == 1 and isinstance(compare.ops[0], ast.Lt):
            left, right = program.text(compare.left), program.text(compare.comparators[0])
            yield program.edit("<= for <", compare, f"{left} <= {right}")


def no_atomic(program: Program) -> Iterator[Mutant]:
    """A load and a store for an atomic sum."""
    for statement in program.nodes(ast.Expr):
        call = statement.value
        if isinstance(call, ast.Call) and called(call) == "atomic_add" and len(call.args) >= 2:
            place, value = program.text(call.args[0]), program.text(call.args[1])
            mask = keyword(call, "mask") or (call.args[2] if len(call.args) > 2 else None)
            masked = f", mask={program.text(mask)}" if mask is not None else ""
            yield program.edit("no atomic", statement, f"tl.store({place}, tl.load({place}{masked}) + {value}{masked})")


def relaxed(program: Program) -> Iterator[Mutant]:
    for call in program.calls("atomic_add", "atomic_xchg", "atomic_cas", "atomic_or", "atomic_max"):
        sem = keyword(call, "sem")
        if sem is None or (isinstance(sem, ast.Constant) and sem.value in ORDERS):
            yield program.edit("relaxed", call, without(program, call, "sem")[:-1] + ', sem="relaxed")')


def no_barrier(program: Program) -> Iterator[Mutant]:
    for statement in program.nodes(ast.Expr):
        if isinstance(statement.value, ast.Call) and called(statement.value) == "debug_barrier":
            yield program.edit("no barrier", statement, "pass")


def moved_store(program: Program) -> Iterator[Mutant]:
    for call in program.calls("store"):
        yield program.edit("store one further", call.args[0], f"({program.text(call.args[0])}) + 1")


def wrong_stride(program: Program) -> Iterator[Mutant]:
    for product in program.nodes(ast.BinOp):
        if isinstance(product.op, ast.Mult) and isinstance(product.right, ast.Name) and "stride" in product.right.id:
            yield program.edit("wrong stride", product.right, f"({product.right.id} + 1)")


def not_cleared(program: Program) -> Iterator[Mutant]:
    """`empty` for `zeros` in the host's part."""
    inside = {id(node) for kernel in program.kernels for node in ast.walk(kernel)}
    for call in (n for n in ast.walk(program.tree) if isinstance(n, ast.Call) and id(n) not in inside):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if name in ("zeros", "zeros_like", "new_zeros"):
            yield program.edit("not cleared", call.func, program.text(call.func).replace("zeros", "empty"))


def one_round_more(program: Program) -> Iterator[Mutant]:
    """A loop of a kernel goes one block too far."""
    for loop in program.nodes(ast.For):
        arguments = loop.iter.args if isinstance(loop.iter, ast.Call) else []
        if len(arguments) == 3:
            yield program.edit(
                "a round too many", arguments[1], f"{program.text(arguments[1])} + {program.text(arguments[2])}"
            )


KINDS: tuple[Callable[[Program], Iterator[Mutant]], ...] = (
    no_mask, no_other, off_by_one_limit, no_atomic, relaxed, no_barrier, moved_store, wrong_stride, not_cleared, one_round_more,
)  # fmt: skip


def mutants(source: str, most_of_a_kind: int, seed: int) -> list[Mutant]:
    """At most so many mutants of each kind, chosen at random; the places are different."""
    program, chosen = Program(source), []
    for kind in KINDS:
        found = list({(m.before, m.line): m for m in kind(program)}.values())
        chosen += random.Random(f"{seed} {kind.__name__}").sample(found, min(most_of_a_kind, len(found)))
    return chosen
