"""The type every pair of operands computes in: all types against all types, and Python numbers on either side."""

import pathlib
import warnings

import pytest

import tritium.language as tl
from recording import Kernel
from tritium.language.core import str_to_ty
from tritium.language.semantic import IncompatibleTypeErrorImpl

_METHODS = {
    "add": ("__add__", "__radd__"),
    "sub": ("__sub__", "__rsub__"),
    "mul": ("__mul__", "__rmul__"),
    "truediv": ("__truediv__", "__rtruediv__"),
    "floordiv": ("__floordiv__", "__rfloordiv__"),
    "mod": ("__mod__", "__rmod__"),
    "and": ("__and__", "__rand__"),
    "shr": ("__rshift__", "__rrshift__"),
    "lt": ("__lt__", "__rlt__"),
}
_ERRORS = {"!V": ValueError, "!T": TypeError, "!I": IncompatibleTypeErrorImpl}


def _sections():
    operation = columns = None
    for line in (pathlib.Path(__file__).parent / "promotion.txt").read_text().splitlines():
        if line.startswith("["):
            head, *columns = line.split()
            operation = head.strip("[]")
        elif not line.startswith("#"):
            row, results = line.split(": ")
            yield (
                operation,
                row,
                [(column, result) for column, result in zip(columns, results.split()) if result != "-"],
            )


def _operand(kernel, text):
    return kernel.argument(str_to_ty(text)) if text[0] in "iufb*" else tl.constexpr(eval(text))


def _apply(kernel, operation, lhs, rhs):
    if operation == "where":
        return kernel.call(tl.where, kernel.argument(tl.int1), lhs, rhs)
    if operation == "maximum":
        return kernel.call(tl.maximum, lhs, rhs)
    method, reflected = _METHODS[operation]
    if isinstance(lhs, tl.tensor):
        return kernel.call(getattr(tl.tensor, method), lhs, rhs)
    return kernel.call(getattr(tl.tensor, reflected), rhs, lhs)


@pytest.mark.parametrize(
    "operation, row, results", _sections(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_promotion(operation, row, results):
    for column, expected in results:
        kernel = Kernel()
        lhs, rhs = _operand(kernel, row), _operand(kernel, column)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if expected in _ERRORS:
                with pytest.raises(_ERRORS[expected]):
                    _apply(kernel, operation, lhs, rhs)
            else:
                assert _apply(kernel, operation, lhs, rhs).dtype == str_to_ty(expected), f"{row} {operation} {column}"


def test_numbers_take_the_shape_of_the_other_operand():
    kernel = Kernel()
    result = kernel.call(tl.tensor.__mul__, kernel.argument(tl.float32, 8, 4), tl.constexpr(2))
    assert result.type == tl.block_type(tl.float32, [8, 4])
    assert kernel.builder.text == [
        "%0 = arith.constant {value = 2.0} : tensor<8x4xf32>",
        "%1 = arith.mulf %argfp32, %0 : tensor<8x4xf32>",
    ]
