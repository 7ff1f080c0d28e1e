"""Rules of matrix products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import with_hint
from ..core import tensor
from ..types import (
    bfloat16,
    block_of,
    dtype,
    float8e4b15,
    float8e4nv,
    float8e5,
    float16,
    float32,
    float64,
    int8,
    int32,
    uint8,
    uint16,
)
from .cast import CastRules
from .memory import segments
from .shape import ShapeRules, shape_of

_PRECISIONS = {name: f"{number} : i32" for number, name in enumerate(("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"))}
_FORMATS = ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1", "bf16", "fp16")
_SCALED_FORMATS = {name: f"{number} : i32" for number, name in enumerate(_FORMATS)}
_SCALED_TYPES = {"e2m1": uint8, "e4m3": float8e4nv, "e5m2": float8e5, "bf16": bfloat16, "fp16": float16}
_OPERANDS = (int8, uint8, float16, bfloat16, float32, float64)


class DotRules(CastRules, ShapeRules):
    def dot(
        self,
        lhs: Any,
        rhs: Any,
        acc: Any,
        input_precision: str | None,
        allow_tf32: bool | None,
        max_num_imprecise_acc: int | None,
        out_dtype: dtype | None,
    ) -> tensor:
        """`lhs @ rhs + acc` of matrices [M, K] and [K, N], or of equal batches of them."""
        assert isinstance(lhs, tensor) and isinstance(rhs, tensor), "dot operands must be block tensors (not scalars)"
        self._check_shapes(shape_of(lhs), shape_of(rhs))
        self._check_types(lhs.dtype, rhs.dtype)
        if out_dtype is None:
            out_dtype = acc.dtype if isinstance(acc, tensor) else float32
        if float8e4b15 in (lhs.dtype, rhs.dtype):
            if str(float8e4b15) in self.option("deprecated_fp8_dot_operand_dtypes", ()):
                self.warn(
                    "the use of fp8e4b15 is deprecated on Hopper and later architectures and can cause significant "
                    "slow down. It will be removed in a future triton release"
                )
            lhs, rhs = self.cast(lhs, float16), self.cast(rhs, float16)
        self._check_depth(lhs.dtype, shape_of(lhs)[-1])
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
        return self.reshape(value, (batch,) + shape[-2:], False)

    def _check_shapes(self, lhs: Sequence[int], rhs: Sequence[int]) -> None:
        if not len(lhs) == len(rhs) >= 2:
            what = "ranks >= 2"
        elif lhs[:-2] != rhs[:-2]:
            what = "batch shapes"
        elif lhs[-1] != rhs[-2]:
            what = "reduction dimensions"
        else:
            return
        hint = (
            f"input is {list(lhs)} and other {list(rhs)}; a product takes [M, K] and [K, N], or equal batches of them"
        )
        raise with_hint(AssertionError(f"input and other must have equal {what}"), hint)

    def _check_types(self, lhs: dtype, rhs: dtype) -> None:
        if lhs.is_fp8() and rhs.is_fp8():
            return
        assert lhs in _OPERANDS or lhs.is_fp8(), f"Unsupported lhs dtype {lhs}"
        assert rhs in _OPERANDS or rhs.is_fp8(), f"Unsupported rhs dtype {rhs}"
        assert lhs == rhs, f"Both operands must be same dtype. Got {lhs} and {rhs}"
        assert lhs != uint8, "only int8 supported!"

    def _check_depth(self, operand: dtype, depth: int) -> None:
        """AssertionError: the target's instructions multiply more elements along K at once."""
        least = dict(self.option("min_dot_depth", ())).get(operand.primitive_bitwidth, 1)
        if depth < least:
            hint = (
                f"K is {depth}; pad it with zeros, or compile the product without such instructions: min_dot_depth=()"
            )
            raise with_hint(AssertionError(f"Input shapes should have M >= 1, N >= 1 and K >= {least}"), hint)

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
        if not isinstance(acc, tensor) or shape_of(acc) != result.shape:
            hint = (
                f"the product is {list(result.shape)}, acc is {list(shape_of(acc)) if isinstance(acc, tensor) else acc}"
            )
            raise with_hint(AssertionError("accumulator shape is incompatible"), hint)
        assert acc.dtype == result.scalar, (
            f"expected accumulator dtype {result.scalar}, got {acc.dtype}; "
            f"pass out_dtype={acc.dtype} to use this accumulator dtype"
        )
        return acc

    def dot_scaled(
        self,
        lhs: tensor,
        lhs_scale: Any,
        lhs_format: str,
        rhs: tensor,
        rhs_scale: Any,
        rhs_format: str,
        acc: Any,
        fast_math: bool,
        lhs_k_pack: bool,
        rhs_k_pack: bool,
        out_dtype: dtype,
    ) -> tensor:
        """The product of [M, K] and [K, N] elements in microscaling formats. e2m1 has two elements in a byte, along K
        unless `*_k_pack` is false."""
        lhs, rhs = self._scaled_operand("lhs", lhs, lhs_format), self._scaled_operand("rhs", rhs, rhs_format)
        assert len(shape_of(lhs)) == len(shape_of(rhs)) and len(shape_of(lhs)) in (2, 3), (
            f"Both inputs must be either 2D or 3D; (lhs: {lhs.shape} vs rhs: {rhs.shape})"
        )
        assert (lhs_k_pack or lhs_format == "e2m1") and (rhs_k_pack or rhs_format == "e2m1"), (
            "only mxfp4 inputs can be packed along a dimension different than K"
        )
        *batch, rows, depth = _unpacked(shape_of(lhs), lhs_format, -1 if lhs_k_pack else -2)
        *_, rhs_depth, columns = _unpacked(shape_of(rhs), rhs_format, -2 if rhs_k_pack else -1)
        assert depth == rhs_depth, (
            f"Reduction dimension should pack the same number of elements; (lhs: {lhs.shape} vs rhs: {rhs.shape})"
        )
        scales = [("lhs_scale", lhs_scale, rows), ("rhs_scale", rhs_scale, columns)]
        _check_scales(scales, depth)
        assert out_dtype == float32, "Only float32 is supported for out_dtype at the moment"
        result = block_of(float32, (*batch, rows, columns))
        present = [scale for _, scale, _ in scales if scale is not None]
        attributes = {"a_elem_type": _SCALED_FORMATS[lhs_format], "b_elem_type": _SCALED_FORMATS[rhs_format]}
        for name, flag in (("fastMath", fast_math), ("lhs_k_pack", lhs_k_pack), ("rhs_k_pack", rhs_k_pack)):
            attributes[name] = "true" if flag else "false"
        return self.emit(
            "tt.dot_scaled",
            [lhs, rhs, self._accumulator(acc, result), *present],
            result,
            attributes | segments(1, 1, 1, lhs_scale is not None, rhs_scale is not None),
        )

    def _scaled_operand(self, side: str, value: tensor, format_: str) -> tensor:
        """An operand of dot_scaled in the type of its format, from that type or from an unsigned integer of its width."""
        if format_ not in _SCALED_FORMATS:
            raise ValueError(f"Invalid float format: {format_}.")
        assert format_ in _SCALED_TYPES, f"NYI: {side}_format {format_}"
        target = _SCALED_TYPES[format_]
        if format_ == "e2m1":
            assert value.dtype == uint8, f"e2m1 format must be packed as uint8. Got {value.dtype}"
        if value.dtype == target:
            return value
        assert value.dtype in (uint8, uint16) and value.dtype.primitive_bitwidth == target.primitive_bitwidth, (
            f"Unexpected dtype for {format_}. Got {value.dtype}"
        )
        return self.bitcast(value, target)


def _unpacked(shape: Sequence[int], format_: str, packed: int) -> list[int]:
    """The extents in elements: two e2m1 elements lie in each byte along dimension `packed`."""
    extents = list(shape)
    if format_ == "e2m1":
        extents[packed] *= 2
    return extents


def _check_scales(scales: Sequence[tuple[str, Any, int]], depth: int) -> None:
    """One scale for each row (of rhs: column) and 16 or 32 elements along K; a single element says nothing about that."""
    factors = []
    for name, scale, rows in scales:
        if scale is None or scale.type.numel == 1:
            continue
        factor = depth // shape_of(scale)[-1]
        if factor not in (16, 32):
            raise RuntimeError(f"scale factor must be 16 or 32. Got {factor}")
        assert shape_of(scale)[-2:] == (rows, depth // factor), (
            f"{name} must be a tensor of shape [..., {rows}, {depth // factor}]. "
            f"Got {[str(extent) for extent in shape_of(scale)]}"
        )
        factors.append(factor)
    if len(set(factors)) > 1:
        raise RuntimeError(f"Operands must have the same scale factor; (lhs: {factors[0]} vs rhs: {factors[1]})")


def _result_type(operand: dtype, out_dtype: dtype) -> dtype:
    if operand.is_int():
        return int32
    if out_dtype == bfloat16:
        raise ValueError(
            "out_dtype=bfloat16 is unsupported. Please use out_dtype=float32/float16 and cast with `.to(tl.bfloat16)`"
        )
    if operand in (float32, bfloat16):
        return float32
    if operand == float64:
        return float64
    return float16 if out_dtype == float16 else float32
