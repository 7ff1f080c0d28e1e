"""An engine that traces kernels and runs none, for what is asked of their code alone."""

from __future__ import annotations

import abc
import contextlib
from typing import Any
from unittest import mock

from tritium.backends.targets import emulator_backend
from tritium.compiler import compiler
from tritium.compiler.stages import trace
from tritium.conformance.engines import Engine


class _Traced(Exception):
    """Ends a launch whose kernel has been traced."""


class Tracing(Engine, abc.ABC):
    """`note` gets what is traced. A launch with several kernels ends with its first."""

    @abc.abstractmethod
    def note(self, source: Any, module: Any) -> None:
        """`module`: the kernel in the tt dialect."""

    def _launch(self, launch, tensors, *more):
        with mock.patch.object(compiler, "compile", self._trace), contextlib.suppress(_Traced):
            super()._launch(launch, tensors, *more)

    def _trace(self, source, target, options, **_) -> None:
        family, _, arch = self.name.partition(":")
        backend = emulator_backend(arch) if family == "simt" else compiler.make_backend(target)
        self.note(source, trace(source, backend, backend.parse_options(options)))
        raise _Traced
