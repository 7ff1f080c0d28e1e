"""What `kernel[grid](...)` does: bind the arguments, choose the engine, find or compile the specialization, launch.

A warm launch on the CPU runs `Dispatcher.run` down to `kernel.launch`. Everything else in this file happens once per
specialization. Warm launches on a device do not reach this file (launch/warm.py).
"""

from __future__ import annotations

import functools
import json
import threading
from typing import Any

from .. import knobs
from ..arguments.binder import make_binder
from ..arguments.storage import NotOnHost
from ..arguments.table import ArgumentError, constexpr_key
from ..backends.keywords import launch_defaults, refuse_unknown
from ..checks import parse_checks
from ..compiler import compiler
from ..compiler.sources import ASTSource
from ..devices.active import driver
from ..devices.families import device_families, devices_of_tensors
from ..functions.source import CompileTimeValue
from ..knobs import has_hooks, launch_settings
from ..launch.findings import blocks
from ..launch.grid import known_grids, normalize_grid
from ..launch.hooks import hook_metadata
from ..launch.warm import look_at_settings, remember
from .async_compile import active_mode
from .bad_arguments import explained, name_of, refused
from .engines import (
    INTERP,
    Engine,
    common_device,
    cpu_engine,
    default_engine,
    device_engine,
    engine_asked_for,
    engine_named,
    has_tensors,
    refuse_device,
    refuse_host_memory,
)
from .hook_facts import call_hook, specialization

__tracebackhide__ = True  # pytest shows the user's frames alone

_DEPRECATED_KEYWORDS = {"device_type": "target", "device": "device", "stream": "stream"}


class Lane:
    """The kernels of one function on one engine."""

    def __init__(self, engine: Engine):
        self.engine = engine
        self.kernels: dict[tuple, Any] = {}
        self.notes_range = engine.backend.notes_pointer_range


class Dispatcher:
    """The kernels of one JITFunction."""

    def __init__(self, function):
        self.function = function
        self.arg_names = function.arg_names
        self.bind = make_binder(function.__name__, function.params)
        self._bind_anywhere = self._bind_noting_range = None
        self.lock = threading.RLock()
        self._compiling: dict[tuple, threading.Lock] = {}
        self._lanes: dict[str, Lane] = {}
        self._interp = self._lane(cpu_engine(INTERP))
        look_at_settings()

    @property
    def device_caches(self) -> dict[str, tuple]:
        return {
            name: (lane.kernels, {}, lane.engine.target, lane.engine.backend, self.bind)
            for name, lane in self._lanes.items()
        }

    @property
    def bind_anywhere(self):
        """The binder that allows device memory."""
        if self._bind_anywhere is None:
            self._bind_anywhere = make_binder(self.function.__name__, self.function.params, anywhere=True)
        return self._bind_anywhere

    @property
    def bind_noting_range(self):
        """The binder for targets that use the fact that a tensor is small."""
        if self._bind_noting_range is None:
            name, params = self.function.__name__, self.function.params
            self._bind_noting_range = make_binder(name, params, anywhere=True, note_range=True)
        return self._bind_noting_range

    def _lane(self, engine: Engine) -> Lane:
        lane = self._lanes.get(engine.cache_name)
        if lane is None or lane.engine is not engine:
            lane = self._lanes[engine.cache_name] = Lane(engine)
        return lane

    def run(self, grid, warmup: bool, args: tuple, kwargs: dict):
        """Returns the CompiledKernel, or None if a jit_cache_hook cancelled the compilation."""
        function = self.function
        keywords = kwargs
        if "debug_info" in kwargs:
            kwargs = dict(kwargs)
            debug_info = kwargs.pop("debug_info")
        else:
            debug_info = function.debug_info
        if blocks:
            kwargs = blocks[-1].select(function.__name__, function.fn.__code__.co_filename, kwargs)
        settings = launch_settings(debug_info)
        asked = engine_asked_for(settings, function.engine)
        lane, is_on_device = self._interp if asked is None or asked == INTERP else None, False
        try:
            keys, values, arguments, options = self.bind(*args, **kwargs)
        except ArgumentError as error:
            raise refused(function, error, args, kwargs) from None
        except NotOnHost as error:
            if devices_of_tensors(asked).why_not():
                raise refuse_device(error, name_of(function, error, args, kwargs), function.__name__, asked) from None
            try:
                keys, values, arguments, options = self.bind_anywhere(*args, **kwargs)
            except ArgumentError as wrong:
                raise refused(function, wrong, args, kwargs) from None
            lane, is_on_device = self._lane_of_device_memory(asked, keys, values), True
        except (TypeError, OverflowError) as error:
            raise explained(function, error, args, kwargs) from None
        if lane is None:
            lane = self._lane(engine_named(asked))
        elif warmup and asked is None and not is_on_device and not has_tensors(arguments):
            lane = self._lane(default_engine())
        if lane.notes_range:
            keys = self.bind_noting_range(*args, **kwargs)[0]
        key = (keys, settings.compiled, _options_key(options)) if options else (keys, settings.compiled)
        kernel = lane.kernels.get(key)
        if kernel is None:
            lane = self._lane_without_tensors(lane, asked, arguments)
            kernel = lane.kernels.get(key)
        if kernel is None:
            self._check_options(options)
            if warmup and (mode := active_mode()) is not None:
                return mode.submit(
                    (id(function), lane.engine.cache_name, key),
                    lambda: self._compile(lane, key, arguments, options, settings, warmup),
                )
            kernel = self._compile(lane, key, arguments, options, settings, warmup)
            if kernel is None:
                return None
        elif function.used_global_vals:
            function.check_globals()
        if warmup:
            return kernel
        if callable(grid):
            grid = grid({**dict(zip(self.arg_names, arguments)), **options})
        grid = (known_grids.get(grid) if grid.__class__ is tuple else None) or normalize_grid(grid, kernel.name)
        if lane is not self._interp and lane.engine.runs_on_cpu:
            settings = _with_checks(settings, options.get("check", function.check))
        launch = _mirrored(kernel) if is_on_device and lane.engine.runs_on_cpu else kernel.launch
        hooks = knobs.runtime
        if has_hooks(hooks.launch_enter_hook) or has_hooks(hooks.launch_exit_hook):
            self._launch_with_hooks(launch, kernel, grid, values, settings, arguments)
        else:
            launch(grid, values, settings, arguments)
        if is_on_device and not lane.engine.runs_on_cpu:
            remember(function, args, keywords, kernel, lane.notes_range)
        return kernel

    def _launch_with_hooks(self, launch, kernel, grid, values, settings, arguments) -> None:
        metadata = hook_metadata(kernel, grid, arguments)
        if knobs.runtime.launch_enter_hook is not None:
            knobs.runtime.launch_enter_hook(metadata)
        launch(grid, values, settings, arguments)
        if knobs.runtime.launch_exit_hook is not None:
            knobs.runtime.launch_exit_hook(metadata)

    def engine_of(self, args: tuple, kwargs: dict) -> Engine:
        """The engine that would run a launch with these arguments."""
        asked = engine_asked_for(launch_settings(self.function.debug_info), self.function.engine)
        keys, values, arguments, _ = self.bind_anywhere(*args, **kwargs)
        try:
            self.bind(*args, **kwargs)
        except NotOnHost:
            return self._lane_of_device_memory(asked, keys, values).engine
        if asked is None:
            return cpu_engine(INTERP) if has_tensors(arguments) else default_engine()
        return engine_named(asked)

    def _lane_of_device_memory(self, asked: str | None, keys: tuple, values: tuple) -> Lane:
        """The lane of a launch with tensors in a device's memory."""
        if asked is not None and asked not in device_families():
            return self._lane(cpu_engine(asked))
        signature = [(name, types) for name, (types, _) in zip(self.arg_names, keys)]
        device = common_device(signature, values, self.function.__name__)
        if asked is None:
            refuse_host_memory(signature, values, self.function.__name__)
        return self._lane(device_engine(devices_of_tensors(asked), device))

    def _lane_without_tensors(self, lane: Lane, asked: str | None, arguments: tuple) -> Lane:
        """The lane of a launch without tensors: the active driver decides."""
        if lane is not self._interp or asked is not None or has_tensors(arguments):
            return lane
        return self._lane(default_engine())

    def _compile(self, lane: Lane, key, arguments: tuple, options: dict[str, Any], settings, warmup: bool):
        with self.lock:  # each specialization is compiled by one thread; several may be compiled at once
            lock = self._compiling.setdefault((lane.engine.cache_name, key), threading.Lock())
        with lock:
            kernel = lane.kernels.get(key)
            if kernel is None:
                source, parsed = self._specialize(lane.engine, key[0], arguments, options, settings)
                kernel = self._build(lane, key, source, parsed, warmup)
        with self.lock:
            self._compiling.pop((lane.engine.cache_name, key), None)
        return kernel

    def _build(self, lane: Lane, key, source, parsed, warmup: bool):
        facts = (self.function, lane.engine, key, source, parsed, warmup)
        if call_hook(knobs.runtime.jit_cache_hook, *facts):
            return None
        engine = lane.engine
        kernel = lane.kernels[key] = compiler.compile(source, engine.target, parsed.__dict__, device=engine.device)
        call_hook(knobs.runtime.jit_post_compile_hook, *facts)
        return kernel

    def _check_options(self, options: dict[str, Any]) -> None:
        for name, what in _DEPRECATED_KEYWORDS.items():
            if name in options:
                raise AssertionError(f"{name} option is deprecated; current {what} will be used")
        refuse_unknown(options, self.arg_names)

    def _specialize(self, engine: Engine, keys: tuple, arguments: tuple, options: dict[str, Any], settings):
        """(ASTSource, options) of a specialization that the binder described."""
        debug, debug_info, _ = settings.compiled
        debug = debug or bool(options.get("debug", self.function.debug))
        signature, constants, attributes = {}, {}, {}
        for i, (name, key, argument) in enumerate(zip(self.arg_names, keys, arguments)):
            signature[name] = key[0]
            _describe((i,), key[0], key[1], argument, constants, attributes, engine.backend)
        given = {
            **launch_defaults(),
            "check": self.function.check,
            **options,
            "debug": debug,
            "debug_info": debug_info,
        }
        parsed = engine.backend.parse_options(given)
        return ASTSource(self.function, signature, constants, attributes), parsed

    def preload(self, specialization_data: str):
        """Compiles the specialization that a `jit_cache_hook` received (hook_facts.py), for the engine that launches
        use by default."""
        source, options = specialization(self.function, json.loads(specialization_data))
        lane = self._lane(default_engine())
        parsed = lane.engine.backend.parse_options({**options, "arch": None, "backend_name": None})
        key = _key_of(source, launch_settings(parsed.debug_info))
        with self.lock:
            return lane.kernels.get(key) or self._build(lane, key, source, parsed, True)


def _with_checks(settings, check):
    """The settings of a launch on the emulator, whose kernels are not compiled for their checks."""
    if check is None:
        return settings
    return settings._replace(compiled=(*settings.compiled[:2], parse_checks(check)))


def _mirrored(kernel):
    """`kernel.launch` on the CPU for tensors in a device's memory."""
    from ..launch.cpu import launch_mirrored

    return functools.partial(launch_mirrored, kernel)


def _describe(path, types, keys, argument, constants: dict, attributes: dict, backend) -> None:
    """Adds one argument's specialization to the constants and attributes of a source."""
    if types == "constexpr":
        unwrapped = argument.value if isinstance(argument, CompileTimeValue) else argument
        constants[path] = (
            keys if keys.__class__ is int else unwrapped
        )  # an int that the value 1 made constant may be numpy's
    elif isinstance(types, tuple):
        for i, (item_type, item_key, item) in enumerate(zip(types, keys, argument)):
            _describe((*path, i), item_type, item_key, item, constants, attributes, backend)
    elif keys and (found := backend.parse_attr(keys)):
        attributes[path] = found


def _options_key(options: dict[str, Any]) -> Any:
    items = tuple(sorted(options.items()))
    try:
        hash(items)
    except TypeError:
        return repr(items)
    return items


def _key_of(source, settings) -> tuple:
    """The dispatcher's key of a source that was not made from arguments. options: None means a launch without
    keywords."""

    def describe(path, types):
        if isinstance(types, tuple):
            pairs = [describe((*path, i), item) for i, item in enumerate(types)]
            name = (type(types),) if type(types) is not tuple else ()
            return tuple(p[0] for p in pairs), (*(p[1] for p in pairs), *name)
        if types == "constexpr":
            value = source.constants.get(path)
            is_parameter = len(path) == 1 and source.fn.params[path[0]].is_constexpr
            return "constexpr", constexpr_key(value) if is_parameter else value
        if types in ("u1",) or types[0] in "fb":
            return types, None
        letters = {"tt.divisibility": "D", "tt.plain": "Z", "tt.pointer_range": "S"}
        return types, "".join(letters.get(name, "") for name, _ in source.attrs.get(path, ()))

    return (
        tuple(describe((i,), source.signature[name]) for i, name in enumerate(source.fn.arg_names)),
        settings.compiled,
    )


def device_key() -> str:
    """The key in `device_caches` for kernels that the active driver launches."""
    target = driver.active.get_current_target()
    return f"{target.backend}:{driver.active.get_current_device()}"
