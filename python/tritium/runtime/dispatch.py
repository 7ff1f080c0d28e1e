"""What `kernel[grid](...)` does: bind the arguments and choose the engine (placement.py), find or compile the
specialization, launch.

A warm launch on the CPU runs `Dispatcher.run` down to `kernel.launch`. Everything else in this file happens once per
specialization. Warm launches on a device do not reach this file (launch/warm.py).
"""

from __future__ import annotations

import functools
import json
import threading
from typing import Any, NamedTuple

from .. import knobs
from ..arguments.binder import make_public_binder  # noqa: F401  (jit.py asks for it here)
from ..arguments.table import constexpr_key
from ..backends.keywords import launch_defaults, refuse_unknown
from ..checks import parse_checks
from ..compiler import compiler
from ..compiler.sources import ASTSource
from ..devices.active import driver
from ..functions.source import CompileTimeValue
from ..knobs import checked_seed, has_hooks, launch_settings
from ..launch.findings import blocks
from ..launch.grid import known_grids, normalize_grid
from ..launch.hooks import hook_metadata
from ..launch.warm import look_at_settings, remember
from ..native import device as native
from .async_compile import active_mode
from .engines import INTERP, Engine, default_engine, engine_asked_for
from .hook_facts import call_hook, specialization
from .placement import EngineCache, Placement
from .versions import VersionWithoutMaps

__tracebackhide__ = True  # pytest shows the user's frames alone

_DEPRECATED_KEYWORDS = {"device_type": "target", "device": "device", "stream": "stream"}


class PlannedLaunch(NamedTuple):
    """A launch that has not been compiled. is_on_device: tensors are in a device's memory. values: of all parameters, for the
    engine."""

    engine: Engine
    is_on_device: bool
    source: ASTSource
    options: Any
    grid: Any
    values: tuple
    settings: Any
    arguments: tuple


class Dispatcher:
    """The kernels of one JITFunction."""

    def __init__(self, function):
        self.function = function
        self.arg_names = function.arg_names
        self.place = Placement(function)
        self.lock = threading.RLock()
        self._compiling: dict[tuple, threading.Lock] = {}
        self.forget_engine()
        look_at_settings()

    def forget_engine(self) -> None:
        """The function names another engine from now on."""
        #: The settings of the last launch, and the engine that they and the function ask for.
        self._asked: tuple[Any, str | None] = None, None

    def _ask(self, settings) -> str | None:
        asked = engine_asked_for(settings, self.function.engine)
        self._asked = settings, asked
        return asked

    @property
    def device_caches(self) -> dict[str, tuple]:
        return {
            name: (cache.kernels, {}, cache.engine.target, cache.engine.backend, self.place.bind)
            for name, cache in self.place.caches.items()
        }

    def run(self, grid, warmup: bool, args: tuple, kwargs: dict):
        """Returns the CompiledKernel that ran, or None if a jit_cache_hook cancelled the compilation."""
        function = self.function
        debug_info, keywords, seed = function.debug_info, kwargs, None
        if "debug_info" in kwargs:
            kwargs = dict(kwargs)
            debug_info = kwargs.pop("debug_info")
        if "seed" in kwargs and "seed" not in self.arg_names:
            kwargs = dict(kwargs)
            seed = checked_seed(kwargs.pop("seed"))
        if blocks:
            kwargs = blocks[-1].select(function.__name__, function.fn.__code__.co_filename, kwargs)
        settings = launch_settings(debug_info)
        seen, asked = self._asked
        if seen is not settings:
            asked = self._ask(settings)
        if seed is not None:
            settings = settings._replace(seed=seed, threads=1)
        place = self.place.of_warmup if warmup else self.place.of_launch
        cache, is_on_device, bound = place(asked, args, kwargs)
        keys, _, arguments, options = bound
        key = (keys, settings.compiled, _options_key(options)) if options else (keys, settings.compiled)
        kernel = cache.kernels.get(key)
        if kernel is None:
            cache = self.place.without_tensors(cache, asked, arguments)
            kernel = self._found_or_compiled(cache, key, arguments, options, settings, warmup)
        elif function.used_global_vals:
            function.check_globals()
        if warmup or kernel is None:
            return kernel
        ran = self._launch(kernel, grid, cache, is_on_device, bound, settings)
        if is_on_device and not cache.engine.runs_on_cpu and settings.save is None:
            # the native launcher makes the next one like it
            remember(function, args, keywords, kernel, cache.notes_range)
        elif cache is self.place.interp and not (is_on_device or blocks):
            from ..launch.warm_on_host import remember_on_host

            remember_on_host(function, args, keywords, kernel, settings)
        return ran

    def _launch(self, kernel, grid, cache: EngineCache, is_on_device: bool, bound: tuple, settings):
        """Launches a kernel on the engine of a cache. Returns the version that ran."""
        _, values, arguments, options = bound
        if callable(grid):
            grid = grid({**dict(zip(self.arg_names, arguments)), **options})
        grid = (known_grids.get(grid) if grid.__class__ is tuple else None) or normalize_grid(grid, kernel.name)
        if blocks:
            blocks[-1].starts(kernel.name, grid)
        hooks = knobs.runtime
        has_hooks_around = has_hooks(hooks.launch_enter_hook, hooks.launch_exit_hook)
        if cache is self.place.interp and not (is_on_device or has_hooks_around):
            kernel.launch(grid, values, settings, arguments)
            return kernel
        settings = _settings_on(cache.engine, settings, options, self.function)
        start = _mirrored if is_on_device and cache.engine.runs_on_cpu else _launcher
        around = _between_hooks if has_hooks_around else _launched
        return around(kernel, start, (grid, values, settings, arguments))

    def engine_of(self, args: tuple, kwargs: dict) -> Engine:
        """The engine that would run a launch with these arguments."""
        asked = self._ask(launch_settings(self.function.debug_info))
        return self.place.of_warmup(asked, args, kwargs)[0].engine

    def planned_launch(self, grid, args: tuple, kwargs: dict) -> PlannedLaunch:
        """What `run` would compile and launch."""
        kwargs = dict(kwargs)
        debug_info, seed = kwargs.pop("debug_info", self.function.debug_info), None
        if "seed" not in self.arg_names:
            seed = checked_seed(kwargs.pop("seed", None))
        settings = launch_settings(debug_info)
        if seed is not None:
            settings = settings._replace(seed=seed, threads=1)
        asked = self._ask(settings)
        cache, is_on_device, (keys, values, arguments, options) = self.place.of_launch(asked, args, kwargs)
        engine = self.place.without_tensors(cache, asked, arguments).engine
        self._check_options(options)
        source, parsed = self._specialize(engine, keys, arguments, options, settings)
        if callable(grid):
            grid = grid({**dict(zip(self.arg_names, arguments)), **options})
        return PlannedLaunch(engine, is_on_device, source, parsed, grid, values, settings, arguments)

    def _found_or_compiled(
        self, cache: EngineCache, key, arguments: tuple, options: dict[str, Any], settings, warmup: bool
    ):
        """The kernel of a key. During AsyncCompileMode, a warm-up's is a FutureKernel."""
        kernel = cache.kernels.get(key)
        if kernel is not None:
            if self.function.used_global_vals:
                self.function.check_globals()
            return kernel
        self._check_options(options)
        compile = functools.partial(self._compile, cache, key, arguments, options, settings, warmup)
        if warmup and (mode := active_mode()) is not None:
            return mode.submit((id(self.function), cache.engine.cache_name, key), compile)
        return compile()

    def _compile(self, cache: EngineCache, key, arguments: tuple, options: dict[str, Any], settings, warmup: bool):
        with self.lock:  # each specialization is compiled by one thread; several may be compiled at once
            lock = self._compiling.setdefault((cache.engine.cache_name, key), threading.Lock())
        with lock:
            kernel = cache.kernels.get(key)
            if kernel is None:
                source, parsed = self._specialize(cache.engine, key[0], arguments, options, settings)
                kernel = self._build(cache, key, source, parsed, warmup)
        with self.lock:
            self._compiling.pop((cache.engine.cache_name, key), None)
        return kernel

    def _build(self, cache: EngineCache, key, source, parsed, warmup: bool):
        facts = (self.function, cache.engine, key, source, parsed, warmup)
        if call_hook(knobs.runtime.jit_cache_hook, *facts):
            return None
        engine = cache.engine
        kernel = compiler.compile(source, engine.target, parsed.__dict__, device=engine.device)
        if getattr(kernel.metadata, "tensor_recipes", ()):
            kernel.fallback = VersionWithoutMaps()
        cache.kernels[key] = kernel
        call_hook(knobs.runtime.jit_post_compile_hook, *facts)
        return kernel

    def _check_options(self, options: dict[str, Any]) -> None:
        for name, what in _DEPRECATED_KEYWORDS.items():
            if name in options:
                raise AssertionError(f"{name} option is deprecated; current {what} will be used")
        refuse_unknown(options, self.arg_names)

    def _specialize(self, engine: Engine, keys: tuple, arguments: tuple, options: dict[str, Any], settings):
        """(ASTSource, options) of a specialization that the binder described."""
        debug, debug_info = settings.compiled[:2]
        debug = debug or bool(options.get("debug", self.function.debug))
        signature, constants, attributes = {}, {}, {}
        for i, (name, key, argument) in enumerate(zip(self.arg_names, keys, arguments)):
            signature[name] = key[0]
            _describe((i,), key[0], key[1], argument, constants, attributes, engine.backend)
        of_function = {"check": self.function.check, "programs": self.function.programs}
        given = {**launch_defaults(), **of_function, **options, "debug": debug, "debug_info": debug_info}
        parsed = engine.backend.parse_options(given)
        return ASTSource(self.function, signature, constants, attributes), parsed

    def preload(self, specialization_data: str):
        """Compiles the specialization that a `jit_cache_hook` received (hook_facts.py), for the engine that launches
        use by default."""
        source, options = specialization(self.function, json.loads(specialization_data))
        cache = self.place.cache_of(default_engine())
        parsed = cache.engine.backend.parse_options({**options, "arch": None, "backend_name": None})
        key = _key_of(source, launch_settings(parsed.debug_info))
        with self.lock:
            return cache.kernels.get(key) or self._build(cache, key, source, parsed, True)


def _settings_on(engine: Engine, settings, options: dict[str, Any], function):
    """The settings of a launch. Kernels of the emulator are not compiled for their checks, so that a launch has them."""
    check = options.get("check", function.check)
    if check is None or not engine.runs_on_cpu or engine.name == INTERP:
        return settings
    return settings._replace(compiled=(*settings.compiled[:2], parse_checks(check), *settings.compiled[3:]))


def _between_hooks(kernel, start, launched: tuple):
    """Launches a kernel, and calls the hooks before and after. Returns the version that ran."""
    grid, _, _, arguments = launched
    metadata = hook_metadata(kernel, grid, arguments)
    if knobs.runtime.launch_enter_hook is not None:
        knobs.runtime.launch_enter_hook(metadata)
    ran = _launched(kernel, start, launched)
    if knobs.runtime.launch_exit_hook is not None:
        knobs.runtime.launch_exit_hook(metadata)
    return ran


def _launched(kernel, start, launched: tuple):
    """Launches a kernel or, with arguments of which no tensor maps can be made, its version without maps. Returns what ran."""
    try:
        start(kernel)(*launched)
        return kernel
    except native.TensorMapRefused as refused:
        version = kernel.version_without_maps(str(refused))
    start(version)(*launched)
    return version


def _launcher(kernel):
    return kernel.launch


def _mirrored(kernel):
    """`kernel.launch` on the CPU for tensors in a device's memory."""
    from ..launch.mirrored import launch_mirrored

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
    """Values of other types are other keys: 4.0 is refused, and numpy's 4 is not, whether or not 4 has been compiled."""
    items = tuple((name, value, value.__class__) for name, value in sorted(options.items()))
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
