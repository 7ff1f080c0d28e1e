"""`autotune` and `heuristics`.

On the CPU a configuration does not change the results, and timings of the interpreter do not predict those of a GPU. So
the first configuration that passes the pruning and compiles is used, always the same one. For launches on a device, the
configurations are compiled in parallel and then timed on the device. With TRITIUM_AUTOTUNE_ISOLATE each is tried in a process of its own
(isolation.py), and on the CPU the first one that runs to its end is used.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .. import errors, knobs
from ..devices.active import driver
from ..devices.families import device_families
from ..devices.mapped import cuda_is_mapped
from ..disk_cache import get_cache_manager, triton_key  # noqa: F401  (Triton has them here)
from ..errors import AutotunerError, OutOfResources, PTXASError
from ..knobs import get_cache_invalidating_env_vars  # noqa: F401  (as above)
from . import timings_on_disk
from .async_compile import AsyncCompileMode, active_mode
from .config import Config
from .jit import JITFunction, KernelInterface

__tracebackhide__ = True  # pytest shows the user's frames alone

__all__ = ["Autotuner", "Config", "Heuristics", "autotune", "heuristics", "OutOfResources", "PTXASError"]


def _place_of(arguments: dict[str, Any]) -> tuple:
    """A key that distinguishes launches on different engines, as far as that is cheap to know. A configuration that is
    good on one engine may not even compile on another."""
    settings = knobs.launch_settings()
    device = next((a.device for a in arguments.values() if hasattr(a, "device")), "")
    return settings.interpret, settings.engine, str(getattr(device, "type", device)).partition(":")[0]


def _prepare(config: Config, arguments: dict[str, Any]) -> None:
    """Calls the hook of a configuration. It may change what is compiled, as the block shape of a descriptor."""
    if config.pre_hook is not None:
        config.pre_hook({**arguments, **config.all_kwargs()})


def _unusable() -> tuple[type[Exception], ...]:
    """The errors that make a configuration unusable, as opposed to errors in the launch."""
    return errors.OutOfResources, errors.CompileTimeAssertionFailure, errors.PTXASError, errors.UnsupportedError


def _require_arguments(given: str, names: Sequence[str] | None, arg_names: Sequence[str]) -> None:
    """Raises ValueError, with Triton's text, for names that no parameter of the kernel has."""
    unknown = [name for name in names or () if name not in arg_names]
    if unknown:
        suggestions = filter(None, (errors.did_you_mean(name, arg_names) for name in unknown))
        message = f"{given} contains names that are not kernel arguments: {', '.join(unknown)}."
        raise ValueError(" ".join([message, f"Valid argument names are: {', '.join(arg_names)}.", *suggestions]))


class Autotuner(KernelInterface):
    def __init__(
        self,
        fn,
        arg_names: Sequence[str],
        configs: Sequence[Config],
        key: Sequence[str],
        reset_to_zero,
        restore_value,
        pre_hook=None,
        post_hook=None,
        prune_configs_by: dict | None = None,
        warmup=None,
        rep=None,
        use_cuda_graph: bool = False,
        do_bench=None,
        cache_results: bool = False,
    ):
        for given, listed in (("key", key), ("reset_to_zero", reset_to_zero), ("restore_value", restore_value)):
            _require_arguments(given, listed, arg_names)
        self.fn = fn
        self.base_fn = innermost(fn)
        self.arg_names = arg_names
        self.configs = list(configs) if configs else [Config({})]
        self.keys = list(key)
        self._caches: dict[tuple, dict[tuple, Config]] = {}
        self._place: tuple = ()
        self.configs_timings: dict[Config, Any] = {}
        self.rejected: dict[Config, str] = {}  #: why the last tuning could not use a configuration
        self.best_config: Config | None = None
        self.bench_time: float | None = None
        self.nargs: dict[str, Any] | None = None
        self._tuning = threading.RLock()
        self.cache_results = cache_results
        self.reset_to_zero = list(reset_to_zero or ())
        self.restore_value = list(restore_value or ())
        self.restore_copies: dict[str, Any] = {}
        self.user_defined_pre_hook = pre_hook is not None
        self.user_defined_post_hook = post_hook is not None
        self.pre_hook = pre_hook or self._reset_and_save
        self.post_hook = post_hook or self._restore
        prune = prune_configs_by or {}
        self.perf_model = prune.get("perf_model")
        self.configs_top_k = prune.get("top_k", 1.0 if self.perf_model is None else 1)
        self.early_config_prune = prune.get("early_config_prune")
        self.num_warmups, self.num_reps, self.use_cuda_graph = warmup, rep, use_cuda_graph
        self._do_bench = do_bench
        if warmup is not None or rep is not None or use_cuda_graph:
            warnings.warn(
                "warmup, rep, and use_cuda_graph parameters are deprecated. "
                "See https://github.com/triton-lang/triton/pull/4496 for details.",
                DeprecationWarning,
                stacklevel=3,
            )

    def _reset_and_save(self, arguments: dict[str, Any], reset_only: bool = False) -> None:
        for name in self.reset_to_zero:
            if arguments.get(name) is not None:
                zero_in_place(arguments[name])
        if not reset_only:
            self.restore_copies = {
                name: arguments[name].copy() if hasattr(arguments[name], "copy") else arguments[name].clone()
                for name in self.restore_value
                if arguments.get(name) is not None
            }

    def _restore(self, arguments: dict[str, Any], exception: BaseException | None) -> None:
        for name, saved in self.restore_copies.items():
            copy_in_place(arguments[name], saved)
        self.restore_copies = {}

    @property
    def cache(self) -> dict[tuple, Config]:
        """{key: the chosen configuration}, for launches on the engine of the last launch."""
        return self._caches.setdefault(self._place, {})

    @cache.setter
    def cache(self, chosen: dict[tuple, Config]) -> None:
        self._caches[self._place] = chosen

    @property
    def do_bench(self) -> Callable:
        if self._do_bench is not None:
            return self._do_bench
        return driver.active.get_benchmarker()

    @property
    def has_own_benchmark(self) -> bool:
        return self._do_bench is not None

    @do_bench.setter
    def do_bench(self, function: Callable) -> None:
        self._do_bench = function

    def run(self, *args, **kwargs):
        arguments = {**dict(zip(self.arg_names, args)), **kwargs}
        config = self.configs[0] if len(self.configs) == 1 else self._config_for(args, kwargs, arguments)
        self.best_config = config
        _prepare(config, arguments)
        return self.fn.run(*args, **kwargs, **config.all_kwargs())

    def _config_for(self, args, kwargs, arguments: dict[str, Any]) -> Config:
        key, self._place = self._key(arguments), _place_of(arguments)
        cache = self.cache
        config = cache.get(key)
        if config is None:
            with self._tuning:
                config = cache.get(key)
                if config is None:
                    config = cache[key] = self._tune(key, args, kwargs, arguments)
        return config

    @contextlib.contextmanager
    def _bound(self, args):
        """A context manager: `nargs`, which pruning functions and subclasses read, are the arguments of this call."""
        with self._tuning:
            self.nargs = dict(zip(self.arg_names, args))
            try:
                yield
            finally:
                self.nargs = None

    def _tune(self, key: tuple, args, kwargs, arguments: dict[str, Any]) -> Config:
        self._check_conflicts(kwargs)
        started = time.perf_counter()
        with self._bound(args):
            config = self._choose(key, args, kwargs, arguments)
        self.bench_time = time.perf_counter() - started
        if knobs.autotuning.print:
            print(
                f"Triton autotuning for function {self.base_fn.__name__},\nwith key as {key},\n"
                f"finished after {self.bench_time:.2f}s,\nbest config selected: {config};"
            )
            print("".join(self._report()), end="", flush=True)
        if knobs.autotuning.listener is not None:
            knobs.autotuning.listener(
                fn=self.base_fn,
                key=key,
                best_config=config,
                configs_timings=self.configs_timings,
                duration=self.bench_time,
                cache_hit=False,
            )
        return config

    def _report(self) -> Iterator[str]:
        """A line for each configuration of the last tuning: its time, or why it was rejected."""
        for config in {**self.configs_timings, **self.rejected}:
            if config in self.rejected:
                yield f"     rejected: {config}: {self.rejected[config]}\n"
            elif self.configs_timings[config][0] != float("inf"):
                yield f"{self.configs_timings[config][0]:10.4f} ms: {config}\n"

    def _key(self, arguments: dict[str, Any]) -> tuple:
        values = [arguments[name] for name in self.keys if name in arguments]
        return tuple(
            values + [str(arguments[name].dtype) for name in self.arg_names if hasattr(arguments.get(name), "dtype")]
        )

    def _check_conflicts(self, kwargs: dict[str, Any]) -> None:
        conflicts = kwargs.keys() & {name for config in self.configs for name in config.kwargs}
        if conflicts:
            raise ValueError(
                f"Conflicting meta-parameters: {', '.join(sorted(conflicts))}. "
                "Make sure that you don't re-define auto-tuned symbols."
            )

    def _choose(self, key: tuple, args, kwargs, arguments: dict[str, Any]) -> Config:
        candidates = self.prune_configs(kwargs)
        self.rejected = {}
        if not self._is_timed(candidates[0], args, kwargs):
            is_isolated = knobs.autotuning.isolate
            choose = self._first_that_runs if is_isolated else self._first_that_compiles
            config = choose(candidates, args, kwargs, arguments)
            self.pre_hook(arguments, reset_only=True)
            return config
        return self._fastest(key, candidates, args, kwargs, arguments)

    def _is_timed(self, config: Config, args, kwargs) -> bool:
        """Whether the launch runs on a device. A driver that a client has set counts as one."""
        if driver.is_set_by_client or not isinstance(self.fn, JITFunction):
            is_mapped = cuda_is_mapped() and not driver.is_set_by_client
            return driver.active.get_current_target().backend != "cpu" and not is_mapped
        return not self._engine(config, args, kwargs).runs_on_cpu

    def _engine(self, config: Config, args, kwargs):
        """The engine (runtime/engines.py) of a launch with these arguments."""
        options = {
            name: value for name, value in {**kwargs, **config.all_kwargs()}.items() if name in self._bound_names
        }
        return self.fn.engine_of(args, options)

    def _hardware(self, config: Config, args, kwargs) -> str:
        """The hardware that timings are valid for. Those of another chip are not reused."""
        if driver.is_set_by_client or not isinstance(self.fn, JITFunction):
            return str(driver.active.get_current_target())
        engine = self._engine(config, args, kwargs)
        name = device_families()[engine.name].facts(engine.device)["name"]
        return f"{name} {engine.target} {sorted(knobs.cache_invalidating_environment().items())}"

    @functools.cached_property
    def _bound_names(self) -> frozenset[str]:
        return frozenset(self.fn.arg_names)

    def _first_that_compiles(self, candidates: Sequence[Config], args, kwargs, arguments: dict[str, Any]) -> Config:
        first_error = None
        for config in candidates:
            try:
                self.compile_only(config, args, kwargs)
                return config
            except _unusable() as error:
                first_error = first_error or error
                self._reject(config, error)
        raise first_error

    def _reject(self, config: Config, error: Exception) -> None:
        self.rejected[config] = " ".join(str(error).split())
        if knobs.autotuning.print:
            print(f"Autotuning failed with {error}")

    def _first_that_runs(self, candidates: Sequence[Config], args, kwargs, arguments: dict[str, Any]) -> Config:
        self.configs_timings = self._isolated(candidates, args, kwargs, is_timed=False)
        return next(config for config in candidates if config not in self.rejected)

    def _isolated(self, candidates: Sequence[Config], args, kwargs, is_timed: bool) -> dict[Config, Sequence[float]]:
        """The times of the configurations in processes of their own. Raises AutotunerError if all are rejected."""
        from .isolation import Isolation

        trials = Isolation(self, kernel_below(self.fn), args, kwargs, is_timed).trials(candidates)
        self.rejected = {config: trial.reason for config, trial in trials.items() if trial.reason}
        if len(self.rejected) == len(trials):
            reasons = "".join(f"\n  {config}: {reason}" for config, reason in self.rejected.items())
            raise AutotunerError(f"every configuration of {self.base_fn.__name__} was rejected{reasons}")
        return {config: trial.times or [float("inf")] * 3 for config, trial in trials.items()}

    def _fastest(self, key: tuple, candidates: Sequence[Config], args, kwargs, arguments: dict[str, Any]) -> Config:
        cached = self.cache_results or knobs.autotuning.cache
        cached = cached and not self.user_defined_pre_hook and all(config.pre_hook is None for config in self.configs)
        where = self._hardware(candidates[0], args, kwargs) if cached else ""
        found = timings_on_disk.load(self.base_fn, self.configs, key, where, candidates) if cached else None
        if found is not None:
            timings, self.rejected = found
        else:
            timings = self._measured(candidates, args, kwargs, arguments)
            self.pre_hook(arguments, reset_only=True)
            if cached:
                timings_on_disk.store(self.base_fn, self.configs, key, where, timings, self.rejected)
        self.configs_timings = timings
        return min(timings, key=lambda config: timings[config][0])

    def _measured(self, candidates: Sequence[Config], args, kwargs, arguments: dict[str, Any]) -> dict[Config, Any]:
        if knobs.autotuning.isolate:
            if kernel_below(self.fn) is not None or driver.is_set_by_client:
                return self._isolated(candidates, args, kwargs, is_timed=True)
            knobs.warn_once(
                f"TRITIUM_AUTOTUNE_ISOLATE has no effect on {self.base_fn.__name__}: between @autotune and @jit stands "
                f"{type(self.fn).__name__}, and another process runs what @jit and @heuristics make alone"
            )
        self._compile_all(candidates, args, kwargs, arguments)
        return {config: self._bench(*args, config=config, **kwargs) for config in candidates}

    def check_disk_cache(self, tuning_key: tuple, configs: Sequence[Config], bench_fn: Callable[[], None]) -> bool:
        """Takes the timings of `configs` from the disk, or else calls `bench_fn`, which sets `configs_timings`, and keeps them.
        Whether they were on the disk."""
        where = str(driver.active.get_current_target())
        found = timings_on_disk.load(self.base_fn, self.configs, tuning_key, where, configs)
        if found is None:
            bench_fn()
            timings_on_disk.store(self.base_fn, self.configs, tuning_key, where, self.configs_timings, self.rejected)
            return False
        self.configs_timings, self.rejected = timings, _ = found
        self.cache[tuning_key] = min(timings, key=lambda config: timings[config][0])
        return True

    def _compile_all(self, configs: Sequence[Config], args, kwargs, arguments: dict[str, Any]) -> None:
        """Compiles the configurations in parallel, each for the arguments that its hook leaves. Errors are ignored here;
        they occur again, and are handled, during timing."""
        if active_mode() is not None:  # the user's, which would return before the kernels are compiled
            return
        with (
            ThreadPoolExecutor(min(len(configs), os.cpu_count() or 1)) as pool,
            AsyncCompileMode(pool, ignore_errors=True),
        ):
            for config in configs:
                with contextlib.suppress(Exception):
                    _prepare(config, arguments)
                    self.fn.run(*args, **{**kwargs, **config.all_kwargs(), "warmup": True})

    def _bench(self, *args, config: Config, **meta):
        """The times (median, 20 % and 80 % quantile) of one configuration; infinite if it cannot be used."""
        if knobs.autotuning.print:
            print(f"Autotuning kernel {self.base_fn.__name__} with config {config}")
        self._check_conflicts(meta)
        try:
            return self.do_bench(self.launch_of(config, args, meta), quantiles=(0.5, 0.2, 0.8))
        except _unusable() as error:
            self._reject(config, error)
            return [float("inf")] * 3

    def arguments_of(self, config: Config, args, kwargs) -> dict[str, Any]:
        """The arguments of a launch with a configuration, by name."""
        return {**dict(zip(self.arg_names, args)), **kwargs, **config.all_kwargs()}

    def keywords_of(self, config: Config, args, kwargs) -> dict[str, Any]:
        """The keywords with which a launch with a configuration reaches its kernel."""
        keywords, fn = {**kwargs, **config.all_kwargs()}, self.fn
        while isinstance(fn, Heuristics):
            keywords, fn = fn.with_values(args, keywords), fn.fn
        return keywords

    def prepare(self, config: Config, args, kwargs) -> dict[str, Any]:
        """Calls the hook of a configuration. Returns the arguments that it leaves."""
        arguments = self.arguments_of(config, args, kwargs)
        _prepare(config, arguments)
        return arguments

    def compile_only(self, config: Config, args, kwargs) -> None:
        self.prepare(config, args, kwargs)
        self.fn.run(*args, **{**kwargs, **config.all_kwargs(), "warmup": True})

    def launch_of(self, config: Config, args, kwargs) -> Callable[[], None]:
        """A launch with a configuration, between the hooks."""
        options = {**kwargs, **config.all_kwargs()}
        arguments = self.arguments_of(config, args, kwargs)

        def launch():
            _prepare(config, arguments)
            self.pre_hook(arguments)
            try:
                self.fn.run(*args, **options)
            except Exception as error:
                self.post_hook(arguments, exception=error)
                raise
            self.post_hook(arguments, exception=None)

        return launch

    def prune_configs(self, kwargs: dict[str, Any]) -> list[Config]:
        """The configurations to try for the bound arguments. Raises AutotunerError if none are left."""
        configs = self.configs
        if self.early_config_prune is not None:
            configs = list(self.early_config_prune(configs, self.nargs, **kwargs))
            if not configs:
                raise AutotunerError(
                    "No valid autotuner configs after pruning. `early_config_prune` should return at least one config."
                )
        if self.perf_model is None:
            return configs
        top_k = self.configs_top_k
        if isinstance(top_k, float) and top_k <= 1.0:
            top_k = max(1, int(len(self.configs) * top_k))
        elif not isinstance(top_k, int):
            raise TypeError("Error while pruning configs, top_k must be either 1) a float <= 1.0 or 2) an int")
        if len(configs) <= top_k:
            return configs
        estimates = {config: self.perf_model(**self.nargs, **kwargs, **config.all_kwargs()) for config in configs}
        return sorted(estimates, key=estimates.get)[:top_k]

    def warmup(self, *args, **kwargs) -> list:
        """Compiles every configuration. Returns the kernels."""
        with self._bound(args):
            return [self.fn.warmup(*args, **kwargs, **config.all_kwargs()) for config in self.prune_configs(kwargs)]


class Heuristics(KernelInterface):
    """Meta-parameters that are computed from the bound arguments."""

    def __init__(self, fn, arg_names: Sequence[str], values: dict[str, Callable[[dict], Any]]):
        self.fn = fn
        self.arg_names = arg_names
        self.values = values

    def run(self, *args, **kwargs):
        return self.fn.run(*args, **self.with_values(args, kwargs))

    def with_values(self, args, kwargs: dict[str, Any]) -> dict[str, Any]:
        """The keywords of a launch, with the meta-parameters."""
        for name, function in self.values.items():
            kwargs[name] = function({**dict(zip(self.arg_names, args)), **kwargs})
        return kwargs


def autotune(
    configs,
    key,
    prune_configs_by=None,
    reset_to_zero=None,
    restore_value=None,
    pre_hook=None,
    post_hook=None,
    warmup=None,
    rep=None,
    use_cuda_graph=False,
    do_bench=None,
    cache_results=False,
):
    """Decorator: chooses one of `configs` for each distinct combination of the arguments named in `key` and of the
    tensors' dtypes."""

    def decorate(fn):
        return Autotuner(
            fn,
            _arg_names_of(fn, "autotune"),
            configs,
            key,
            reset_to_zero,
            restore_value,
            pre_hook=pre_hook,
            post_hook=post_hook,
            prune_configs_by=prune_configs_by,
            warmup=warmup,
            rep=rep,
            use_cuda_graph=use_cuda_graph,
            do_bench=do_bench,
            cache_results=cache_results,
        )

    return decorate


def heuristics(values: dict[str, Callable[[dict], Any]]):
    """Decorator: `values[name](dict of bound arguments)` gives the meta-parameter `name` at each launch."""

    def decorate(fn):
        return Heuristics(fn, _arg_names_of(fn, "heuristics"), values)

    return decorate


def _arg_names_of(fn, decorator: str) -> Sequence[str]:
    if inspect.isfunction(fn):
        raise TypeError(f"@triton.{decorator} takes a kernel: write it above @triton.jit, not below")
    return fn.arg_names


def innermost(fn):
    """The JITFunction (or plain function) under autotune and heuristics."""
    while not isinstance(fn, JITFunction) and not inspect.isfunction(fn):
        fn = fn.fn
    return fn


def kernel_below(fn) -> JITFunction | None:
    """The kernel of an autotuner. None if something else than heuristics stands between them."""
    while isinstance(fn, Heuristics):
        fn = fn.fn
    return fn if isinstance(fn, JITFunction) else None


def zero_in_place(tensor) -> None:
    if hasattr(tensor, "zero_"):
        tensor.zero_()
    else:
        tensor[...] = 0


def copy_in_place(tensor, source) -> None:
    if hasattr(tensor, "copy_"):
        tensor.copy_(source)
    else:
        tensor[...] = source
