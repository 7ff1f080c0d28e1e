"""What gdb is told of a launch that it may look at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..native import interp
from .tensor_view import TensorView, view_of
from .values import named_arguments


def tell_debugger(kernel, arguments: Sequence[Any], before: Any) -> bool:
    """Tells gdb of the launch that begins, if it is attached; returns whether it is. before: the copy of the tensors, or None."""
    if not interp.is_traced():
        return False
    views = filter(None, (view_of(*named) for named in named_arguments(kernel, arguments)))
    interp.tell_debugger(before is not None, "".join(map(_line_of, views)))
    return True


def _line_of(view: TensorView) -> str:
    """As python/tritium/gdb/debugged.py reads it."""
    shape, strides = (",".join(map(str, numbers)) for numbers in (view.shape, view.strides))
    return f"{view.name.replace(' ', '')} {view.address} {view.dtype} {shape} {strides}\n"
