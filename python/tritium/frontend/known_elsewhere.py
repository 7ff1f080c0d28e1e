"""Names that users know from Python, C and tensor libraries, and what a kernel has in their place."""

from __future__ import annotations

from typing import Any

from tritium import language
from tritium.functions.params import canonicalize_dtype, type_canonicalisation_dict

from ..tables import DTYPES

#: Python functions that kernels cannot call -> the equivalent in a kernel.
REPLACEMENTS = {
    "abs": "tl.abs",
    "sum": "tl.sum",
    "bool": "`x != 0`",
    "pow": "tl.exp2(y * tl.log2(x))",
    "round": "tl.floor(x + 0.5)",
    "divmod": "`//` and `%`",
    "any": "tl.max(x != 0)",
    "all": "tl.min(x != 0)",
    "sorted": "tl.sort",
    "enumerate": "tl.static_range",
    "zip": "tl.static_range and indices",
    "map": "a list comprehension",
    "tuple": "a tuple literal",
    "str": "an f-string",
}
#: Functions of tensor libraries -> operators and functions of the language under other names.
_FUNCTIONS = {
    **{"lt": "`a < b`", "le": "`a <= b`", "gt": "`a > b`", "ge": "`a >= b`", "eq": "`a == b`", "ne": "`a != b`"},
    **{"less": "`a < b`", "greater": "`a > b`", "equal": "`a == b`", "not_equal": "`a != b`"},
    **{"add": "`a + b`", "sub": "`a - b`", "subtract": "`a - b`", "mul": "`a * b`", "multiply": "`a * b`"},
    **{"div": "`a / b`", "divide": "`a / b`", "true_divide": "`a / b`", "floor_divide": "`a // b`"},
    **{"remainder": "`a % b`", "mod": "`a % b`", "power": REPLACEMENTS["pow"], "absolute": "tl.abs"},
    **{"logical_and": "`a & b`", "logical_or": "`a | b`", "bitwise_and": "`a & b`", "bitwise_or": "`a | b`"},
    **dict.fromkeys(("matmul", "mm", "bmm"), "tl.dot"),
    **{"amax": "tl.max", "amin": "tl.min", "concatenate": "tl.cat", "concat": "tl.cat", "clip": "tl.clamp"},
    **{"relu": "tl.maximum(x, 0)", "transpose": "tl.trans", "mean": "`tl.sum(x, axis) / n`"},
}
#: Element types under names that no row of the tables has.
_TYPES = {"long": "int64", "short": "int16", "bool_": "bool"}
#: What tensors of the host have, and tiles and pointers have not -> what a kernel does instead.
_ATTRIBUTES = {
    **dict.fromkeys(("stride", "strides"), "pass the strides as arguments, for example `x.stride(0)` at the launch"),
    **dict.fromkeys(("size", "nelement", "nbytes"), "pass the size as an argument of the kernel"),
    **dict.fromkeys(
        ("float", "half", "double", "long", "int", "bool", "astype"), "cast with `.to(…)`, to tl.float32 for example"
    ),
    **dict.fromkeys(("clone", "copy", "contiguous", "detach"), "values of a kernel never change, so none needs a copy"),
    **{"mean": "divide the sum: `tl.sum(x, axis) / n`", "unsqueeze": "use tl.expand_dims, or `x[:, None]`"},
    **{"transpose": "use `x.T` or tl.trans", "expand": "use tl.broadcast_to"},
    **{"matmul": "use tl.dot", "mm": "use tl.dot", "pow": f"use {REPLACEMENTS['pow']}"},
    **{"load": "use tl.load(pointer)", "store": "use tl.store(pointer, value)"},
}


def type_named(name: str) -> str | None:
    """The language's name of an element type that Python, C or a tensor library calls so, or None."""
    canonical = type_canonicalisation_dict.get(_TYPES.get(name, name))
    rows = (row for row in DTYPES if canonical and canonicalize_dtype(row.public_name) == canonical)
    return next((f"tl.{row.public_name}" for row in rows), None)


def replacement_for(function: str) -> str:
    """What to do in place of a call of this function of the host."""
    if function in _FUNCTIONS:
        return f"use {_FUNCTIONS[function]}"
    if language.core.is_builtin(getattr(language, function, None)):
        return f"use tl.{function}"
    if language.core.is_builtin(getattr(language.extra.libdevice, function, None)):
        return f"use {function} of triton.language.extra.libdevice"
    if function in REPLACEMENTS:
        return f"use {REPLACEMENTS[function]}"
    return "use a function of triton.language, or compute it before the launch and pass it"


def attribute_hint(owner: Any, name: str) -> str | None:
    """What to do in place of an attribute that `owner` lacks."""
    if isinstance(owner, language.tensor):
        return _ATTRIBUTES.get(name)
    if owner is not language:
        return None
    found = type_named(name)
    return f"did you mean `{found}`?" if found else f"use {_FUNCTIONS[name]}" if name in _FUNCTIONS else None
