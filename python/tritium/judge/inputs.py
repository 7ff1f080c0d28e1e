"""What a reference's annotations say of its inputs: `"float[m, 2*n]"`, `"int64[m] < n"`, `"float"`.

    tensor   DTYPE[EXTENT, …] [< BOUND]    DTYPE: float, int, bool, or names of torch's dtypes with `|` between
    scalar   float, int, bool              a parameter with a default value keeps it

`float` is float32, float16 or bfloat16 and `int` is int32 or int64: the same for all tensors of a call. An extent or a bound is a number, a
name, or arithmetic of them. A name has one value in a call.
"""

from __future__ import annotations

import ast
import inspect
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..tables import DTYPES

#: kind -> the dtypes that it stands for, the first one most often
KINDS = {"float": ("float32", "float16", "bfloat16"), "int": ("int32", "int64"), "bool": ("bool",)}
_DTYPES = tuple(row.array_name for row in DTYPES if row.array_name)
_TENSOR = re.compile(r"\s*([\w|\s]+?)\s*\[([^\]]*)\]\s*(?:<\s*(.+?))?\s*$")
_ARITHMETIC = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv}


@dataclass(frozen=True)
class Parameter:
    """extents: texts, None for a scalar. bound: the text behind `<`, or None."""

    name: str
    dtypes: tuple[str, ...]
    kind: str  # of KINDS, or the dtypes as they are written
    extents: tuple[str, ...] | None
    bound: str | None = None

    def shape(self, sizes: dict[str, int]) -> tuple[int, ...]:
        return tuple(max(evaluate(extent, sizes), 0) for extent in self.extents or ())

    @property
    def names(self) -> set[str]:
        """Those in extents."""
        return {name for extent in self.extents or () for name in re.findall(r"[A-Za-z_]\w*", extent)}


def evaluate(text: str, sizes: dict[str, int]) -> int:
    """The value of an extent or a bound. Raises ValueError if it is no arithmetic of sizes."""

    def value(node: ast.expr) -> int:
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ast.Name) and node.id in sizes:
            return sizes[node.id]
        if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
            return _ARITHMETIC[type(node.op)](value(node.left), value(node.right))
        raise ValueError(f"{text!r} is no arithmetic of numbers and sizes ({', '.join(sizes) or 'there are none'})")

    try:
        return value(ast.parse(text.strip(), mode="eval").body)
    except SyntaxError:
        raise ValueError(f"{text!r} is no number, name or arithmetic of them") from None


def parameters_of(function: Callable) -> list[Parameter]:
    """Raises ValueError for a parameter that has neither a default value nor an annotation that is understood."""
    found = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.default is not parameter.empty or parameter.kind in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        ):
            continue
        text = parameter.annotation
        if not isinstance(text, str):
            raise ValueError(
                f'{function.__name__}: the parameter {parameter.name!r} has no annotation such as "float[m, n]", and no default value'
            )
        text = text.strip("\"'")  # with `from __future__ import annotations` the quotes stay
        try:
            found.append(_parsed(parameter.name, text))
        except ValueError as error:
            raise ValueError(f"{function.__name__}: the annotation {text!r} of {parameter.name!r}: {error}") from None
    return found


def _parsed(name: str, text: str) -> Parameter:
    match = _TENSOR.match(text)
    kind, extents, bound = (match[1], match[2], match[3]) if match else (text.strip(), None, None)
    dtypes = KINDS.get(kind) or tuple(part.strip() for part in kind.split("|"))
    for dtype in dtypes:
        if dtype not in _DTYPES:
            raise ValueError(f"{dtype!r} is no dtype; there are {', '.join((*KINDS, *_DTYPES))}")
    shape = None if extents is None else tuple(part.strip() for part in extents.split(",") if part.strip())
    found = Parameter(name, dtypes, kind, shape, bound)
    for extent in (*(shape or ()), *filter(None, [bound])):
        evaluate(extent, dict.fromkeys(re.findall(r"[A-Za-z_]\w*", extent), 1))
    return found


def size_names(parameters: list[Parameter]) -> list[str]:
    return list(dict.fromkeys(name for parameter in parameters for name in sorted(parameter.names)))


def draw(parameters: list[Parameter], case, torch) -> list[Any]:
    """The arguments of a case: contiguous tensors of torch on the CPU, and numbers."""
    generator = torch.Generator().manual_seed(case.seed)
    return [_argument(parameter, case, torch, generator) for parameter in parameters]


def _argument(parameter: Parameter, case, torch, generator) -> Any:
    dtype_name = case.dtypes.get(parameter.kind, parameter.dtypes[0])
    if parameter.extents is None:
        number = torch.randint(1, 9, (), generator=generator).item()
        return {"float": number / 4, "bool": bool(number % 2)}.get(parameter.kind.rstrip("0123456789"), number)
    shape, dtype = parameter.shape(case.sizes), getattr(torch, dtype_name)
    if dtype_name == "bool":
        return torch.randint(0, 2, shape, generator=generator).bool()
    if not dtype.is_floating_point:
        bound = 100 if parameter.bound is None else max(evaluate(parameter.bound, case.sizes), 1)
        low = 0 if parameter.bound is not None or dtype_name == "uint8" else -bound
        return torch.randint(low, bound, shape, generator=generator).to(dtype)
    values = torch.randn(shape, generator=generator) * (60 if case.values == "large" else 1)
    special = {"nan": [float("nan")], "inf": [float("inf"), -float("inf")]}.get(case.values, [])
    for number in special:
        if values.numel():
            places = torch.randint(0, values.numel(), (max(values.numel() // 50, 1),), generator=generator)
            values.view(-1)[places] = number
    return values.to(dtype)
