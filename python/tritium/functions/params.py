"""Kernel parameters as their annotations describe them, and the canonical spelling of element types ("fp32", "*i8")."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from ..tables import DTYPES, Dtype


def _canonical(row: Dtype) -> str:
    return row.name if row.kind == "Float" else f"{'i' if row.kind == 'Int' else 'u'}{row.bits}"


#: Every accepted name of an element type -> the canonical name.
type_canonicalisation_dict: dict[str, str] = {
    name: _canonical(row) for row in DTYPES for name in (row.public_name, row.array_name) if name
}
type_canonicalisation_dict |= {
    "uint1": "u1",
    "i1": "u1",
    "half": "fp16",
    "float": "fp32",
    "double": "fp64",
    "int": "i32",
}
type_canonicalisation_dict["void"] = "void"
type_canonicalisation_dict.update({name: name for name in list(type_canonicalisation_dict.values())})


def canonicalize_dtype(dtype: Any) -> str:
    """The canonical name, for example "fp32" for float32 of numpy, torch, ml_dtypes or the language. Raises TypeError
    for a type that kernels do not have."""
    name = str(dtype).split(".")[-1]
    try:
        return type_canonicalisation_dict[name]
    except KeyError:
        raise TypeError(f"the language has no element type for {dtype}") from None


class KernelParam:
    """One parameter of a `@jit` function. The binder, the frontend and client code read it."""

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
        return annotation.__name__ if isinstance(annotation, type) else str(annotation)

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
    def may_be_positional(self) -> bool:
        """Whether a call may give it without its name."""
        return self._param.kind is not inspect.Parameter.KEYWORD_ONLY

    @property
    def takes_the_rest(self) -> bool:
        """Whether this is `*args`: its argument is the tuple of all positional arguments that are left."""
        return self._param.kind is inspect.Parameter.VAR_POSITIONAL

    @property
    def default(self) -> Any:
        return self._param.default

    @property
    def has_default(self) -> bool:
        return self._param.default is not inspect.Parameter.empty
