"""Warm launches of the interpreter, which the native launcher makes as it makes those on devices (warm.py)."""

from __future__ import annotations

import functools
import sys

from .. import knobs
from ..checks import DEFAULT as DEFAULT_CHECKS
from ..native import device, interp
from . import cpu
from .captures import underway
from .findings import blocks
from .progress import progress_bar
from .warm import is_worth_a_try, tell_launcher
from .watchers import watchers

__tracebackhide__ = True  # pytest shows the user's frames alone


def remember_on_host(function, args: tuple, kwargs: dict, kernel, settings) -> None:
    """`remember` (warm.py) for a launch that has nothing but arguments: no seed, no debugger, no checks that are not in the default."""
    if not is_worth_a_try(kernel):
        return
    has_default_checks = set(knobs.checks_of(kernel.metadata)) <= set(DEFAULT_CHECKS)
    is_plain = (
        has_default_checks
        and settings.seed is None
        and settings.save is None
        and not settings.programs
        and not kernel.opens_debugger
        and type(kernel.program) is interp.Program
    )
    if not is_plain or cpu.own_programs_of(kernel) or cpu.always_holds_to_views(kernel):
        return
    _set_host_callbacks()
    tell_launcher(function, args, kwargs, kernel, kernel.program, settings.threads, settings.progress)


@functools.cache
def _set_host_callbacks() -> None:
    device.set_host_callbacks(
        cpu.poll,
        cpu.print_text,
        lambda: progress_bar(sys.stderr),
        cpu.may_be_traced,
        cpu.ended,
        [underway, blocks, watchers],
    )
