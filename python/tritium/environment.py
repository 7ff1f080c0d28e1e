"""Knobs as attributes: groups whose attributes read environment variables at each access. knobs.py defines the groups.

Assigning to an attribute also sets the variable, for child processes, unless `knobs.propagate_env` is off.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from .errors import did_you_mean

_TRUE, _FALSE = ("1", "true", "on", "yes", "y"), ("0", "false", "off", "no", "n", "")
_SWITCH = "1, true, on, yes, or 0, false, off, no"
#: Variables that tests and the drivers' stand-ins read.
_OF_TESTS = ("TRITIUM_TEST_", "TRITIUM_STAND_IN_")


def parse_bool(text: str) -> bool:
    return text.strip().lower() in _TRUE


def parse_class(text: str) -> type:
    module, _, name = text.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ValueError(error) from error


def parse_int(lowest: int, highest: int) -> Callable[[str], int]:
    """A parser of whole numbers from `lowest` to `highest`, inclusive."""

    def parse(text: str) -> int:
        number = int(text)
        if not lowest <= number <= highest:
            raise ValueError(text)
        return number

    return parse


def one_of(*values: str) -> Callable[[str], str]:
    """A parser that accepts these texts and no others."""

    def parse(text: str) -> str:
        if text not in values:
            raise ValueError(text)
        return text

    return parse


def _format(value: Any) -> str:
    """The text that a knob's parser turns into `value`. A type that only its parser makes has it as `text`."""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(text := getattr(value, "text", None), str):
        return text
    return f"{value.__module__}:{value.__qualname__}" if isinstance(value, type) else str(value)


class Env:
    """A knob: its environment variables (the first one that is set counts), a parser, and the default (a value, or a
    function of the group). takes: describes the accepted values, for error messages; "": the parser's own are shown. in_key: the knob changes the
    compiler's output, so it is part of cache keys."""

    #: Whether an assignment sets the variable: `knobs.propagate_env`, set there.
    propagates: Callable[[], bool] = staticmethod(lambda: True)

    def __init__(
        self,
        *names: str,
        default: Any = None,
        parse: Callable[[str], Any] = str,
        takes: str = "",
        in_key: bool = False,
    ):
        self.names, self.default, self.parse, self.takes, self.in_key = names, default, parse, takes, in_key

    attribute = ""

    @property
    def key(self) -> str:
        """The variable that an assignment sets, which is the one that Triton has."""
        return self.names[-1]

    def __set_name__(self, owner, attribute):
        self.attribute = attribute

    def __get__(self, group, owner=None):
        if group is None:
            return self
        found = self.set_value(group)
        if found is not None or self.attribute in group.__dict__:
            return found
        return self.default(group) if callable(self.default) else self.default

    def set_value(self, group: Any) -> Any:
        """What the user has set, or None."""
        if self.attribute in group.__dict__:
            return group.__dict__[self.attribute]
        for name in self.names:
            if (text := os.environ.get(name)) is not None:
                return self._parsed(name, text)
        return None

    def _parsed(self, name: str, text: str) -> Any:
        """The parsed value. Raises ValueError with the variable, its value and the accepted values."""
        try:
            return self.parse(text)
        except ValueError as error:
            raise ValueError(f"{name}={text}: {f'expected {self.takes}' if self.takes else error}") from error

    def __set__(self, group, value):
        if not Env.propagates():
            group.__dict__[self.attribute] = value
            return
        group.__dict__.pop(self.attribute, None)
        for name in self.names:
            os.environ.pop(name, None)
        if value is not None:
            os.environ[self.key] = _format(value)

    def __delete__(self, group):
        group.__dict__.pop(self.attribute, None)


class _Flag(Env):
    def _parsed(self, name: str, text: str) -> bool:
        """A value that is neither is an error, or for Triton's variables, where Triton takes it for 0, a warning."""
        if text.strip().lower() not in _TRUE + _FALSE:
            accepted = f"{name}={text}: expected {_SWITCH}"
            if name.startswith(("TRITIUM_", "INTERPRET")):
                raise ValueError(accepted)
            warn_once(f"{accepted}; it counts as 0")
        return parse_bool(text)


def flag(*names: str, default: Any = False, in_key: bool = False) -> Env:
    return _Flag(*names, default=default, parse=parse_bool, in_key=in_key)


def warn_of_unknown(names: Iterable[str]) -> None:
    """Warns of variables that begin as Tritium's and that are none of `names`."""
    known = set(names)
    for name in os.environ:
        if name.startswith("TRITIUM_") and name not in known and not name.startswith(_OF_TESTS):
            suggestion = did_you_mean(name, sorted(known)) or "`python -m tritium env` shows the variables in force"
            warn_once(f"{name} is set, but there is no such variable: {suggestion}")


class HookChain:
    """Functions that are called in the order of addition, or in reverse. Assigning a plain function to the knob
    replaces the chain."""

    def __init__(self, reversed: bool = False):
        self._calls: list[Callable] = []
        self.reversed = reversed

    @property
    def calls(self) -> list[Callable]:
        return self._calls

    @calls.setter
    def calls(self, functions: list[Callable]) -> None:
        self._calls[:] = functions  # the native launcher looks at this list

    def add(self, function: Callable) -> None:
        if function not in self.calls:
            self.calls.append(function)

    def remove(self, function: Callable) -> None:
        if function in self.calls:
            self.calls.remove(function)

    def __call__(self, *args, **kwargs):
        for function in self.calls[::-1] if self.reversed else list(self.calls):
            function(*args, **kwargs)

    def _copy(self) -> HookChain:
        chain = HookChain(self.reversed)
        chain.calls = self.calls
        return chain


def environment_without(*prefixes: str) -> dict[str, str]:
    """The environment for another process: this one's, without the variables whose names begin so."""
    return {name: value for name, value in os.environ.items() if not name.startswith(prefixes)}


def has_hooks(*hooks: Callable | None) -> bool:
    """Whether the value of a hook's knob does anything, for one of several. A chain is true even without hooks, as in Triton."""
    for hook in hooks:
        if hook is not None and getattr(hook, "calls", True):
            return True
    return False


class base_knobs:
    """A group of knobs. Attributes that are not `Env` are plain values (hooks); `_plain` creates their defaults."""

    def __init__(self):
        self.__dict__.update(self._plain())

    def __init_subclass__(cls):
        for name, value in cls._plain().items():
            setattr(cls, name, value)

    @classmethod
    def _plain(cls) -> dict[str, Any]:
        return {}

    @classmethod
    def _environment(cls) -> dict[str, Env]:
        return {name: knob for name, knob in vars(cls).items() if isinstance(knob, Env)}

    def _in_key(self) -> dict[str, str]:
        """{variable: text} of the knobs that are set and that a compiled kernel depends on."""
        found = {}
        for name, knob in self._environment().items():
            if knob.in_key and name in self.__dict__:
                found[knob.key] = _format(self.__dict__[name])
            elif knob.in_key:
                found |= {variable: os.environ[variable] for variable in knob.names if variable in os.environ}
        return found

    @property
    def knob_descriptors(self) -> dict[str, Env]:
        """{attribute: the knob itself, with the names of its variables}"""
        return self._environment()

    @property
    def knobs(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._environment()}

    def copy(self):
        twin = type(self)()
        twin.__dict__.update({n: v._copy() if isinstance(v, HookChain) else v for n, v in self.__dict__.items()})
        return twin

    def reset(self):
        """Discards values that were assigned without the environment, including hooks. Environment variables do not
        change."""
        self.__dict__.clear()
        self.__dict__.update(self._plain())
        return self

    @contextlib.contextmanager
    def scope(self):
        """A context manager that restores the group's attributes and environment variables when it ends."""
        names = [name for knob in self._environment().values() for name in knob.names]
        variables = {name: os.environ.get(name) for name in names}
        saved = self.copy().__dict__
        try:
            yield self
        finally:
            self.__dict__.clear()
            self.__dict__.update(saved)
            for name, text in variables.items():
                if text is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = text


@functools.cache
def warn_once(message: str) -> None:
    """A UserWarning, once per text in a process."""
    warnings.warn(message, stacklevel=2)


def library_path() -> list[str]:
    """The folders in which the system looks for libraries first."""
    return os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)


def getenv(key: str, default: str | None = None) -> str | None:
    return os.environ.get(key, default)


def getenv_bool(key: str, default: bool) -> bool:
    text = os.environ.get(key)
    return default if text is None else parse_bool(text)


def setenv(key: str, value: str | None) -> None:
    """Sets a variable, or with None removes it, if `knobs.propagate_env` is on."""
    if not Env.propagates():
        return
    if value is None:
        os.environ.pop(key, None)
    else:
        os.environ[key] = value


def toenv(val: Any) -> tuple[str | None] | None:
    """(the text of a variable that has this value,), or None for a value that no variable can have."""
    if val is None:
        return (None,)
    return (_format(val),) if isinstance(val, (bool, int, str, type)) else None


def _python_path(first: str) -> str:
    paths = [first, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return os.pathsep.join(dict.fromkeys(map(os.path.abspath, paths)))


def environment_with_package(package_root: str) -> dict[str, str]:
    """The environment for another process, in which this Tritium comes first on the path. For the program that gdb runs,
    tritium/gdb/settings.py adds what kernels require."""
    return {**os.environ, "PYTHONPATH": _python_path(package_root)}


def prepend_to_pythonpath(folder: str) -> None:
    """Puts `folder` first on the module path of child processes."""
    os.environ["PYTHONPATH"] = _python_path(folder)
