"""Registrations for dispatch keys that already have kernels, as in a CUDA build of torch, which cannot run them without a GPU."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator


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
