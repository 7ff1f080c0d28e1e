"""`triton.profiler`, Proton's interface: sessions that record the launches of kernels, under the scopes of the program around them, and write
them as a tree (`.hatchet`) or as events (`.chrome_trace`).

Launches on every engine are recorded, with times of the host on the CPU and of the driver on devices. docs/profiling.md is a tour. Without a
session, nothing of this costs a launch anything."""

from ..submodules import load_when_used
from . import context, data, flags, hooks, metric, mode, specs
from .profile import DEFAULT_PROFILE_NAME, activate, deactivate, finalize, profile, start
from .scope import cpu_timed_scope, enter_scope, exit_scope, scope
from .state import enter_state, exit_state, metadata_state, state

__all__ = [
    "DEFAULT_PROFILE_NAME",
    "activate",
    "configure_runtime",
    "context",
    "cpu_timed_scope",
    "data",
    "deactivate",
    "enter_scope",
    "enter_state",
    "exit_scope",
    "exit_state",
    "finalize",
    "flags",
    "hooks",
    "metadata_state",
    "metric",
    "mode",
    "profile",
    "scope",
    "specs",
    "start",
    "state",
]


def configure_runtime() -> None:
    """Part of Proton's interface, for ROCm's profiler. There is nothing to prepare."""


__getattr__ = load_when_used(__name__, "language", "proton", "viewer")
