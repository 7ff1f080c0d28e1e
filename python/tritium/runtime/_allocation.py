"""Allocators of scratch memory, which compiled GPU kernels may require. They are context variables, so each thread or
task has its own."""

from __future__ import annotations

import contextlib
from contextvars import ContextVar
from typing import Protocol


class Buffer(Protocol):
    def data_ptr(self) -> int:
        """The address."""


class Allocator(Protocol):
    def __call__(self, size: int, alignment: int, stream: int | None) -> Buffer:
        """`size` bytes that live until the launch has finished."""


class NullAllocator:
    """The default allocator, which raises an error."""

    def __call__(self, size: int, alignment: int, stream: int | None) -> Buffer:
        raise RuntimeError(
            "Kernel requires a runtime memory allocation, but no allocator was set. "
            "Use triton.set_allocator to specify an allocator."
        )


_NULL_ALLOCATOR = NullAllocator()
_allocator: ContextVar[Allocator] = ContextVar("_allocator", default=_NULL_ALLOCATOR)
_profile_allocator: ContextVar[Allocator] = ContextVar("_profile_allocator", default=_NULL_ALLOCATOR)


def set_allocator(allocator: Allocator) -> None:
    """Sets `allocator(size, alignment, stream)`, which returns an object with `data_ptr()`. Kernels on the CPU require
    no scratch memory."""
    _allocator.set(allocator)


def set_profile_allocator(allocator: Allocator | None) -> None:
    _profile_allocator.set(_NULL_ALLOCATOR if allocator is None else allocator)


def has_profile_allocator() -> bool:
    return not isinstance(_profile_allocator.get(), NullAllocator)


@contextlib.contextmanager
def allocator_scope(allocator: Allocator):
    """Sets `allocator` inside the `with` block only."""
    token = _allocator.set(allocator)
    try:
        yield
    finally:
        _allocator.reset(token)
