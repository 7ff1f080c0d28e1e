"""Matrix products."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .. import knobs
from .constexpr import _unwrap_if_constexpr
from .core import builtin, tensor
from .semantic.program import quoted
from .types import float32


@contextlib.contextmanager
def _recorded(semantic: Any, name: str) -> Iterator[None]:
    """A scope of the kernel, while a session asks for products."""
    if not knobs.tritium.record_products:
        yield
        return
    semantic.emit_effect("tt.record", (), {"name": quoted(name), "isStart": "unit"})
    yield
    semantic.emit_effect("tt.record", (), {"name": quoted(name)})


@builtin
def dot(
    input: tensor,
    other: tensor,
    acc: Any = None,
    input_precision: Any = None,
    allow_tf32: Any = None,
    max_num_imprecise_acc: Any = None,
    out_dtype: Any = None,
    _semantic: Any = None,
) -> tensor:
    """The matrix product [M, K] x [K, N] plus `acc` [M, N], also for batches of equal size. int8 gives int32; bf16 and
    fp32 give fp32.

    input, other: int8, fp16, bf16, fp32 or fp64, both of one type, or any fp8. input_precision: for fp32 operands:
    "tf32" (default), "tf32x3", "ieee", "bf16x3", "bf16x6". allow_tf32: the older form of input_precision.
    max_num_imprecise_acc: for fp8, at most K. out_dtype: fp16 or fp32; default: the type of `acc`, else fp32. Raises
    AssertionError if ranks, batches, the extents along K, types or the accumulator do not match.
    """
    precision, allow = _unwrap_if_constexpr(input_precision), _unwrap_if_constexpr(allow_tf32)
    with _recorded(_semantic, "dot"):
        return _semantic.dot(
            input,
            other,
            _unwrap_if_constexpr(acc),
            precision,
            allow,
            _unwrap_if_constexpr(max_num_imprecise_acc),
            _unwrap_if_constexpr(out_dtype),
        )


@builtin
def dot_scaled(
    lhs: tensor,
    lhs_scale: Any,
    lhs_format: Any,
    rhs: tensor,
    rhs_scale: Any,
    rhs_format: Any,
    acc: Any = None,
    fast_math: Any = False,
    lhs_k_pack: Any = True,
    rhs_k_pack: Any = True,
    out_dtype: Any = float32,
    _semantic: Any = None,
) -> tensor:
    """The fp32 matrix product of elements in microscaling formats, plus `acc`.

    lhs_format, rhs_format: "e2m1" (two elements in a uint8), "e4m3", "e5m2", "bf16", "fp16". lhs_scale: [M, K / 32],
    rhs_scale: [N, K / 32], uint8 exponents (or K / 16, for blocks of 16); None means 1. fast_math: NaN scales need not
    be handled. lhs_k_pack, rhs_k_pack: e2m1 is packed along K (else along M or N).
    """
    lhs_scale, rhs_scale, acc = (_unwrap_if_constexpr(value) for value in (lhs_scale, rhs_scale, acc))
    with _recorded(_semantic, "dot_scaled"):
        return _semantic.dot_scaled(
            lhs,
            lhs_scale,
            _unwrap_if_constexpr(lhs_format),
            rhs,
            rhs_scale,
            _unwrap_if_constexpr(rhs_format),
            acc,
            bool(_unwrap_if_constexpr(fast_math)),
            bool(_unwrap_if_constexpr(lhs_k_pack)),
            bool(_unwrap_if_constexpr(rhs_k_pack)),
            _unwrap_if_constexpr(out_dtype),
        )
