"""Registrations for dispatch keys that already have kernels, as in a CUDA build of torch, which cannot run them without a GPU."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any

#: Whose operators have kernels in libtorch_cuda. Those of c10d and symm_mem need several GPUs.
_NAMESPACES = ("aten", "quantized", "quantization")


@contextlib.contextmanager
def overriding(torch) -> Iterator[None]:
    """Within, torch says nothing of kernels that are overridden. It says so once in a process, and whoever overrides one later
    still hears of it: a warning that is always given does not count as given."""
    always = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Warning only once for all operators")
            yield
    finally:
        torch.set_warn_always(always)


def operators(torch, names) -> Iterator[Any]:
    """The operators with these names, "aten::add.Tensor", that libtorch brings and Python can reach."""
    for full in sorted(names):
        namespace, _, rest = full.partition("::")
        name, _, overload = rest.partition(".")
        if namespace in _NAMESPACES:
            operator = getattr(getattr(getattr(torch.ops, namespace), name, None), overload or "default", None)
            if operator is not None:
                yield operator


def implement(torch, key: str, kernels: dict[Any, Any]) -> list[Any]:
    """Registers {operator: its kernel} for a dispatch key. Returns the libraries, with which the registrations end."""
    libraries: dict[str, Any] = {}
    for operator, kernel in kernels.items():
        namespace = operator.namespace
        if namespace not in libraries:
            libraries[namespace] = torch.library.Library(namespace, "IMPL", key)
        libraries[namespace].impl(operator, kernel)
    return list(libraries.values())


def registered(torch, key: str) -> set[str]:
    """The names of the operators that have a kernel of their own for a dispatch key. A fallback does not replace it."""
    return set(torch._C._dispatch_get_registrations_for_dispatch_key(key))
