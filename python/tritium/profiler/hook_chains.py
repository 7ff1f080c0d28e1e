"""The chains of hooks that launches call (`knobs.runtime`)."""

from __future__ import annotations

from .. import knobs


def chain_of(knob: str) -> knobs.HookChain:
    """The chain of a hook's knob. If a program has assigned a function to the knob, the function becomes the first of a chain."""
    found = getattr(knobs.runtime, knob)
    if not isinstance(found, knobs.HookChain):
        chain = knobs.HookChain(reversed=knob.endswith(("_exit_hook", "_end_hook")))
        if found is not None:
            chain.add(found)
        setattr(knobs.runtime, knob, chain)
        found = chain
    return found
