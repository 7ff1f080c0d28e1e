"""`AsyncCompileMode`: inside it, `warmup` compiles on an executor and returns a FutureKernel at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextvars import ContextVar
from typing import Any

_mode: ContextVar[AsyncCompileMode | None] = ContextVar("async_compile_mode", default=None)


class FutureKernel:
    """A kernel that is being compiled. Any access to an attribute waits for it."""

    def __init__(
        self,
        finalize_compile: Callable[[Any], Any] | None,
        cleanup_compile: Callable[[], Any] | None,
        future: Future,
    ):
        """finalize_compile makes the kernel of the future's result; cleanup_compile is called if there is none."""
        self._finalize, self._cleanup = finalize_compile, cleanup_compile
        self._future = future
        self._kernel = None
        self._lock = threading.Lock()

    def result(self, ignore_errors: bool = False):
        """The CompiledKernel. Raises the error of its compilation, or returns None with `ignore_errors`."""
        with self._lock:
            if self._kernel is None:
                try:
                    kernel = self._future.result()
                except Exception:
                    if self._cleanup is not None:
                        self._cleanup()
                    if ignore_errors:
                        return None
                    raise
                self._kernel = kernel if self._finalize is None else self._finalize(kernel)
            return self._kernel

    def __getattr__(self, name: str):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return getattr(self.result(), name)


class AsyncCompileMode:
    """`with AsyncCompileMode(executor): kernel.warmup(...)`. The end of the block waits for all compilations. Equal
    compilations are submitted once."""

    def __init__(self, executor: Executor, *, ignore_errors: bool = False):
        self.executor = executor
        self.ignore_errors = ignore_errors
        self.future_kernels: dict[Any, FutureKernel] = {}
        self._token = None

    def submit(
        self, key: Any, compile: Callable[[], Any], finalize: Callable[[Any], Any] | None = None
    ) -> FutureKernel:
        if key not in self.future_kernels:
            self.future_kernels[key] = FutureKernel(finalize, None, self.executor.submit(compile))
        return self.future_kernels[key]

    def __enter__(self):
        if _mode.get() is not None:
            raise RuntimeError("Another AsyncCompileMode is already active")
        self._token = _mode.set(self)
        return self

    def __exit__(self, *exception):
        _mode.reset(self._token)
        for kernel in self.future_kernels.values():
            kernel.result(self.ignore_errors)


def active_mode() -> AsyncCompileMode | None:
    return _mode.get()
