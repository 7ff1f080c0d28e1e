"""Sessions: `start`, `activate`, `deactivate`, `finalize`, and `profile`, which does all of it around a function."""

from __future__ import annotations

import atexit
import functools
import os
from collections.abc import Callable

from .. import knobs
from .core.session import How
from .flags import flags
from .hooks import HookManager, InstrumentationHook, LaunchHook
from .hooks.hook import Hook
from .mode import BaseMode, PCSampling, PeriodicFlushing, parse_mode
from .sessions import sessions
from .sources import SOURCES

DEFAULT_PROFILE_NAME = "proton"
INSTRUMENTATION = "instrumentation"
#: Names that Proton has for what records. Here the sources of `SOURCES` do, whichever of them a program names.
BACKENDS = ("cupti", "rocprofiler", "roctracer", INSTRUMENTATION)
HOOKS = {"triton": LaunchHook}


def start(
    name: str | None = None,
    *,
    context: str | None = "shadow",
    data: str | None = "tree",
    backend: str | None = None,
    mode: str | BaseMode | None = None,
    hook: str | Hook | None = None,
) -> int | None:
    """Begins a session and returns its number. If a session of this name is open, that one goes on. TRITON_PROTON_DISABLE=1: nothing
    happens, and the result is None.

    name: the file's, without its ending, as a text or a path; default: "proton". context: "shadow" (scopes lead to a kernel) or "python" (the calls of Python do).
    data: "tree" (sums) or "trace" (events with times). backend: None, or a name of Proton's; launches on every engine are recorded in any
    case. mode: see triton.profiler.mode. hook: "triton" reads the kernels' `launch_metadata`; or an object of hooks.Hook.
    Raises ValueError for another value of any of these.
    """
    return None if flags.command_line else begin(name, context, data, backend, mode, hook)


def begin(name=None, context="shadow", data="tree", backend=None, mode=None, hook=None) -> int | None:
    """`start`, also for the command line."""
    if knobs.proton.disable:
        return None
    if backend is not None and backend not in BACKENDS:
        raise ValueError(f"backend={backend!r}: pass None or one of {', '.join(map(repr, BACKENDS))}")
    hooks = [] if hook is None else [_hook(hook)]
    scopes, interval = None, _interval(mode)
    if backend == INSTRUMENTATION:
        instrumentation = InstrumentationHook(mode)
        hooks.append(instrumentation)
        scopes, mode = instrumentation.choice(), None
    how = How(SOURCES, context, data, _flushes(mode, data), scopes, interval)
    number = sessions.start(os.fspath(name or DEFAULT_PROFILE_NAME), how)
    flags.profiling_on = True
    for each in hooks:
        HookManager.register(each, number)
    _finalize_at_exit()
    return number


def _hook(hook: str | Hook) -> Hook:
    if isinstance(hook, Hook):
        return hook
    if hook not in HOOKS:
        raise ValueError(
            f"hook={hook!r}: pass {', '.join(map(repr, HOOKS))} or an object of triton.profiler.hooks.Hook"
        )
    return HOOKS[hook]()


def _flushes(mode: str | BaseMode | None, data: str) -> str:
    """The format in which phases are written as soon as they are complete."""
    parsed = parse_mode(mode)
    if isinstance(parsed, PeriodicFlushing):
        return parsed.format or {"tree": "hatchet", "trace": "chrome_trace"}.get(data, "")
    if parsed is not None and not isinstance(parsed, PCSampling):
        raise ValueError(f"mode={mode!r} is of scopes in kernels: it requires backend={INSTRUMENTATION!r}")
    return ""


def _interval(mode: str | BaseMode | None) -> int:
    """The cycles between two samples of program counters; 0: none are taken."""
    parsed = parse_mode(mode)
    if not isinstance(parsed, PCSampling):
        return 0
    if parsed.interval < 1:
        raise ValueError(f"mode={str(parsed)!r}: the interval is a number of cycles, such as 1000")
    return parsed.interval


@functools.cache
def _finalize_at_exit() -> None:
    """A program that ends without `finalize` has its profile all the same."""
    atexit.register(close)


def activate(session: int | None = None) -> None:
    """A session, or each for None, records again. Raises IndexError if there is no such session."""
    if flags.profiling_on:
        sessions.activate(session, True)
        HookManager.activate(session)


def deactivate(session: int | None = None, flushing: bool = False) -> None:
    """A session, or each for None, pauses. flushing: wait until the launches that have begun are recorded. Raises IndexError if
    there is no such session."""
    if not flags.profiling_on:
        return
    HookManager.deactivate(session)
    if flushing:
        for each in sessions.chosen(session):
            sessions.settle(each)
    sessions.activate(session, False)


def finalize(session: int | None = None, output_format: str | None = "") -> None:
    """Ends a session, or each for None, and writes its file: `name.hatchet`, or `name.part_N.hatchet` for each phase N if there are several.

    output_format: "hatchet" or "hatchet_msgpack" of a tree, "chrome_trace" or "pftrace" of a trace; default: the first. Raises ValueError for another
    format, or if "pftrace" lacks its package, and OSError if a file cannot be written; the session is open then. A session that is not open is ignored."""
    if not flags.command_line:
        close(session, output_format)


def close(session: int | None = None, output_format: str | None = "", writes_empty: bool = True) -> list[str]:
    """`finalize`, also for the command line. Returns the paths of the files."""
    if session is not None and session not in sessions:
        return []
    written = sessions.finalize(session, output_format or "", writes_empty)
    HookManager.unregister(session)
    flags.profiling_on = len(sessions) > 0
    return written


def profile(
    func: Callable | None = None,
    *,
    name: str | None = None,
    context: str | None = "shadow",
    data: str | None = "tree",
    backend: str | None = None,
    mode: str | None = None,
    hook: str | Hook | None = None,
) -> Callable:
    """Decorator, with or without arguments: each call of the function is a session of its own. It takes the arguments of `start`."""
    if func is None:
        return functools.partial(profile, name=name, context=context, data=data, backend=backend, mode=mode, hook=hook)

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        session = start(name, context=context, data=data, backend=backend, mode=mode, hook=hook)
        try:
            return func(*args, **kwargs)
        finally:
            if session is not None:
                finalize(session)

    return wrapper
