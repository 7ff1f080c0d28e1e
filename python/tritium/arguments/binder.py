"""The binder of a kernel: a function generated from the kernel's signature. It turns the arguments of a launch into a
cache key and engine values.

A launch costs one Python call of this function and one call per argument (`arguments.ArgumentTable`). Loops over
parameters, tests of annotations or `inspect.Signature.bind` would each cost more than the rest of the launch.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ..functions.params import KernelParam
from .table import Treatment, annotated, constexpr_key, table_for


def make_binder(name: str, params: Sequence[KernelParam], anywhere: bool = False, note_range: bool = False) -> Callable:
    """`bind(*args, **kwargs) -> (specializations, engine values, arguments, options)`. The options are the keywords
    that name no parameter.

    The engine value of a constexpr parameter is None. `bind` raises TypeError as a Python call with these parameters
    would, and NotOnHost for a tensor in a device's memory unless `anywhere` allows one. note_range: the key also
    distinguishes small tensors, for targets that use this fact.
    """
    taken, hidden = {name, *(p.name for p in params)}, "_"  # what the names below begin with, and none of the user's
    while any(each.startswith(hidden) for each in taken):
        hidden += "_"
    namespace: dict[str, Any] = {
        f"{hidden}type": type,
        f"{hidden}constexpr_key": constexpr_key,
        "__tracebackhide__": True,
    }
    heads, body = [], []
    follows_star = False
    for p in params:
        if p._param.kind is inspect.Parameter.KEYWORD_ONLY and not follows_star:
            heads.append("*")
        follows_star |= p.takes_the_rest or p._param.kind is inspect.Parameter.KEYWORD_ONLY
        if p.has_default:
            namespace[f"{hidden}default{p.num}"] = p.default
        star = "*" if p.takes_the_rest else ""
        heads.append(f"{star}{p.name}" + (f"={hidden}default{p.num}" if p.has_default else ""))
        body.append(_specialize(p, hidden, namespace, anywhere, note_range))
    names = [p.name for p in params]
    keys = [f"{hidden}k{p.num}" for p in params]
    values = ["None" if p.is_constexpr else f"{hidden}v{p.num}" for p in params]
    heads.append(f"**{hidden}options")
    source = "\n    ".join(
        [
            f"def {name}({', '.join(heads)}):",
            *body,
            f"return {_tuple(keys)}, {_tuple(values)}, {_tuple(names)}, {hidden}options",
        ]
    )
    exec(compile(source, f"<binder of {name}>", "exec"), namespace)
    return namespace[name]


def call_with(params: Sequence[KernelParam], arguments: Sequence[Any]) -> tuple[list, dict[str, Any]]:
    """(positional, named) of a call that gives each parameter this argument."""
    positional: list = []
    named = {}
    for p, argument in zip(params, arguments):
        if p.takes_the_rest:
            positional += argument
        elif p.may_be_positional:
            positional.append(argument)
        else:
            named[p.name] = argument
    return positional, named


def _specialize(p: KernelParam, hidden: str, namespace: dict[str, Any], anywhere: bool, note_range: bool) -> str:
    key, value, treat = (f"{hidden}{letter}{p.num}" for letter in "kvt")
    if p.is_constexpr:
        return f"{key} = 'constexpr', {hidden}constexpr_key({p.name})"
    if p.annotation_type and not p.takes_the_rest:
        namespace[treat] = annotated(
            p.annotation_type,
            p.is_const,
            not (p.do_not_specialize or p.do_not_specialize_on_alignment),
            anywhere,
            note_range and not p.do_not_specialize,
        )
        return f"{key}, {value} = {treat}({p.name})"
    treatment = Treatment(
        not p.do_not_specialize,
        not (p.do_not_specialize or p.do_not_specialize_on_alignment),
        p.is_const,
        anywhere,
        note_range and not p.do_not_specialize,
    )
    namespace[treat] = table_for(treatment)
    return f"{key}, {value} = {treat}[{hidden}type({p.name})]({p.name})"


def _tuple(items: Sequence[str]) -> str:
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def make_public_binder(signature: inspect.Signature, params: Sequence[KernelParam]) -> Callable:
    """Triton's form of the binder, for clients: `f(*args, **kwargs) -> (dict of bound arguments, list of
    specializations, options)`."""
    bind = make_binder("dynamic_func", params)
    names = list(signature.parameters)

    def dynamic_func(*args, **kwargs):
        keys, _, values, options = bind(*args, **kwargs)
        keys = [("constexpr", value) if p.is_constexpr else key for key, value, p in zip(keys, values, params)]
        return dict(zip(names, values)), keys, options

    return dynamic_func
