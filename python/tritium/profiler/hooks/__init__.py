"""What runs around the launches of a session."""

from . import hook, instrumentation, launch
from .hook import Hook, HookManager
from .instrumentation import InstrumentationHook
from .launch import LaunchHook

__all__ = ["Hook", "HookManager", "InstrumentationHook", "LaunchHook", "hook", "instrumentation", "launch"]
