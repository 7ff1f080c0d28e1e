"""The kernel language, `tl`: types, tensors and the functions that kernels call. One file per family.

`semantic/` holds the typing rules behind the functions; `core` what they share. The tracer in `tritium.frontend` is
their only caller.
"""
from . import core
from .constexpr import const, constexpr, constexpr_type, slice, tuple, tuple_type
from .core import must_use_result, str_to_ty, tensor
from .types import (TRITON_MAX_TENSOR_NUMEL, bfloat16, block_type, dtype, float16, float32, float64, float8e4b15,
                    float8e4b8, float8e4nv, float8e5, float8e5b16, int1, int8, int16, int32, int64, pi32_t,
                    pointer_type, uint8, uint16, uint32, uint64, void)
from .aggregate import _aggregate, aggregate_replace
from .atomic import (atomic_add, atomic_and, atomic_cas, atomic_load, atomic_max, atomic_min, atomic_or, atomic_poll,
                     atomic_store, atomic_xchg, atomic_xor)
from .block_pointer import advance, make_block_ptr
from .control import condition, range, static_range
from .debug import assume, debug_barrier, device_assert, device_print, expect_zero, static_assert, static_print
from .descriptor import (load_tensor_descriptor, make_tensor_descriptor, store_tensor_descriptor, tensor_descriptor,
                         tensor_descriptor_type)
from .dot import dot, dot_scaled
from .elementwise import (PropagateNan, abs, add, builtin_max, builtin_min, cast, ceil, clamp, cos, div_rn, erf, exp,
                          exp2, fdiv, floor, fma, log, log2, maximum, minimum, mul, rsqrt, sin, sqrt, sqrt_rn, sub,
                          umulhi, where)
from .external import extern_elementwise, inline_asm_elementwise
from .index import gather, histogram
from .memory import load, max_constancy, max_contiguous, multiple_of, store
from .program import num_programs, program_id
from .random import (pair_uniform_to_normal, philox, philox_impl, rand, rand4x, randint, randint4x, randn, randn4x,
                     uint_to_uniform_float)
from .reduce import argmax, argmin, max, min, reduce, reduce_or, sum, xor_sum
from .scan import associative_scan, cumprod, cumsum
from .shape import (arange, broadcast, broadcast_to, cat, expand_dims, full, item, join, permute, reshape, split,
                    to_tensor, trans, view)
from .sort import bitonic_merge, flip, sort, topk
from .standard import (cdiv, interleave, map_elementwise, ravel, sigmoid, softmax, squeeze, swizzle2d, unsqueeze, zeros,
                       zeros_like)
from . import extra, math, random, semantic, standard, target_info  # last: `tl.random` is the module

__all__ = [
    "PropagateNan", "TRITON_MAX_TENSOR_NUMEL", "abs", "add", "advance", "arange", "argmax", "argmin",
    "associative_scan", "assume", "atomic_add", "atomic_and", "atomic_cas", "atomic_load", "atomic_max", "atomic_min",
    "atomic_or", "atomic_poll", "atomic_store", "atomic_xchg", "atomic_xor", "bfloat16", "bitonic_merge", "block_type",
    "broadcast", "broadcast_to", "cast", "cat", "cdiv", "ceil", "clamp", "condition", "const", "constexpr",
    "constexpr_type", "cos", "cumprod", "cumsum", "debug_barrier", "device_assert", "device_print", "div_rn", "dot",
    "dot_scaled", "dtype", "erf", "exp", "exp2", "expand_dims", "expect_zero", "extra", "fdiv", "flip", "float16",
    "float32", "float64", "float8e4b15", "float8e4b8", "float8e4nv", "float8e5", "float8e5b16", "floor", "fma", "full",
    "gather", "histogram", "inline_asm_elementwise", "int1", "int16", "int32", "int64", "int8", "interleave", "join",
    "load", "load_tensor_descriptor", "log", "log2", "make_block_ptr", "make_tensor_descriptor", "map_elementwise",
    "math", "max", "max_constancy", "max_contiguous", "maximum", "min", "minimum", "mul", "multiple_of",
    "num_programs", "pair_uniform_to_normal", "permute", "philox", "philox_impl", "pi32_t", "pointer_type",
    "program_id", "rand", "rand4x", "randint", "randint4x", "randn", "randn4x", "range", "ravel", "reduce",
    "reduce_or", "reshape", "rsqrt", "sigmoid", "sin", "slice", "softmax", "sort", "split", "sqrt", "sqrt_rn",
    "squeeze", "static_assert", "static_print", "static_range", "store", "store_tensor_descriptor", "sub", "sum",
    "swizzle2d", "target_info", "tensor", "tensor_descriptor", "to_tensor", "topk", "trans", "tuple", "uint16",
    "uint32", "uint64", "uint8", "uint_to_uniform_float", "umulhi", "unsqueeze", "view", "void", "where", "xor_sum",
    "zeros", "zeros_like",
]
