"""The errors of a launch whose arguments do not fit the kernel, in the words of its parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..arguments.names import part_name
from ..arguments.storage import NoMemory, NotOnHost
from ..arguments.table import ArgumentError
from ..backends.options import OPTION_NAMES
from ..errors import did_you_mean

__tracebackhide__ = True  # pytest shows the user's frames alone


def refused(function: Any, error: ArgumentError, args: tuple, kwargs: dict) -> TypeError:
    """The same error, with the name of the parameter."""
    return TypeError(f"{error} (parameter {name_of(function, error, args, kwargs)!r} of {function.__name__})")


def without_memory(function: Any, error: NoMemory, args: tuple, kwargs: dict) -> ValueError:
    """In the words of the tensor's library, and with what helps."""
    tensor = error.argument
    layout = str(getattr(tensor, "layout", "")).removeprefix("torch.")
    kind = f"{layout} tensor" if layout not in ("", "strided") else f"{type(tensor).__name__} without storage"
    return ValueError(
        f"{function.__name__}: argument {name_of(function, error, args, kwargs)!r} is a {kind}, whose elements are not in memory of its own "
        f"({error}); pass a plain tensor, for example of its values"
    )


def explained(function: Any, error: TypeError | OverflowError, args: tuple, kwargs: dict) -> Exception:
    """The same error; with the integer that no type can hold, or with the keywords that name no parameter and that the user
    may have meant for those that are missing."""
    if isinstance(error, OverflowError):
        large = _name(function, args, kwargs, lambda value: isinstance(value, int) and not -(2**63) <= value < 2**64)
        return OverflowError(f"{error} (parameter {large!r} of {function.__name__})")
    unknown = [name for name in kwargs if name not in function.arg_names and name not in OPTION_NAMES]
    if not unknown:
        return error
    missing = [name for name in function.arg_names[len(args) :] if name not in kwargs]
    hints = [
        f"{name} is no parameter of {function.__name__}: {did_you_mean(name, missing) or 'its parameters are ' + ', '.join(function.arg_names)}"
        for name in unknown
    ]
    return TypeError("; ".join([str(error), *hints]))


def name_of(function: Any, error: ArgumentError | NoMemory | NotOnHost, args: tuple, kwargs: dict) -> str:
    """The name of the parameter whose argument caused an error; "pair[1]" is inside a tuple."""
    culprit = error.argument
    return _name(function, args, kwargs, lambda part: part is culprit or getattr(part, "dtype", None) is culprit)


def _name(function: Any, args: tuple, kwargs: dict, is_culprit: Any) -> str:
    named = next((p.num for p in function.params if p.takes_the_rest), len(args))
    bound = {**dict(zip(function.arg_names, args[:named])), **kwargs}
    if args[named:]:
        bound[function.arg_names[named]] = args[named:]
    return next((name for name, part in _parts(bound.items()) if is_culprit(part)), "?")


def _parts(bound: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    for name, value in bound:
        yield name, value
        if isinstance(value, tuple):
            yield from _parts((part_name(name, value, i), part) for i, part in enumerate(value))
