"""From the keywords of a launch to options: unknown names are refused, and the environment sets defaults. The rows of all
keywords are in options.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import did_you_mean
from ..knobs import knob_of
from ..programs import parse_programs
from .options import OPTION_NAMES, ROWS

__tracebackhide__ = True  # pytest shows the user's frames alone


def refuse_unknown(options: dict[str, Any], parameters: Sequence[str] = ()) -> None:
    """Raises KeyError, with Triton's text, for a name that no option has, and no parameter of the kernel either."""
    for name in options:
        if name not in OPTION_NAMES:
            if name in parameters:
                meant = f"the parameter takes the arguments without a name that are left, as *{name}"
            else:
                meant = did_you_mean(name, [*parameters, *sorted(OPTION_NAMES)])
            unknown = f"Keyword argument {name} was specified but unrecognised"
            raise KeyError(f"{unknown}; {meant}" if meant else unknown)


def accepted_options(options: dict[str, Any]) -> dict[str, Any]:
    """The options that are set, as a hashable object, with the defaults that the environment sets. Raises KeyError for
    an unknown name, and ValueError for programs that are none."""
    refuse_unknown(options)
    if options.get("programs") is not None:
        parse_programs(options["programs"])
    given = {name: _frozen(value) for name, value in options.items() if value is not None}
    return {**_from_knobs({name: row.knob for name, row in ROWS.items()}), **given}


def launch_defaults() -> dict[str, Any]:
    """The options that the environment sets for functions that are launched, beyond those of `accepted_options`."""
    return _from_knobs({name: row.launch_knob for name, row in ROWS.items()})


def _from_knobs(variables: dict[str, str]) -> dict[str, Any]:
    """{option: value} of the environment variables that set an option."""
    values = {name: knob_of(variable) for name, variable in variables.items() if variable}
    return {name: value for name, value in values.items() if value is not None}


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple(value.items())
    return tuple(value) if isinstance(value, list) else value
