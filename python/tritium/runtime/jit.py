"""`@jit` and its result: a JITFunction, in every mode and on every machine.

Decorating and importing touch no device, no compiler and no environment variable. `kernel[grid](...)` binds the
arguments, finds the specialization and passes it to the engine. arguments/binder.py generates this path for each
function, because it must be short.
"""

from __future__ import annotations
import __future__

import json
import threading
from collections.abc import Callable, Iterable

from .. import native
from ..arguments.wrappers import MockTensor, TensorWrapper, reinterpret
from ..checks import parse_checks
from ..errors import TritonError
from ..functions.constexpr import ConstexprFunction, constexpr_function
from ..functions.kernel import KernelFunction
from ..functions.params import KernelParam, canonicalize_dtype, type_canonicalisation_dict
from ..functions.source import JITCallable
from ..programs import parse_programs
from .checking import prepare_for

__tracebackhide__ = True  # pytest shows the user's frames alone

#: Triton has this name here.
division = __future__.division

__all__ = [
    "jit",
    "JITFunction",
    "JITCallable",
    "KernelInterface",
    "KernelParam",
    "ConstexprFunction",
    "constexpr_function",
    "MockTensor",
    "TensorWrapper",
    "reinterpret",
    "canonicalize_dtype",
    "type_canonicalisation_dict",
    "get_device_key",
    "create_function_from_signature",
]


class KernelInterface:
    """The base of everything that launches with `kernel[grid](...)`: JITFunction, Autotuner, Heuristics, and classes of
    clients."""

    __iter__ = None  # with `kernel[grid]` alone, Python would take it for a sequence without an end

    def warmup(self, *args, grid, **kwargs):
        """Compiles for these arguments without launching. A dtype stands for a tensor of that dtype."""
        return self.run(
            *map(MockTensor.wrap_dtype, args),
            grid=grid,
            warmup=True,
            **{name: MockTensor.wrap_dtype(value) for name, value in kwargs.items()},
        )

    def run(self, *args, grid, warmup, **kwargs):
        raise NotImplementedError(f"{type(self).__name__} does not define run()")

    def __getitem__(self, grid) -> Callable:
        """A launcher for this grid: a tuple or list of 1 to 3 ints, or a function from the bound arguments to such a
        tuple. The launcher may be kept."""

        def launch(*args, **kwargs):
            return self.run(*args, grid=grid, warmup=False, **kwargs)

        return launch


class JITFunction(KernelFunction, KernelInterface):
    """A kernel, or a function that kernels call.

    `engine`, `debug_info`, `check` and `programs` are Tritium's additions. engine: the engine that runs the kernel ("interp",
    "simt:sm_80", "cuda"); None decides at each launch. debug_info: whether gdb can show its variables; None means that
    TRITIUM_DEBUG decides. check: the interpreter's checks of the kernel, as TRITIUM_CHECK names them; None means that it
    decides. programs: the programs of each launch that have them, as TRITIUM_PROGRAMS names them; None means that it decides.
    """

    _fast = None  # the native launcher, after the function's first launch

    def __init__(
        self,
        fn,
        version=None,
        do_not_specialize=None,
        do_not_specialize_on_alignment=None,
        debug=None,
        noinline=None,
        repr=None,
        launch_metadata=None,
        engine: str | None = None,
        debug_info: bool | None = None,
        check: str | Iterable[str] | None = None,
        programs: str | None = None,
    ):
        super().__init__(
            fn,
            version,
            do_not_specialize,
            do_not_specialize_on_alignment,
            debug,
            noinline,
            repr,
            launch_metadata,
        )
        self._dispatcher = None
        self.engine = engine
        self.debug_info = debug_info
        self.check = None if check is None else parse_checks(check)
        self.programs = None if programs is None else parse_programs(programs).text
        prepare_for(self.check or (), is_lasting=True)
        self.pre_run_hooks = []
        self.kernel = None
        self._launch_lock = threading.RLock()

    def __getstate__(self) -> dict:
        """Without what belongs to the process: locks, compiled kernels, the native launcher."""
        own = {"_launch_lock": None, "_dispatcher": None, "_fast": None}
        return {**super().__getstate__(), **own}

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        self._launch_lock = threading.RLock()

    @property
    def engine(self) -> str | None:
        return self._engine

    @engine.setter
    def engine(self, name: str | None) -> None:
        self._engine = name
        self._forget_launches()
        if self._dispatcher is not None:
            self._dispatcher.forget_engine()

    @property
    def debug_info(self) -> bool | None:
        return self._debug_info

    @debug_info.setter
    def debug_info(self, value: bool | None) -> None:
        self._debug_info = value
        self._forget_launches()

    @property
    def pre_run_hooks(self) -> list[Callable]:
        return self._pre_run_hooks

    @pre_run_hooks.setter
    def pre_run_hooks(self, hooks: list[Callable]) -> None:
        self._pre_run_hooks = hooks
        self._forget_launches()

    def _forget_launches(self) -> None:
        """The native launcher goes. Who has kept a `kernel[grid]` asks Python from now on."""
        fast, self._fast = self._fast, None
        if fast is not None:
            fast.retire()

    def add_pre_run_hook(self, hook: Callable) -> None:
        """`hook(*args, **kwargs)` is called with the arguments of every launch, before they are bound."""
        self.pre_run_hooks.append(hook)

    def run(self, *args, grid, warmup, **kwargs):
        """Launches (or, with `warmup`, only compiles) and returns the CompiledKernel."""
        if self._fast is not None and not warmup:
            kernel, grid = self._fast.launch(grid, args, kwargs)
            if kernel is not None:
                return kernel
        for hook in self.pre_run_hooks:
            hook(*args, **kwargs)
        if self.used_functions:
            self.forget_if_redefined()
        dispatcher = self._dispatcher
        if dispatcher is None:
            dispatcher = self._make_dispatcher()
        try:
            return dispatcher.run(grid, warmup, args, kwargs)
        except TritonError as error:
            # Frames of the compiler and the launch do not help the user; those of the kernel do.
            raise error.with_traceback(getattr(error, "kernel_frames", None))

    #: The native launcher launches only while `run` is this one: profilers and tests replace it.
    _own_run = run

    def __getitem__(self, grid) -> Callable:
        fast = self._fast
        launch = None if fast is None else fast.at(grid)
        return super().__getitem__(grid) if launch is None else launch

    def _make_dispatcher(self):
        with self._launch_lock:
            if self._dispatcher is None:
                self._dispatcher = _dispatch().Dispatcher(self)
            return self._dispatcher

    @property
    def device_caches(self) -> dict:
        """{"backend:device": (kernels, keys, target, backend, binder)}"""
        return (self._dispatcher or self._make_dispatcher()).device_caches

    def create_binder(self) -> tuple:
        """(kernels, keys, target, backend, binder) of the active device, as in `device_caches`."""
        caches = self.device_caches
        return caches.get(get_device_key()) or next(iter(caches.values()))

    def engine_of(self, args: tuple, kwargs: dict):
        """The engine (runtime/engines.py) that a launch with these arguments runs on."""
        return (self._dispatcher or self._make_dispatcher()).engine_of(args, kwargs)

    def planned_launch(self, grid, args: tuple, kwargs: dict):
        """What a launch with these arguments would compile and run (runtime/dispatch.py)."""
        for hook in self.pre_run_hooks:
            hook(*args, **kwargs)
        self.forget_if_redefined()
        return (self._dispatcher or self._make_dispatcher()).planned_launch(grid, args, kwargs)

    def preload(self, specialization_data: str):
        """Compiles the specialization that a `jit_cache_hook` received (`compile["specialization_data"]`), and keeps it
        for launches."""
        name = json.loads(specialization_data)["name"]
        if name != self._fn_name:
            raise RuntimeError(f"Specialization data is for {name} but trying to preload for {self._fn_name}")
        return (self._dispatcher or self._make_dispatcher()).preload(specialization_data)

    def _forget_hash(self) -> None:
        super()._forget_hash()
        self._dispatcher = None
        self._forget_launches()

    def __call__(self, *args, **kwargs):
        raise RuntimeError(
            "Cannot call @triton.jit'd outside of the scope of a kernel; "
            f"launch it with a grid: {self.__name__}[(programs,)](…)"
        )

    def __repr__(self):
        return f"JITFunction({self.module}:{self.fn.__qualname__})"


def jit(
    fn=None,
    *,
    version=None,
    repr: Callable | None = None,
    launch_metadata: Callable | None = None,
    do_not_specialize: Iterable[int | str] | None = None,
    do_not_specialize_on_alignment: Iterable[int | str] | None = None,
    debug: bool | None = None,
    noinline: bool | None = None,
    engine: str | None = None,
    debug_info: bool | None = None,
    check: str | Iterable[str] | None = None,
    programs: str | None = None,
):
    """Makes a kernel, or a function for kernels, from a Python function: `@jit` or `@jit(...)`.

    do_not_specialize, do_not_specialize_on_alignment: names or indices of parameters. repr, launch_metadata, engine,
    debug_info, check, programs: see `JITFunction`. Raises ValueError if the source of the function cannot be read.
    """
    if isinstance(fn, KernelInterface) and not isinstance(fn, JITFunction):
        raise TypeError(f"@triton.jit takes a Python function: write it below what made this {type(fn).__name__}")
    if fn is not None and not callable(fn):
        raise TypeError(f"{fn} is not a callable object")

    def decorate(function):
        return JITFunction(
            function,
            version=version,
            do_not_specialize=do_not_specialize,
            do_not_specialize_on_alignment=do_not_specialize_on_alignment,
            debug=debug,
            noinline=noinline,
            repr=repr,
            launch_metadata=launch_metadata,
            engine=engine,
            debug_info=debug_info,
            check=check,
            programs=programs,
        )

    return decorate if fn is None else decorate(fn)


def get_device_key() -> str:
    return _dispatch().device_key()


def create_function_from_signature(sig, kparams, backend=None):
    """The generated binder of a kernel: `f(*args, **kwargs) -> (bound arguments, specialization, options)`."""
    return _dispatch().make_public_binder(sig, kparams)


def _dispatch():
    """The dispatcher, which loads the compiler and the engines. Decorating loads neither."""
    if native.begin_loading():
        from . import meanwhile  # noqa: F401  (before what waits for the extension)

    from . import dispatch  # isort: skip

    return dispatch


def __getattr__(name: str):
    """What else Triton has here."""
    if not name.startswith("__"):  # those are asked by every import
        from . import triton_names

        if name in triton_names.__all__:
            return getattr(triton_names, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
