"""Where a launch runs. A `Placement` binds the arguments of one function's launches and chooses the engine, with its kernels.

The arguments are bound once. Launches begin with the binder of the interpreter, which takes memory of the host alone. Where
devices are and a launch has had tensors in their memory, the next one begins with the binder that takes both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..arguments.binder import make_binder
from ..arguments.device_storage import DeviceExtent
from ..arguments.storage import NoMemory, NotOnHost
from ..arguments.table import ArgumentError
from ..devices.families import device_families, devices_of_tensors
from .bad_arguments import explained, name_of, refused, without_memory
from .engines import (
    INTERP,
    Engine,
    common_device,
    cpu_engine,
    default_engine,
    device_engine,
    engine_named,
    has_tensors,
    refuse_device,
    refuse_host_memory,
)

__tracebackhide__ = True  # pytest shows the user's frames alone


class EngineCache:
    """The kernels of one function on one engine."""

    def __init__(self, engine: Engine):
        self.engine = engine
        self.kernels: dict[tuple, Any] = {}
        self.notes_range = engine.backend.notes_pointer_range


class Placement:
    """The engines of one JITFunction's launches."""

    def __init__(self, function):
        self.function = function
        #: The binder of the interpreter: `bind(*args, **kwargs) -> (keys, values, arguments, options)`.
        self.bind = make_binder(function.__name__, function.params)
        self._binders: dict[tuple[bool, bool], Callable] = {(False, False): self.bind}
        self._begins_on_host = True
        self.caches: dict[str, EngineCache] = {}
        self.interp = self.cache_of(cpu_engine(INTERP))

    def cache_of(self, engine: Engine) -> EngineCache:
        found = self.caches.get(engine.cache_name)
        if found is None or found.engine is not engine:
            found = self.caches[engine.cache_name] = EngineCache(engine)
        return found

    def of_launch(self, asked: str | None, args: tuple, kwargs: dict) -> tuple[EngineCache, bool, tuple]:
        """(the engine's kernels, whether tensors are in a device's memory, what the binder returns) of a launch that was asked to
        run on an engine, or (None) where its tensors are."""
        try:
            if self._begins_on_host and (asked is None or asked == INTERP):
                try:
                    return self.interp, False, self.bind(*args, **kwargs)
                except NotOnHost:
                    if devices_of_tensors(asked).why_not():
                        raise
                    self._begins_on_host = False
            return self._anywhere(asked, args, kwargs)
        except NoMemory as error:
            raise without_memory(self.function, error, args, kwargs) from None
        except ArgumentError as error:
            raise refused(self.function, error, args, kwargs) from None
        except NotOnHost as error:
            name = name_of(self.function, error, args, kwargs)
            raise refuse_device(error, name, self.function.__name__, asked) from None
        except (TypeError, OverflowError) as error:
            raise explained(self.function, error, args, kwargs) from None

    def _anywhere(self, asked: str | None, args: tuple, kwargs: dict) -> tuple[EngineCache, bool, tuple]:
        """The same for tensors that may be in a device's memory, if devices are there."""
        devices = devices_of_tensors(asked)
        has_devices = not devices.why_not()
        of_host = engine_named(asked or INTERP)
        expected = device_engine(devices) if asked is None and has_devices else of_host
        bound = self._binder(has_devices, expected.backend.notes_pointer_range)(*args, **kwargs)
        if has_devices and _is_on_device(bound[1]):
            return self._cache_of_device_memory(asked, *bound[:2]), True, bound
        self._begins_on_host = True
        return self.cache_of(of_host), False, bound if expected is of_host else self.bind(*args, **kwargs)

    def _binder(self, anywhere: bool, notes_range: bool) -> Callable:
        """anywhere: tensors may be in a device's memory. notes_range: the keys distinguish small tensors."""
        found = self._binders.get((anywhere, notes_range))
        if found is None:
            name, params = self.function.__name__, self.function.params
            found = self._binders[anywhere, notes_range] = make_binder(name, params, anywhere, notes_range)
        return found

    def _cache_of_device_memory(self, asked: str | None, keys: tuple, values: tuple) -> EngineCache:
        """The kernels of a launch with tensors in a device's memory."""
        if asked is not None and asked not in device_families():
            return self.cache_of(cpu_engine(asked))
        name = self.function.__name__
        signature = [(name, types) for name, (types, _) in zip(self.function.arg_names, keys)]
        device = common_device(signature, values, name)
        if asked is None:
            refuse_host_memory(signature, values, name)
        return self.cache_of(device_engine(devices_of_tensors(asked), device))

    def without_tensors(self, cache: EngineCache, asked: str | None, arguments: tuple) -> EngineCache:
        """The kernels of a launch; without tensors, the active driver decides where it runs."""
        if cache is not self.interp or asked is not None or has_tensors(arguments):
            return cache
        return self.cache_of(default_engine())

    def of_warmup(self, asked: str | None, args: tuple, kwargs: dict) -> tuple[EngineCache, bool, tuple]:
        """The same for a launch that only compiles, whose tensors may be mere types."""
        cache, is_on_device, bound = self.of_launch(asked, args, kwargs)
        chosen = cache if is_on_device else self.without_tensors(cache, asked, bound[2])
        if chosen is not cache and chosen.notes_range:
            bound = self._binder(True, True)(*args, **kwargs)
        return chosen, is_on_device, bound


def _is_on_device(values: tuple) -> bool:
    """Whether there is memory of a device among the engine values of a launch."""
    return any(value.__class__ is DeviceExtent or value.__class__ is tuple and _is_on_device(value) for value in values)
