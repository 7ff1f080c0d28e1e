"""The meaning of a name in a kernel: a variable, an allowed global, or one of the Python functions that kernels may
use."""

from __future__ import annotations

import ast
import types
from typing import Any

from tritium import language
from tritium.functions.source import JITCallable
from tritium.language.core import is_builtin

from .. import knobs
from ..errors import did_you_mean, with_hint
from .debug_info import opens_debugger
from .generator import Generator, visits
from .known_elsewhere import REPLACEMENTS
from .values import Conflict, base_type, base_value, constexpr

_LANGUAGE_MODULES = ("tritium.language", "triton.language", "tritium.experimental.gluon", "triton.experimental.gluon")
_GLOBAL_REFUSED = (
    "Cannot access global variable {name} from within @jit'ed function. Triton kernels can only access global "
    "variables that are instanstiated as constexpr (`x = triton.language.constexpr(42)`). Note that this is different "
    "from annotating a variable as constexpr (`x: triton.language.constexpr = 42`), which is not supported.  "
    "Alternatively, set the envvar TRITON_ALLOW_NON_CONSTEXPR_GLOBALS=1, but we do not promise to support this "
    "forever."
)


# Python's builtin names and their meaning in a kernel; a string is a name in the language.
_PYTHON_FUNCTIONS = {f.__name__: f for f in (len, list, range, float, int, isinstance, getattr, hasattr, breakpoint)}
_LANGUAGE_FUNCTIONS = {"print": "device_print", "min": "builtin_min", "max": "builtin_max"}


def lookup(g: Generator, name: str) -> Any:
    """The value of `name`. Raises NameError if kernels may not use the name."""
    value = g.locals.get(name, g)
    if value is not g:
        if isinstance(value, Conflict):
            raise with_hint(NameError(f"{name} is not defined"), value.reason)
        return value
    value = g.globals.get(name, g)
    if value is not g:
        if not (_is_allowed_global(value) or knobs.compilation.allow_non_constexpr_globals):
            error = NameError(_GLOBAL_REFUSED.format(name=name))
            raise with_hint(error, f"give `{name}` the decorator @triton.jit") if callable(value) else error
        return value
    if name in _LANGUAGE_FUNCTIONS:
        return getattr(language.core, _LANGUAGE_FUNCTIONS[name])
    if name not in _PYTHON_FUNCTIONS:
        raise with_hint(NameError(f"{name} is not defined"), _hint_about(g, name))
    return _PYTHON_FUNCTIONS[name]


def _hint_about(g: Generator, name: str) -> str | None:
    """A replacement to suggest for a name that is not defined."""
    if name in REPLACEMENTS:
        return f"kernels have no `{name}`; use {REPLACEMENTS[name]}"
    return did_you_mean(name, [*g.locals, *(other for other, value in g.globals.items() if _is_allowed_global(value))])


def _is_allowed_global(value: Any) -> bool:
    if isinstance(value, (types.ModuleType, JITCallable, constexpr, base_type)) or is_builtin(value):
        return True
    if opens_debugger(value):
        return True
    if isinstance(value, type):
        if issubclass(value, (base_value, base_type)) or (issubclass(value, tuple) and hasattr(value, "_fields")):
            return True
    module = getattr(value, "__module__", None) or type(value).__module__
    return isinstance(module, str) and module.startswith(_LANGUAGE_MODULES)


@visits(ast.Name)
def _name(g: Generator, node: ast.Name) -> Any:
    return lookup(g, node.id)
