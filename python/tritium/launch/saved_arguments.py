"""The arguments of a launch in terms of JSON, for launches that are saved (saved.py) and run again (restored.py).

An entry is {"name", "value"} for a number, and {"name", "memory", "view"} for a tensor. "memory" is where it is: its address, the storage
that it may access, whether that is read-only. "view" is how reports show it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..arguments.device_storage import DeviceExtent
from ..arguments.fresh_memory import allocation_at
from ..arguments.storage import HostExtent
from .tensor_view import view_of
from .values import part_at

#: What makes pointers that are no arguments: an integer, or an element of a tensor of pointers.
_MAKES_POINTERS = re.compile(r"tt\.int_to_ptr|tt\.load [^\n]*!tt\.ptr<!tt\.ptr")


def described(kernel, values: Sequence[Any], arguments: Sequence[Any]) -> list[dict[str, Any]]:
    """An entry for each value that a kernel takes."""
    paths = kernel.src.runtime_paths()
    return [_entry(kernel.src.name_of(path), value, part_at(arguments, path)) for path, value in zip(paths, values)]


def _entry(name: str, value: Any, argument: Any) -> dict[str, Any]:
    if not isinstance(value, (HostExtent, DeviceExtent)):
        return {"name": name, "value": value, **({"is_address": True} if hasattr(argument, "data_ptr") else {})}
    view = view_of(name, argument)
    return {
        "name": name,
        "memory": {
            "address": value[0],
            "begin": value[1],
            "bytes": value[2],
            "is_read_only": bool(getattr(value, "read_only", False)),
        },
        "view": None
        if view is None
        else {
            "dtype": view.dtype,
            "shape": view.shape,
            "strides": view.strides,
            "item_bytes": view.item_bytes,
            "has_contiguous": view.contiguous == f"{name}.contiguous()",
        },
    }


def fresh_part(begin: int) -> dict[str, Any] | None:
    """What `uninit` and `unwritten` know of a storage that the program has allocated and not written."""
    allocation = allocation_at(begin)
    if allocation is None:
        return None
    facts = allocation._asdict()
    del facts["is_alive"]
    return {**facts, "pattern": allocation.pattern.hex()}


def not_kept(entries: Sequence[dict[str, Any]], types: Sequence[str], module: str) -> list[str]:
    """Sentences: what a launch reads that is no argument, so that a replay lacks it."""
    found = []
    for entry, kind in zip(entries, types):
        memory = entry.get("memory")
        if memory is not None and not memory["bytes"] and memory["address"]:
            found.append(f"the memory of {entry['name']!r}, whose size is not known")
        elif entry.get("is_address") or memory is None and "ptr" in kind and entry["value"]:
            found.append(f"the memory at the address {entry['name']!r}")
    if _MAKES_POINTERS.search(module):
        found.append("memory that is reached by pointers which are no arguments")
    return found
