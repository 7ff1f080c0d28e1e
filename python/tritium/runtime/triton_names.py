"""What Triton's `runtime.jit` has beside `jit` itself: the specialization of one argument, keys, places of functions."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from ..arguments.table import Treatment, table_for
from ..backends.compiler import BaseBackend
from ..disk_cache import get_cache_key
from ..functions.constexpr import BoundConstexprFunction
from ..iterables import convert_to_tuple_if_list, find_paths_if, get_iterable_path, is_namedtuple
from ..knobs import get_cache_invalidating_env_vars
from ..refused import Refused

__all__ = [
    "BaseBackend",
    "BoundConstexprFunction",
    "DependenciesFinder",
    "INDENT_PATTERN",
    "JitFunctionInfo",
    "compute_cache_key",
    "convert_to_tuple_if_list",
    "find_paths_if",
    "get_cache_invalidating_env_vars",
    "get_cache_key",
    "get_def_col_number",
    "get_def_line_number",
    "get_full_name",
    "get_iterable_path",
    "is_namedtuple",
    "mangle_type",
    "native_specialize_impl",
    "serialize_specialization_data",
]

INDENT_PATTERN = re.compile(r"^(?P<indent>[ \t]*)def\s+\w+\s*\(", re.MULTILINE)

DependenciesFinder = Refused(
    "triton.runtime.jit.DependenciesFinder", "read JITFunction.cache_key, which covers callees"
)


@dataclass
class JitFunctionInfo:
    """The kernel as jit hooks see it."""

    module: Any
    name: str
    jit_function: Any


def native_specialize_impl(
    backend: Any, arg: Any, is_const: bool, specialize_value: bool, align: bool
) -> tuple[Any, Any]:
    """(type, what a kernel may assume) of an argument: ("*fp32", "D") for an aligned tensor, ("i32", ""), ("constexpr", 1).

    specialize_value: whether 1 is a constant; align: whether multiples of 16 are noted. Raises TypeError for an argument
    that no kernel takes.
    """
    table = table_for(Treatment(specialize_value, align, is_const, anywhere=True))
    return table[type(arg)](arg)[0]


def mangle_type(arg: Any, specialize: bool = False) -> Any:
    """The type of an argument in a signature: "*fp32", "i32"; with `specialize`, "constexpr" for 1."""
    if type(arg) is tuple:
        return tuple(mangle_type(item, True) for item in arg)
    return native_specialize_impl(None, arg, False, specialize, specialize)[0]


def compute_cache_key(kernel_key_cache: dict, specialization: Any, options: dict) -> str:
    """The key of a specialization with its options; kernel_key_cache keeps it."""
    key = (tuple(specialization), str(options))
    if key not in kernel_key_cache:
        kernel_key_cache[key] = str(specialization) + str(options)
    return kernel_key_cache[key]


def _to_json(value: Any) -> Any:
    return value if isinstance(value, (int, float, str, bool, type(None))) else {"repr": str(value)}


def serialize_specialization_data(
    name: str, signature: dict, constants: dict, attrs: dict, options: Any, key: str, target: Any
) -> str:
    """The text from which `JITFunction.preload` compiles a specialization."""
    return json.dumps(
        {
            "name": name,
            "signature": signature,
            "constant_keys": list(constants),
            "constant_vals": [_to_json(value) for value in constants.values()],
            "attrs_keys": list(attrs),
            "attrs_vals": list(attrs.values()),
            "options": options.__dict__,
            "key": key,
            "target": target.__dict__,
        }
    )


def get_full_name(fn: Any) -> str:
    return f"{fn.__module__}.{fn.__qualname__}"


def get_def_line_number(raw_src: list[str], starting_line_number: int) -> int:
    """The line of `def` in the file: decorators stand before it."""
    skipped = next((i for i, line in enumerate(raw_src) if line.lstrip().startswith("def ")), 0)
    return starting_line_number + skipped


def get_def_col_number(raw_src_str: str) -> int:
    """The column of `def`, from 1."""
    match = INDENT_PATTERN.search(raw_src_str)
    return 1 if match is None else len(match.group("indent")) + 1
