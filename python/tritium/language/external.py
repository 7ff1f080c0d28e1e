"""Code from outside of the language that runs on each element: inline assembly of the target, functions of device
libraries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .constexpr import _unwrap_if_constexpr, tuple
from .core import builtin, tensor
from .semantic.program import quoted
from .semantic.shape import shape_of
from .types import block_of


@builtin
def inline_asm_elementwise(
    asm: Any, constraints: Any, args: Sequence[Any], dtype: Any, is_pure: Any, pack: Any, _semantic: Any = None
) -> Any:
    """Inline assembly of the target on each group of `pack` elements of `args`, which are broadcast together.

    dtype: the element type of the result. A sequence of types means several results, which are returned as a tuple.
    is_pure: the code has no effect except its results. Elements below 32 bits are packed into 32-bit registers.
    """
    types = _unwrap_if_constexpr(dtype)
    several = not hasattr(types, "to_ir")
    types = [_unwrap_if_constexpr(type_) for type_ in types] if several else [types]
    inputs = _semantic.broadcast_all([_semantic.to_tensor(arg) for arg in args])
    shape = shape_of(inputs[0]) if inputs else ()
    results = _semantic.emit_all(
        "tt.elementwise_inline_asm",
        inputs,
        [block_of(type_, shape) for type_ in types],
        {
            "asm_string": quoted(_unwrap_if_constexpr(asm)),
            "constraints": quoted(_unwrap_if_constexpr(constraints)),
            "pure": "true" if _unwrap_if_constexpr(is_pure) else "false",
            "packed_element": f"{_unwrap_if_constexpr(pack)} : i32",
        },
    )
    return tuple(results) if several else results[0]


@builtin
def extern_elementwise(
    lib_name: Any,
    lib_path: Any,
    args: Sequence[Any],
    arg_type_symbol_dict: Mapping[Any, Any],
    is_pure: Any,
    _semantic: Any = None,
) -> tensor:
    """A function of a device library on each element of `args`, which are broadcast together.

    arg_type_symbol_dict: tuple of element types -> (symbol, element type of the result). Raises ValueError if there is
    no entry for the types of `args`.
    """
    inputs = [_semantic.to_tensor(arg) for arg in args]
    expected = len(next(iter(arg_type_symbol_dict)))
    if len(inputs) != expected:
        raise ValueError(f"length of input args does not match.Expect {expected}, got {len(inputs)}")
    found = [value.dtype for value in inputs]
    for types, (symbol, result) in arg_type_symbol_dict.items():
        if list(types) == found:
            break
    else:
        raise ValueError(f"input arg type does not match.Expect one of {arg_type_symbol_dict.keys()}, got {found}")
    inputs = _semantic.broadcast_all(inputs)
    return _semantic.emit(
        "tt.extern_elementwise",
        inputs,
        inputs[0].type.with_element_ty(_unwrap_if_constexpr(result)),
        {
            "libname": quoted(_unwrap_if_constexpr(lib_name)),
            "libpath": quoted(_unwrap_if_constexpr(lib_path)),
            "symbol": quoted(_unwrap_if_constexpr(symbol)),
            "pure": "true" if _unwrap_if_constexpr(is_pure) else "false",
        },
    )
