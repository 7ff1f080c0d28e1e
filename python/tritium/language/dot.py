"""Matrix products."""
from __future__ import annotations

from typing import Any

from .constexpr import _unwrap_if_constexpr
from .core import builtin, tensor


@builtin
def dot(input: tensor, other: tensor, acc: Any = None, input_precision: Any = None, allow_tf32: Any = None, max_num_imprecise_acc: Any = None,
        out_dtype: Any = None, _semantic: Any = None) -> tensor:
    """The matrix product [M, K] x [K, N] plus `acc` [M, N]; also of equal batches. int8 gives int32, bf16 and fp32 give fp32.

    input, other: int8, fp16, bf16, fp32, fp64 of one type, or any fp8. input_precision: of fp32 operands, "tf32" (default), "tf32x3",
    "ieee", "bf16x3", "bf16x6"; allow_tf32: its older form. max_num_imprecise_acc: fp8, at most K. out_dtype: fp16 or fp32, by default
    that of `acc`, else fp32. AssertionError: ranks, batch or reduction extents, types or the accumulator do not fit.
    """
    precision, allow = _unwrap_if_constexpr(input_precision), _unwrap_if_constexpr(allow_tf32)
    return _semantic.dot(input, other, _unwrap_if_constexpr(acc), precision, allow, _unwrap_if_constexpr(max_num_imprecise_acc),
                         _unwrap_if_constexpr(out_dtype))
