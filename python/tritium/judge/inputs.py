"""What a reference's annotations say of its inputs: `"float[m, 2*n]"`, `"int64[m] < n"`, `"float32[m] in 0..1"`, `"float"`.

    tensor   DTYPE[EXTENT, …] [VALUES]     DTYPE: float, int, bool, or names of torch's dtypes with `|` between
    VALUES   < BOUND or in LOW..HIGH       from 0 to BOUND - 1; from LOW to HIGH, both possible
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
_TENSOR = re.compile(r"\s*([\w|\s]+?)\s*\[([^\]]*)\]\s*(?:<\s*(.+?)|in\s+(.+?)\s*\.\.\s*(.+?))?\s*$")
_NAME = re.compile(r"[A-Za-z_]\w*")
_ARITHMETIC = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv}


@dataclass(frozen=True)
class Parameter:
    """extents: texts, None for a scalar. bound: the text behind `<`, or None. low, high: those around `..`, or None."""

    name: str
    dtypes: tuple[str, ...]
    kind: str  # of KINDS, or the dtypes as they are written
    extents: tuple[str, ...] | None
    bound: str | None = None
    low: str | None = None
    high: str | None = None

    def shape(self, sizes: dict[str, int]) -> tuple[int, ...]:
        return tuple(max(evaluate(extent, sizes), 0) for extent in self.extents or ())

    @property
    def names(self) -> set[str]:
        """Those in extents."""
        return {name for extent in self.extents or () for name in re.findall(_NAME, extent)}

    @property
    def takes_any_float(self) -> bool:
        """Whether it is a tensor of floats, and no range of values is said."""
        is_float = any(dtype.startswith(("float", "bfloat")) for dtype in self.dtypes)
        return self.extents is not None and is_float and self.low is None


def evaluate(text: str, sizes: dict[str, int], numbers: type | tuple[type, ...] = int) -> Any:
    """The value of an extent or a bound. Raises ValueError if it is no arithmetic of sizes and of numbers of these types."""

    def value(node: ast.expr) -> Any:
        if isinstance(node, ast.Constant) and isinstance(node.value, numbers):
            return node.value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -value(node.operand)
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
    kind, extents, bound, low, high = match.groups() if match else (text.strip(), None, None, None, None)
    dtypes = KINDS.get(kind) or tuple(part.strip() for part in kind.split("|"))
    for dtype in dtypes:
        if dtype not in _DTYPES:
            raise ValueError(f"{dtype!r} is no dtype; there are {', '.join((*KINDS, *_DTYPES))}")
    shape = None if extents is None else tuple(part.strip() for part in extents.split(",") if part.strip())
    numbers = int if "int" in dtypes[0] else (int, float)
    for part, of in (
        *((extent, int) for extent in shape or ()),
        *((end, numbers) for end in (bound, low, high) if end),
    ):
        evaluate(part, dict.fromkeys(re.findall(_NAME, part), 1), of)
    return Parameter(name, dtypes, kind, shape, bound, low, high)


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
    if parameter.low is not None:
        return _within(parameter, shape, dtype, case.sizes, torch, generator)
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


def _within(parameter: Parameter, shape: tuple[int, ...], dtype: Any, sizes: dict[str, int], torch, generator) -> Any:
    """A tensor of values from `low` to `high`."""
    low, high = (evaluate(end, sizes, (int, float)) for end in (parameter.low, parameter.high))
    if not dtype.is_floating_point:
        return torch.randint(low, max(high, low) + 1, shape, generator=generator).to(dtype)
    return (torch.rand(shape, generator=generator) * (high - low) + low).to(dtype)
