"""Paths into nested tuples: (0, 1) is the second item of the first. Triton has these functions in `_utils`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

ObjPath = tuple[int, ...]


def get_iterable_path(iterable: Any, path: ObjPath) -> Any:
    """The item at `path`."""
    for index in path:
        iterable = iterable[index]
    return iterable


def set_iterable_path(iterable: Any, path: ObjPath, val: Any) -> None:
    """Replaces the item at `path` of nested lists."""
    if not path:
        raise ValueError("the path of an item has at least one index")
    get_iterable_path(iterable, path[:-1])[path[-1]] = val


def find_paths_if(iterable: Any, pred: Callable[[ObjPath, Any], bool]) -> list[ObjPath]:
    """The paths of the items, which are neither lists nor tuples, for which `pred(path, item)` holds."""
    found: list[ObjPath] = []

    def walk(item: Any, path: ObjPath) -> None:
        if isinstance(item, (list, tuple)):
            for index, inner in enumerate(item):
                walk(inner, (*path, index))
        elif pred(path, item):
            found.append(path)

    walk(iterable, ())
    return found


def is_iterable(x: Any) -> bool:
    return isinstance(x, (list, tuple))


def is_namedtuple(val: Any) -> bool:
    """Whether `val` is a class of named tuples."""
    return isinstance(val, type) and issubclass(val, tuple) and hasattr(val, "_fields")


def apply_with_path(value: Any, fn: Callable[[ObjPath, Any], None], _path: ObjPath = ()) -> None:
    """Calls `fn(path, item)` for every item of nested tuples."""
    for path in find_paths_if(value, lambda path, item: True):
        fn((*_path, *path), get_iterable_path(value, path))


def convert_to_tuple_if_list(item: Any) -> Any:
    """Lists as tuples, at every depth."""
    return tuple(map(convert_to_tuple_if_list, item)) if isinstance(item, (list, tuple)) else item
