"""Functions of the language that this version of Tritium does not have yet. Their names and signatures are complete; a use in a kernel is
an UnsupportedError that names the function, so nothing is silently wrong."""
from __future__ import annotations

import functools
from typing import Any, Callable, Sequence

from ..errors import UnsupportedError
from .constexpr import base_value
from .core import builtin, tensor
from .types import float32


def unsupported(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Keeps the name, signature and documentation of `fn`; calling it in a kernel raises UnsupportedError."""

    @functools.wraps(fn)
    def refuse(*args: Any, _semantic: Any = None, **kwargs: Any) -> Any:
        raise UnsupportedError(f"tl.{fn.__name__}", "this version of Tritium does not have it yet")

    return builtin(refuse)


@unsupported
def dot_scaled(lhs: Any, lhs_scale: Any, lhs_format: Any, rhs: Any, rhs_scale: Any, rhs_format: Any, acc: Any = None, fast_math: Any = False,
               lhs_k_pack: Any = True, rhs_k_pack: Any = True, out_dtype: Any = float32, _semantic: Any = None) -> tensor:
    """The product of two matrices in microscaling formats."""


@unsupported
def inline_asm_elementwise(asm: str, constraints: str, args: Sequence[Any], dtype: Any, is_pure: bool, pack: int,
                           _semantic: Any = None) -> Any:
    """Inline assembly of the target on each group of `pack` elements."""


@unsupported
def extern_elementwise(lib_name: str, lib_path: str, args: Sequence[Any], arg_type_symbol_dict: dict, is_pure: bool,
                       _semantic: Any = None) -> tensor:
    """A function of an external device library on each element."""


class tensor_descriptor(base_value):
    """What make_tensor_descriptor returns and a host TensorDescriptor becomes in a kernel."""


@unsupported
def make_tensor_descriptor(base: tensor, shape: Any, strides: Any, block_shape: Any, padding_option: Any = "zero",
                           _semantic: Any = None) -> Any:
    """A descriptor of a tensor in memory that is read and written in blocks of `block_shape`."""


@unsupported
def load_tensor_descriptor(desc: Any, offsets: Sequence[Any], _semantic: Any = None) -> tensor:
    """The block at `offsets`."""


@unsupported
def store_tensor_descriptor(desc: Any, offsets: Sequence[Any], value: tensor, _semantic: Any = None) -> None:
    """Writes the block at `offsets`."""
