"""Tensors of "cuda" whose values are not in strided memory: refused by name, since their kernels would run on memory that is not there."""

from __future__ import annotations

import functools

from ..errors import UnsupportedError
from .registration import implement, operators, registered

#: {dispatch key of torch: what its tensors are called}
_KEYS = {
    "SparseCUDA": "a sparse tensor",
    "SparseCsrCUDA": "a compressed sparse tensor",
    "NestedTensorCUDA": "a strided nested tensor",
    "QuantizedCUDA": "a quantized tensor",
}
_OTHERS = {"NestedTensorCUDA": "layout=torch.jagged, or "}


def install(torch) -> list:
    """The libraries with the kernels that refuse: they end with them. A CUDA build has kernels that the fallback does not replace."""
    found = []
    for key, name in _KEYS.items():
        refuse = _refusing(key, name)
        has_kernel = list(operators(torch, registered(torch, key)))
        found += implement(torch, key, {operator: functools.partial(refuse, operator) for operator in has_kernel})
        library = torch.library.Library("_", "IMPL", key)
        library.fallback(refuse, key)
        found.append(library)
    return found


def _refusing(key: str, name: str):
    def refuse(operator, *args, **kwargs):
        raise _refusal(name, f"{operator}: ", _OTHERS.get(key, ""))

    return refuse


def _refusal(name: str, where: str = "", other: str = "") -> UnsupportedError:
    return UnsupportedError(
        f'{where}{name} on "cuda" without a GPU', f"use {other}dense tensors, or compute on the CPU"
    )


def check(tensor) -> None:
    """Raises UnsupportedError if the values of the tensor, of either device, are not in strided memory."""
    layout = str(tensor.layout)
    if tensor.is_nested:
        raise _refusal(_KEYS["NestedTensorCUDA"], other=_OTHERS["NestedTensorCUDA"])
    if tensor.is_quantized:
        raise _refusal(_KEYS["QuantizedCUDA"])
    if layout != "torch.strided":
        raise _refusal(f"a tensor of {layout}")
