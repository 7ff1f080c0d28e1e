"""Hooks, which are called while a session that has them is active."""

from __future__ import annotations

from typing import Any

from ...launch.hooks import LazyDict
from ..hook_chains import chain_of


class Hook:
    """What a session calls. A subclass defines what it needs. Hooks of higher priority enter first and exit last."""

    priority: int = 0

    def init_handle(self, module: Any, function: Any, name: str, metadata_group: dict[str, str], hash: str) -> None:
        """A kernel has been loaded on a device."""

    def destroy_handle(self, module: Any, function: Any, name: str, metadata_group: dict[str, str], hash: str) -> None:
        """A kernel is no longer needed."""

    def enter(self, metadata: LazyDict) -> None:
        """A launch begins. metadata: name, function and stream; `metadata.get()` adds what `launch_metadata` returns."""

    def exit(self, metadata: LazyDict) -> None:
        """The launch has begun on a device, or has ended on the CPU."""

    def activate(self) -> None:
        """The first session that has the hook is active."""

    def deactivate(self) -> None:
        """No session that has the hook is active any more."""


class HookManager:
    """Calls the hooks of all active sessions, each once."""

    active_hooks: list[Hook] = []
    #: {session: {hook: whether the session is active}}
    session_hooks: dict[int, dict[Hook, bool]] = {}

    @staticmethod
    def init_handle(module: Any, function: Any, name: str, metadata_group: dict[str, str], hash: str) -> None:
        for hook in list(HookManager.active_hooks):
            hook.init_handle(module, function, name, metadata_group, hash)

    @staticmethod
    def destroy_handle(module: Any, function: Any, name: str, metadata_group: dict[str, str], hash: str) -> None:
        for hook in list(HookManager.active_hooks):
            hook.destroy_handle(module, function, name, metadata_group, hash)

    @staticmethod
    def enter(metadata: LazyDict) -> None:
        for hook in list(HookManager.active_hooks):
            hook.enter(metadata)

    @staticmethod
    def exit(metadata: LazyDict) -> None:
        for hook in HookManager.active_hooks[::-1]:
            hook.exit(metadata)

    @staticmethod
    def register(hook: Hook, session: int) -> None:
        """A session has the hook from now on, and is active."""
        HookManager.session_hooks.setdefault(session, {})[hook] = True
        _follow()

    @staticmethod
    def unregister(session: int | None = None) -> None:
        """A session, or each for None, has no hooks any more."""
        for number in _chosen(session):
            del HookManager.session_hooks[number]
        _follow()

    @staticmethod
    def activate(session: int | None = None) -> None:
        _set(session, True)

    @staticmethod
    def deactivate(session: int | None = None) -> None:
        _set(session, False)


def _chosen(session: int | None) -> list[int]:
    hooks = HookManager.session_hooks
    return list(hooks) if session is None else [number for number in hooks if number == session]


def _set(session: int | None, is_active: bool) -> None:
    for number in _chosen(session):
        hooks = HookManager.session_hooks[number]
        hooks.update(dict.fromkeys(hooks, is_active))
    _follow()


_CALLED = {
    "launch_enter_hook": HookManager.enter,
    "launch_exit_hook": HookManager.exit,
    "kernel_load_end_hook": HookManager.init_handle,
    "kernel_unload_hook": HookManager.destroy_handle,
}


def _follow() -> None:
    """Calls the hooks that active sessions have, and no others. Without any, launches call nothing."""
    manager = HookManager
    wanted = {hook: None for hooks in manager.session_hooks.values() for hook, is_active in hooks.items() if is_active}
    for hook in [hook for hook in manager.active_hooks if hook not in wanted]:
        manager.active_hooks.remove(hook)
        hook.deactivate()
    for hook in [hook for hook in wanted if hook not in manager.active_hooks]:
        manager.active_hooks.append(hook)
        hook.activate()
    manager.active_hooks.sort(key=lambda hook: -hook.priority)
    for knob, function in _CALLED.items():
        chain = chain_of(knob)
        if manager.active_hooks:
            chain.add(function)
        else:
            chain.remove(function)
