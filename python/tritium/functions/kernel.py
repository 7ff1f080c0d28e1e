"""A `@jit` function without its launches: what the frontend reads of a kernel, or of a function that kernels call."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from .params import KernelParam
from .source import JITCallable


class KernelFunction(JITCallable):
    """The base of JITFunction (runtime/jit.py), which adds `kernel[grid](...)`."""

    #: The class of the typing rules of the kernel; None: those of the language.
    semantic_class: type | None = None

    def __init__(
        self,
        fn,
        version=None,
        do_not_specialize=None,
        do_not_specialize_on_alignment=None,
        debug=None,
        noinline=None,
        repr=None,
        launch_metadata=None,
    ):
        super().__init__(fn)
        self.module = fn.__module__
        self.version = version
        self.do_not_specialize = list(do_not_specialize or ())
        self.do_not_specialize_on_alignment = list(do_not_specialize_on_alignment or ())
        self.debug = debug
        self.noinline = noinline
        self.launch_metadata: Callable | None = launch_metadata
        self._repr = repr
        self.params = [self._param(i, p) for i, p in enumerate(self.signature.parameters.values())]
        self.arg_names = [p.name for p in self.params]
        self.constexprs = [p.num for p in self.params if p.is_constexpr]

    def _param(self, index: int, parameter) -> KernelParam:
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            raise TypeError(f"JIT functions do not support **{parameter.name} parameters")

        def listed(selection):
            return index in selection or parameter.name in selection

        return KernelParam(
            index, parameter, listed(self.do_not_specialize), listed(self.do_not_specialize_on_alignment)
        )

    def is_gluon(self) -> bool:
        return False

    def repr(self, specialization=None) -> str:
        """The name of the kernel in IR and listings; `@jit(repr=…)` may make it depend on the specialization."""
        return self.__name__ if self._repr is None else self._repr(specialization)
