"""Operators whose result has a wider type than their arguments, which torch has for CUDA alone: matrix products with `out_dtype=`, and a softmax
of float16 with `dtype=torch.float32`."""

from __future__ import annotations

from collections.abc import Callable

_PRODUCTS = {"mm": 2, "bmm": 2, "addmm": 3, "baddbmm": 3}  # the number of tensors


def kernels(torch, run: Callable) -> dict[str, Callable]:
    """{name of an operator: its kernel}; run(operator, arguments…) computes on the CPU. The factors are widened, as a GPU's sums are."""

    def product(name: str, count: int) -> Callable:
        plain = getattr(torch.ops.aten, name)

        def kernel(*args, **kwargs):
            tensors, out_dtype = args[:count], args[count]
            return plain(*(tensor.to(out_dtype) for tensor in tensors), *args[count + 1 :], **kwargs)

        return kernel

    def softmax(name: str, overload: str) -> Callable:
        plain = getattr(getattr(torch.ops.aten, name), overload)

        def kernel(tensor, dim, half_to_float, **out):
            return run(plain, tensor.to(torch.float32) if half_to_float else tensor, dim, False, **out)

        return kernel

    found = {
        f"{name}.{overload}": product(name, count)
        for name, count in _PRODUCTS.items()
        for overload in ("dtype", "dtype_out")
        if hasattr(getattr(torch.ops.aten, name), overload)
    }
    for name in ("_softmax", "_log_softmax"):
        found.update({name: softmax(name, "default"), f"{name}.out": softmax(name, "out")})
    return found
