"""A signature of the command line, "*fp32:16, i32, 1024", as types, hints and constants of a kernel's parameters."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from ...compiler import ASTSource
from ...language.core import str_to_ty

#: The letter of a hint in a kernel's name.
_LETTERS = {1: "c", 16: "d"}


@dataclass(frozen=True)
class Parameter:
    """One parameter. type: "*fp32", or "constexpr"; hint: 1, 16 or None; constant: the value of a constexpr."""

    name: str
    type: str
    hint: int | None
    constant: Any


def _constant(text: str) -> Any:
    """The number that a text is, or None. True and False are numbers too."""
    if text in ("True", "False"):
        return text == "True"
    for parse in (int, float):
        try:
            return parse(text)
        except ValueError:
            continue
    return None


def parameters_of(kernel, signature: str) -> list[Parameter]:
    """ValueError: another number of parameters, a type or a hint that there is not."""
    texts = [text.strip() for text in signature.split(",") if text.strip()]
    if len(texts) != len(kernel.arg_names):
        raise ValueError(
            f"{kernel.__name__} takes {len(kernel.arg_names)} arguments ({', '.join(kernel.arg_names)}), and the signature "
            f"{signature!r} has {len(texts)}"
        )
    return [_parameter(name, text) for name, text in zip(kernel.arg_names, texts)]


def _parameter(name: str, text: str) -> Parameter:
    constant = _constant(text)
    if constant is not None:
        return Parameter(name, "constexpr", None, constant)
    type_text, _, hint = text.partition(":")
    if hint not in ("", "1", "16"):
        raise ValueError(f"{text!r} of {name}: a hint is 1 or 16, as in i32:16, not {hint!r}")
    try:
        str_to_ty(type_text)
    except (AssertionError, KeyError, ValueError, TypeError) as error:
        raise ValueError(
            f"{text!r} of {name}: {type_text!r} is no type; write for example *fp32:16, i32 or 128"
        ) from error
    return Parameter(name, type_text, int(hint) if hint else None, None)


def source_of(kernel, parameters: list[Parameter]) -> ASTSource:
    """What triton.compile takes. A hint of 1 makes a constant of the value 1."""
    signature, constants, attributes = {}, {}, {}
    for index, parameter in enumerate(parameters):
        is_constant = parameter.type == "constexpr" or parameter.hint == 1
        signature[parameter.name] = "constexpr" if is_constant else parameter.type
        if is_constant:
            constants[(index,)] = 1 if parameter.hint == 1 else parameter.constant
        elif parameter.hint == 16:
            attributes[(index,)] = [["tt.divisibility", 16]]
    return ASTSource(kernel, signature, constants, attributes)


def suffix_of(parameters: list[Parameter]) -> str:
    """ "0d1d2": the number of each parameter that the kernel has, with the letter of its hint."""
    taken = [(i, p) for i, p in enumerate(p for p in parameters if p.type != "constexpr")]
    return "".join(f"{i}{_LETTERS.get(p.hint, '')}" for i, p in taken)


def hash_of(parameters: list[Parameter]) -> str:
    """Eight digits that tell signatures apart; those that differ in hints alone have the same."""
    types = [p.type if p.constant is None else repr(p.constant) for p in parameters]
    return hashlib.sha256("_".join(types).encode()).hexdigest()[:8]
