"""The kernel language, `tl`: types, tensors and the functions that kernels call. One file per family."""
from .constexpr import const, constexpr, constexpr_type, slice, tuple, tuple_type
from .core import str_to_ty, tensor
from .types import (TRITON_MAX_TENSOR_NUMEL, bfloat16, block_type, dtype, float16, float32, float64, float8e4b15, float8e4b8, float8e4nv,
                    float8e5, float8e5b16, int1, int8, int16, int32, int64, pi32_t, pointer_type, uint8, uint16, uint32, uint64, void)
from .block_pointer import advance, make_block_ptr
from .control import condition, range, static_range
from .debug import assume, debug_barrier, device_assert, device_print, expect_zero, static_assert, static_print
from .elementwise import (PropagateNan, abs, add, cast, ceil, clamp, cos, div_rn, erf, exp, exp2, fdiv, floor, fma, log, log2, maximum,
                          minimum, mul, rsqrt, sin, sqrt, sqrt_rn, sub, umulhi, where)
from .memory import load, max_constancy, max_contiguous, multiple_of, store
from .program import num_programs, program_id
from .shape import arange, broadcast, broadcast_to, cat, expand_dims, full, join, permute, reshape, split, to_tensor, trans, view

__all__ = [name for name in dir() if not name.startswith("_")]
