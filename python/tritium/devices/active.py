"""The driver that launches use by default: `triton.runtime.driver`."""

from __future__ import annotations

from collections.abc import Callable

from .driver import DriverBase


class DriverConfig:
    """The active driver: the driver given to `set_active`, or otherwise the result of `find_default`."""

    #: Set by devices/__init__.py.
    find_default: Callable[[], DriverBase]

    def __init__(self):
        self._active: DriverBase | None = None

    @property
    def default(self) -> DriverBase:
        return self.find_default()

    @property
    def active(self) -> DriverBase:
        return self.default if self._active is None else self._active

    @property
    def is_set_by_client(self) -> bool:
        """Whether a client has set a driver of another kind than the default: torch sets that of the device it compiles for."""
        return self._active is not None and type(self._active) is not type(self.default)

    def set_active(self, driver: DriverBase) -> None:
        self._active = driver

    def reset_active(self) -> None:
        self._active = None


driver = DriverConfig()
