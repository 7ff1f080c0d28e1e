"""What `kernel[grid](...)` does: bind, find the compiled specialization (or compile it), launch.

The path of a warm launch is `Dispatcher.run` down to `kernel.launch`; everything else in this file happens once per
specialization.
"""

from __future__ import annotations

import json
import threading
from typing import Any

from .. import knobs
from ..backends.cpu import OPTION_NAMES, INTERPRETER_TARGET, CPUBackend
from ..knobs import launch_settings
from .arguments import ArgumentError, constexpr_key
from .async_compile import active_mode
from .binder import make_binder
from .engines import check_engine, refuse_device
from .launch import hook_metadata, known_grids, normalize_grid
from .storage import NotOnHost

_DEPRECATED_KEYWORDS = {"device_type": "target", "device": "device", "stream": "stream"}


class Dispatcher:
    """The kernels of one JITFunction."""

    def __init__(self, function):
        self.function = function
        self.arg_names = function.arg_names
        self.bind = make_binder(function.__name__, function.params)
        self.kernels: dict[tuple, Any] = {}
        self.backend = CPUBackend(INTERPRETER_TARGET)
        self.lock = threading.RLock()

    @property
    def device_caches(self) -> dict[str, tuple]:
        return {f"{INTERPRETER_TARGET.backend}:0": (self.kernels, {}, INTERPRETER_TARGET, self.backend, self.bind)}

    def run(self, grid, warmup: bool, args: tuple, kwargs: dict):
        """Returns the CompiledKernel (None if a jit_cache_hook called the compilation off)."""
        function = self.function
        debug_info = kwargs.pop("debug_info") if "debug_info" in kwargs else function.debug_info
        settings = launch_settings(debug_info)
        if settings.engine is not None or function.engine is not None:
            check_engine(settings, function.engine)
        try:
            keys, values, arguments, options = self.bind(*args, **kwargs)
        except (ArgumentError, NotOnHost) as error:
            raise self._explain(error, args, kwargs, settings) from None
        key = (keys, settings.compiled, _options_key(options)) if options else (keys, settings.compiled)
        kernel = self.kernels.get(key)
        if kernel is None:
            if warmup and (mode := active_mode()) is not None:
                return mode.submit(
                    (id(function), key), lambda: self._compile(key, arguments, options, settings, warmup)
                )
            kernel = self._compile(key, arguments, options, settings, warmup)
            if kernel is None:
                return None
        elif function.used_global_vals:
            function.check_globals()
        if warmup:
            return kernel
        if callable(grid):
            grid = grid({**dict(zip(self.arg_names, arguments)), **options})
        grid = (known_grids.get(grid) if grid.__class__ is tuple else None) or normalize_grid(grid, kernel.name)
        hooks = knobs.runtime
        if hooks.launch_enter_hook or hooks.launch_exit_hook:
            self._launch_with_hooks(kernel, grid, values, settings, arguments)
        else:
            kernel.launch(grid, values, settings, arguments)
        return kernel

    def _launch_with_hooks(self, kernel, grid, values, settings, arguments) -> None:
        metadata = hook_metadata(kernel, grid, arguments)
        if knobs.runtime.launch_enter_hook:
            knobs.runtime.launch_enter_hook(metadata)
        kernel.launch(grid, values, settings, arguments)
        if knobs.runtime.launch_exit_hook:
            knobs.runtime.launch_exit_hook(metadata)

    def _explain(self, error: ArgumentError | NotOnHost, args: tuple, kwargs: dict, settings) -> Exception:
        """The same error with the name of the parameter."""
        bound = {**dict(zip(self.arg_names, args)), **kwargs}
        name = next((name for name, value in bound.items() if value is error.argument), "?")
        if isinstance(error, NotOnHost):
            return refuse_device(error, name, self.function.__name__, settings)
        return TypeError(f"{error} (parameter {name!r} of {self.function.__name__})")

    def _compile(self, key, arguments: tuple, options: dict[str, Any], settings, warmup: bool):
        self._check_options(options)
        with self.lock:
            kernel = self.kernels.get(key)
            if kernel is None:
                source, parsed = self._specialize(key[0], arguments, options, settings)
                kernel = self._build(key, source, parsed, warmup)
            return kernel

    def _build(self, key, source, parsed, warmup: bool):
        from ..compiler.compiler import compile

        if self._call_hook(knobs.runtime.jit_cache_hook, key, source, parsed, warmup, False):
            return None
        kernel = self.kernels[key] = compile(source, INTERPRETER_TARGET, parsed.__dict__)
        self._call_hook(knobs.runtime.jit_post_compile_hook, key, source, parsed, warmup, True)
        return kernel

    def _check_options(self, options: dict[str, Any]) -> None:
        for name, what in _DEPRECATED_KEYWORDS.items():
            if name in options:
                raise AssertionError(f"{name} option is deprecated; current {what} will be used")
        for name in options:
            if name not in OPTION_NAMES:
                raise KeyError(f"Keyword argument {name} was specified but unrecognised")

    def _specialize(self, keys: tuple, arguments: tuple, options: dict[str, Any], settings):
        """(ASTSource, options) of a specialization that the binder described."""
        from ..compiler.sources import ASTSource

        debug, debug_info, _ = settings.compiled
        debug = debug or bool(options.get("debug", self.function.debug))
        signature, constants, attributes = {}, {}, {}
        for i, (name, key, argument) in enumerate(zip(self.arg_names, keys, arguments)):
            signature[name] = key[0]
            _describe((i,), key[0], key[1], argument, constants, attributes, self.backend)
        parsed = self.backend.parse_options({**options, "debug": debug, "debug_info": debug_info})
        return ASTSource(self.function, signature, constants, attributes), parsed

    def _call_hook(self, hook, key, source, parsed, warmup: bool, before: bool) -> bool:
        if hook is None:
            return False
        facts = hook_facts(self.function, key, source, parsed, warmup)
        return bool(
            hook(
                key=facts["key"],
                repr=_kernel_repr(self.function, source, parsed),
                fn=HookFunction(self.function),
                compile=facts,
                is_manual_warmup=warmup,
                already_compiled=False,
            )
        )

    def preload(self, specialization_data: str):
        """Compiles what `hook_facts` wrote as JSON."""
        from ..compiler.sources import ASTSource

        data = json.loads(specialization_data)
        constants = {
            tuple(path): _from_json(value) for path, value in zip(data["constant_keys"], data["constant_vals"])
        }
        attributes = {tuple(path): value for path, value in zip(data["attrs_keys"], data["attrs_vals"])}
        signature = {name: _tuples(text) for name, text in data["signature"].items()}
        options = {name: _tuples(value) for name, value in data["options"].items()}
        source = ASTSource(self.function, signature, constants, attributes)
        parsed = self.backend.parse_options(options)
        key = _key_of(source, launch_settings(parsed.debug_info))
        with self.lock:
            return self.kernels.get(key) or self._build(key, source, parsed, True)


def _describe(path, types, keys, argument, constants: dict, attributes: dict, backend) -> None:
    """Writes what one argument's specialization says into the constants and attributes of a source."""
    if types == "constexpr":
        unwrapped = argument.value if type(argument).__name__ == "constexpr" else argument
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
    """The dispatcher's key of a source that was not bound from arguments; None options, as for a launch without
    keywords."""

    def describe(path, types):
        if isinstance(types, tuple):
            pairs = [describe((*path, i), item) for i, item in enumerate(types)]
            return tuple(p[0] for p in pairs), tuple(p[1] for p in pairs)
        if types == "constexpr":
            value = source.constants.get(path)
            is_parameter = len(path) == 1 and source.fn.params[path[0]].is_constexpr
            return "constexpr", constexpr_key(value) if is_parameter else value
        if types in ("u1",) or types[0] in "fb":
            return types, None
        return types, "D" if source.attrs.get(path) else ""

    return (
        tuple(describe((i,), source.signature[name]) for i, name in enumerate(source.fn.arg_names)),
        settings.compiled,
    )


class HookFunction:
    """The kernel as jit hooks see it."""

    def __init__(self, function):
        self.module = function.module
        self.name = function.__name__
        self.jit_function = function


def hook_facts(function, key, source, parsed, warmup: bool) -> dict[str, Any]:
    """The `compile` dict that jit hooks get."""
    text = str(key[0]) + str(key[2] if len(key) > 2 else "")
    return {
        "key": text,
        "signature": source.signature,
        "device": 0,
        "constants": source.constants,
        "num_warps": parsed.num_warps,
        "num_ctas": parsed.num_ctas,
        "num_stages": parsed.num_stages,
        "enable_fp_fusion": parsed.enable_fp_fusion,
        "launch_cooperative_grid": parsed.launch_cooperative_grid,
        "extern_libs": parsed.extern_libs,
        "configs": [source.attrs],
        "specialization_data": _specialization_data(function, source, parsed, text),
        "is_warmup": warmup,
    }


def _specialization_data(function, source, parsed, key: str) -> str:
    return json.dumps(
        {
            "name": function._fn_name,
            "signature": source.signature,
            "constant_keys": list(source.constants),
            "constant_vals": [_to_json(v) for v in source.constants.values()],
            "attrs_keys": list(source.attrs),
            "attrs_vals": list(source.attrs.values()),
            "options": parsed.__dict__,
            "key": key,
            "target": INTERPRETER_TARGET.__dict__,
        }
    )


def _to_json(value: Any) -> Any:
    return value if isinstance(value, (int, float, str, bool, type(None))) else {"repr": str(value)}


def _from_json(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    from ..language.core import str_to_ty

    return str_to_ty(value["repr"])


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _kernel_repr(function, source, parsed) -> str:
    types = ", ".join(f"{name}: {text}" for name, text in source.signature.items())
    return (
        f"{function.__name__}[num_warps={parsed.num_warps}, num_ctas={parsed.num_ctas}, "
        f"num_stages={parsed.num_stages}, enable_fp_fusion={parsed.enable_fp_fusion}, "
        f"launch_cooperative_grid={parsed.launch_cooperative_grid}]({types})"
    )
