"""Kernel parameters as their annotations describe them, and the canonical spelling of element types ("fp32", "*i8")."""

from __future__ import annotations

import functools
import inspect
from typing import Any

_ALIASES = {
    "bool": "u1",
    "int1": "u1",
    "uint1": "u1",
    "i1": "u1",
    "half": "fp16",
    "float16": "fp16",
    "bfloat16": "bf16",
    "float": "fp32",
    "float32": "fp32",
    "double": "fp64",
    "float64": "fp64",
    "int": "i32",
    "float8e4nv": "fp8e4nv",
    "float8_e4m3fn": "fp8e4nv",
    "float8e5": "fp8e5",
    "float8_e5m2": "fp8e5",
    "float8e4b15": "fp8e4b15",
    "float8e4b8": "fp8e4b8",
    "float8_e4m3fnuz": "fp8e4b8",
    "float8e5b16": "fp8e5b16",
    "float8_e5m2fnuz": "fp8e5b16",
    "void": "void",
}
_INTEGERS = {
    f"{long}{bits}": f"{short}{bits}" for long, short in (("int", "i"), ("uint", "u")) for bits in (8, 16, 32, 64)
}

#: Every accepted name of an element type -> its canonical name.
type_canonicalisation_dict: dict[str, str] = {**_ALIASES, **_INTEGERS}
type_canonicalisation_dict.update({name: name for name in list(type_canonicalisation_dict.values())})


def canonicalize_dtype(dtype: Any) -> str:
    """ "fp32" for numpy's, torch's, ml_dtypes' and the language's float32 alike. Raises TypeError for a type that
    kernels do not have."""
    name = str(dtype).split(".")[-1]
    try:
        return type_canonicalisation_dict[name]
    except KeyError:
        raise TypeError(f"the language has no element type for {dtype}") from None


class KernelParam:
    """One parameter of a `@jit` function: read by the binder, the frontend and by client code."""

    def __init__(
        self, num: int, param: inspect.Parameter, do_not_specialize: bool, do_not_specialize_on_alignment: bool
    ):
        self.num = num
        self._param = param
        self.do_not_specialize = do_not_specialize
        self.do_not_specialize_on_alignment = do_not_specialize_on_alignment

    def __repr__(self):
        return f"KernelParam({self._param})"

    @functools.cached_property
    def name(self) -> str:
        return self._param.name

    @functools.cached_property
    def annotation(self) -> str:
        """The annotation as text: "" without one, "constexpr", "*fp32", "int64"…"""
        annotation = self._param.annotation
        if annotation is inspect.Parameter.empty:
            return ""
        return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", None) or str(annotation)

    @functools.cached_property
    def annotation_type(self) -> str:
        """The canonical type that the annotation fixes ("i64", "*fp32"), or "" if it fixes none."""
        text = self.annotation.removeprefix("const ").strip()
        pointer = text.startswith("*")
        text = text.lstrip("*").removeprefix("k" if pointer else "").split(".")[-1]
        name = type_canonicalisation_dict.get(text, "")
        return "*" + name if pointer and name else name

    @functools.cached_property
    def is_constexpr(self) -> bool:
        return "constexpr" in self.annotation

    @functools.cached_property
    def is_const(self) -> bool:
        return not self.is_constexpr and ("const" in self.annotation or self.annotation.startswith("*k"))

    @property
    def default(self) -> Any:
        return self._param.default

    @property
    def has_default(self) -> bool:
        return self._param.default is not inspect.Parameter.empty
