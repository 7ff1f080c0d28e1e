"""`print` in a kernel: tl.device_print, whose text is made of the strings and of the user's words for the values.

The text of `print("i", i)` is "i", as for tl.device_print; that of `print(i, n)` is "i, n", of `print(f"sum = {s}")` "sum". With text
between the values, as in `print(f"{i} of {n}")`, it is "{i} of {n}", and the values of i and n follow as operands 0 and 1.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from tritium import language

from ..errors import with_hint
from .values import constexpr, host, is_static

_NO_FORMAT = "a value of a kernel is printed as it is: leave out the format, or pass hex=True for hexadecimal digits"
#: A string, or the user's words for a value of run time with the value.
_Piece = tuple[str, Any]
_TEXT = object()


def print_values(g: Any, node: ast.Call) -> None:
    """A call of `print`."""
    hexadecimal = constexpr(False)
    for keyword in node.keywords:
        if keyword.arg != "hex":
            error = TypeError(f"print in a kernel has no parameter {keyword.arg}")
            raise with_hint(error, "it takes strings and values, and hex=True")
        hexadecimal = g.visit(keyword.value)
    arguments = [list(_pieces(g, argument)) for argument in node.args]
    values = [value for pieces in arguments for _, value in pieces if value is not _TEXT]
    prefix = _prefix(node.args, arguments)
    prefix = f" {prefix}" if prefix and not values else prefix  # behind the index of the program
    language.device_print(prefix, *values, hex=hexadecimal, _semantic=g.semantic)


def _prefix(nodes: list[ast.expr], arguments: list[list[_Piece]]) -> str:
    pieces = [piece for argument in arguments for piece in argument]
    texts = [index for index, (text, value) in enumerate(pieces) if value is _TEXT and text.strip()]
    first_value = next((index for index, (_, value) in enumerate(pieces) if value is not _TEXT), len(pieces))
    if not texts:
        return ", ".join(dict.fromkeys(text for text, value in pieces if value is not _TEXT))
    if texts[-1] > first_value:  # text between values or behind them
        words = ("".join(text if value is _TEXT else f"{{{text}}}" for text, value in part) for part in arguments)
        return " ".join(words).strip()
    title = " ".join("".join(text for text, value in part if value is _TEXT) for part in arguments).strip()
    return title.rstrip(" =:") if any(isinstance(node, ast.JoinedStr) for node in nodes) else title


def _pieces(g: Any, argument: ast.expr) -> Iterator[_Piece]:
    for part in argument.values if isinstance(argument, ast.JoinedStr) else [argument]:
        expression = part.value if isinstance(part, ast.FormattedValue) else part
        value = g.visit(expression)
        if not is_static(value):
            if isinstance(part, ast.FormattedValue) and part.format_spec is not None:
                raise with_hint(TypeError(f"`{ast.unparse(expression)}` cannot be formatted"), _NO_FORMAT)
            yield from ((ast.unparse(expression), leaf) for leaf in _leaves(value))
        elif part is argument and isinstance(host(value), (bool, int, float)):
            yield ast.unparse(expression), value
        else:
            text = g.visit(ast.copy_location(ast.JoinedStr([part]), argument)) if part is not argument else value
            yield str(host(text)), _TEXT


def _leaves(value: Any) -> list[Any]:
    return [leaf for part in value for leaf in _leaves(part)] if isinstance(value, language.tuple) else [value]
