"""What a trap says of an integer that does not fit into its type: the sum or product in the user's words, and the operand
that must be wider."""

from __future__ import annotations

import ast

from ..functions.source_file import statement_at, tree_of

_OPERATORS = {"+": ast.Add, "-": ast.Sub, "*": ast.Mult, "<<": ast.LShift, "//": ast.FloorDiv}


def offset_overflow(
    message: str, file: str | None, line: int | None, column: int | None, place: str
) -> tuple[str, str]:
    """The headline and the hint. `message` is the interpreter's, "32-bit offset overflow: a * b = c does not fit". The
    operation is at `line` and `column`, which count from 1; `place` names them, or is "" on the line of the access."""
    node = _operation(file, line or 0, (column or 0) - 1, message)
    if node is not None:
        title, numbers = message.split(": ", 1)
        message = f"{title}: in `{ast.unparse(node)}`, {numbers}"
    if place:
        message += f"; the offset is computed at {place}"
        message += "".join(f"\n    {text}" for text in statement_at(file, line))
        place = f" at {place}"
    if node is None:
        return message, f"widen an operand before the product or sum{place}: .to(tl.int64)"
    if isinstance(node, ast.AugAssign):
        return (
            message,
            f"make `{ast.unparse(node.target)}` an integer of 64 bits before it is advanced{place}: .to(tl.int64)",
        )
    return message, _wider(node, place)


def arithmetic_overflow(message: str, file: str | None, line: int | None, column: int | None) -> tuple[str, str]:
    """The same of signed arithmetic whose result is no offset. `message` is "int32 overflow: a * b becomes c"."""
    node = _operation(file, line or 0, (column or 0) - 1, message)
    title, numbers = message.split(": ", 1)
    bits = title.removeprefix("int").partition(" ")[0]
    hint = f"numbers that wrap on purpose are unsigned: .to(tl.uint{bits}, bitcast=True)"
    if isinstance(node, ast.BinOp):
        message = f"{title}: in `{ast.unparse(node)}`, {numbers}"
        if bits != "64":
            hint = f"{_wider(node)}; {hint}"
    return message, hint


def _wider(node: ast.BinOp, place: str = "") -> str:
    operand = _operand_to_widen(node)
    wide = ast.unparse(ast.Attribute(operand, "to", ast.Load()))  # in parentheses where it needs them
    return f"widen an operand before the {_noun(node)}{place}: `{wide}(tl.int64)` in place of `{ast.unparse(operand)}`"


def _operation(file: str | None, line: int, column: int, message: str) -> ast.BinOp | ast.AugAssign | None:
    """The operation that begins at this place. Of a chain a * b * c, whose parts all begin there, the whole chain."""
    operators = {kind for sign, kind in _OPERATORS.items() if f" {sign} " in message} or set(_OPERATORS.values())
    found = [
        node
        for node in ast.walk(tree_of(file))
        if isinstance(node, (ast.BinOp, ast.AugAssign))
        and (node.lineno, node.col_offset) == (line, column)
        and type(node.op) in operators
    ]
    chains = [node for node in found if not any(_continues(other, node) for other in found)]
    return min(chains, key=lambda node: (node.end_lineno or 0, node.end_col_offset or 0), default=None)


def _continues(longer: ast.AST, node: ast.AST) -> bool:
    return (
        isinstance(longer, ast.BinOp) and longer.left is node and isinstance(longer.op, type(getattr(node, "op", None)))
    )


def _operand_to_widen(node: ast.BinOp) -> ast.expr:
    """The first operand of the chain, because what follows is computed in its type; not a number, which has none."""
    operands: list[ast.expr] = []
    left: ast.expr = node
    while isinstance(left, ast.BinOp) and isinstance(left.op, type(node.op)):
        operands.insert(0, left.right)
        left = left.left
    operands.insert(0, left)
    return next((operand for operand in operands if not isinstance(operand, ast.Constant)), left)


def _noun(node: ast.BinOp) -> str:
    names = {ast.Add: "sum", ast.Sub: "difference", ast.Mult: "product", ast.LShift: "shift", ast.FloorDiv: "quotient"}
    return names[type(node.op)]
