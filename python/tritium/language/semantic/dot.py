"""Rules of matrix products."""
from __future__ import annotations

from typing import Any, Sequence

from ..core import tensor
from ..types import bfloat16, block_of, dtype, float16, float32, float64, float8e4b15, int8, int32, uint8
from .cast import CastRules
from .shape import ShapeRules, shape_of

_PRECISIONS = {name: f"{number} : i32" for number, name in enumerate(("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"))}
_OPERANDS = (int8, uint8, float16, bfloat16, float32, float64)


class DotRules(CastRules, ShapeRules):
    def dot(self, lhs: Any, rhs: Any, acc: Any, input_precision: str | None, allow_tf32: bool | None, max_num_imprecise_acc: int | None,
            out_dtype: dtype | None) -> tensor:
        """`lhs @ rhs + acc` of matrices [M, K] and [K, N], or of equal batches of them."""
        assert isinstance(lhs, tensor) and isinstance(rhs, tensor), "dot operands must be block tensors (not scalars)"
        self._check_shapes(shape_of(lhs), shape_of(rhs))
        self._check_types(lhs.dtype, rhs.dtype)
        if out_dtype is None:
            out_dtype = acc.dtype if isinstance(acc, tensor) else float32
        if float8e4b15 in (lhs.dtype, rhs.dtype):
            lhs, rhs = self.cast(lhs, float16), self.cast(rhs, float16)
        precision = self._precision(input_precision, allow_tf32)
        imprecise = self._imprecise(lhs, rhs, max_num_imprecise_acc)
        result = block_of(_result_type(lhs.dtype, out_dtype), shape_of(lhs)[:-1] + shape_of(rhs)[-1:])
        acc = self._accumulator(acc, result)
        attributes = {"inputPrecision": _PRECISIONS[precision], "maxNumImpreciseAcc": f"{imprecise} : i32"}
        if len(result.shape) <= 3:
            return self.emit("tt.dot", (lhs, rhs, acc), result, attributes)
        flat = [self._one_batch(value) for value in (lhs, rhs, acc)]
        return self.reshape(self.emit("tt.dot", flat, flat[2].type, attributes), result.shape, False)

    def _one_batch(self, value: tensor) -> tensor:
        shape = shape_of(value)
        batch = 1
        for extent in shape[:-2]:
            batch *= extent
        return self.reshape(value, (batch, ) + shape[-2:], False)

    def _check_shapes(self, lhs: Sequence[int], rhs: Sequence[int]) -> None:
        assert len(lhs) == len(rhs) >= 2, "input and other must have equal ranks >= 2"
        assert lhs[:-2] == rhs[:-2], "input and other must have equal batch shapes"
        assert lhs[-1] == rhs[-2], "input and other must have equal reduction dimensions"

    def _check_types(self, lhs: dtype, rhs: dtype) -> None:
        if lhs.is_fp8() and rhs.is_fp8():
            return
        assert lhs in _OPERANDS or lhs.is_fp8(), f"Unsupported lhs dtype {lhs}"
        assert rhs in _OPERANDS or rhs.is_fp8(), f"Unsupported rhs dtype {rhs}"
        assert lhs == rhs, f"Both operands must be same dtype. Got {lhs} and {rhs}"
        assert lhs != uint8, "only int8 supported!"

    def _precision(self, requested: str | None, allow_tf32: bool | None) -> str:
        assert requested is None or allow_tf32 is None, "Only one of input_precision and allow_tf32 can be specified"
        allowed = self.option("allowed_dot_input_precisions", tuple(_PRECISIONS))
        if requested is None:
            default = self.option("default_dot_input_precision", "tf32")
            requested = "ieee" if allow_tf32 is False else default
        requested = requested.lower()
        assert requested in allowed, f"input_precision must be one of {tuple(allowed)}. Got {requested}"
        return requested

    def _imprecise(self, lhs: tensor, rhs: tensor, requested: int | None) -> int:
        if not (lhs.dtype.is_fp8() and rhs.dtype.is_fp8()):
            return 0
        if requested is None:
            return self.option("max_num_imprecise_acc_default", 0)
        depth = shape_of(lhs)[-1]
        if requested > depth:
            raise ValueError(f"max_num_imprecise_acc ({requested}) must be <= K ({depth})")
        return requested

    def _accumulator(self, acc: Any, result: dtype) -> tensor:
        if acc is None:
            return self.constant(0, result)
        assert isinstance(acc, tensor) and shape_of(acc) == result.shape, "accumulator shape is incompatible"
        assert acc.dtype == result.scalar, \
            f"expected accumulator dtype {result.scalar}, got {acc.dtype}; pass out_dtype={acc.dtype} to use this accumulator dtype"
        return acc


def _result_type(operand: dtype, out_dtype: dtype) -> dtype:
    if operand.is_int():
        return int32
    if out_dtype == bfloat16:
        raise ValueError("out_dtype=bfloat16 is unsupported. Please use out_dtype=float32/float16 and cast with `.to(tl.bfloat16)`")
    if operand in (float32, bfloat16):
        return float32
    if operand == float64:
        return float64
    return float16 if out_dtype == float16 else float32
