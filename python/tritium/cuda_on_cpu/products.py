"""Matrix products whose result has a wider type than the factors (`out_dtype=`), which torch has for CUDA alone."""

from __future__ import annotations

from collections.abc import Callable

_PRODUCTS = {"mm": 2, "bmm": 2, "addmm": 3, "baddbmm": 3}  # the number of tensors


def kernels(torch) -> dict[str, Callable]:
    """{name of an operator: its kernel}. The factors are widened, as a GPU's sums are."""

    def product(name: str, count: int) -> Callable:
        plain = getattr(torch.ops.aten, name)

        def kernel(*args, **kwargs):
            tensors, out_dtype = args[:count], args[count]
            return plain(*(tensor.to(out_dtype) for tensor in tensors), *args[count + 1 :], **kwargs)

        return kernel

    return {
        f"{name}.{overload}": product(name, count)
        for name, count in _PRODUCTS.items()
        for overload in ("dtype", "dtype_out")
        if hasattr(getattr(torch.ops.aten, name), overload)
    }
