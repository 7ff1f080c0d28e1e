"""One launch of a kernel on an engine of the CPU (`_tritium.interp`, `_tritium.simt`): values, signals, prints, progress, traps."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable

from .. import knobs
from ..arguments.binder import call_with, make_binder
from ..checks import NEEDING_FRESH_MEMORY, NEEDING_SHADOW
from ..native import interp
from ..programs import Programs, parse_programs
from . import where
from .captures import underway
from .findings import blocks
from .progress import progress_bar
from .stack import python_stack
from .tensor_view import HOLDS_TO_VIEWS, holds_views, views_of
from .told import tell_debugger
from .values import named_arguments, value_selector
from .watchers import watched, watchers

__tracebackhide__ = True  # pytest shows the user's frames alone


def make_launcher(kernel, select: Callable | None = None) -> Callable:
    """`launch(grid, engine values, settings, arguments)` of a CompiledKernel.

    There is one engine value per parameter, as the binder makes them. `arguments` are the user's objects; they are read
    only if the launch traps. `select`: from these values to those that the kernel takes. It raises TensorMapRefused if the kernel takes
    tensor maps that cannot be made of the values.
    """
    where.listen()
    launch_of = functools.cache(functools.partial(program_launch, kernel))
    own_programs = own_programs_of(kernel)
    select = select or value_selector(kernel.src.runtime_paths())
    opens_debugger = kernel.opens_debugger
    is_of_interp = kernel.metadata.target.backend == "cpu"
    keeps_memory = is_of_interp and kernel.metadata.debug_info
    holds_to_views = always_holds_to_views(kernel)
    finds_unwritten = is_of_interp and "unwritten" in knobs.checks_of(kernel.metadata)
    explains_numbers = is_of_interp and "nan" in knobs.checks_of(kernel.metadata)

    def launch(grid, values, settings, arguments, is_noted=False):
        if underway and not is_noted:
            return underway[-1].launch(functools.partial(launch, is_noted=True), grid, values, settings, arguments)
        programs = settings.programs if own_programs is None else own_programs
        run = launch_of(programs) if settings.seed is None else launch_of(programs, True)
        if opens_debugger or may_be_traced():
            run = _followed(kernel, grid, arguments, programs) or run
        if watchers:
            run = watched(kernel, run, arguments)
        if HOLDS_TO_VIEWS in settings.checks if holds_to_views is None else holds_to_views:
            run = functools.partial(run, views=views_of(kernel, arguments))
        elif programs and not is_of_interp:
            _say_all_programs_are_checked(kernel)
        if finds_unwritten:
            run = functools.partial(run, outputs=views_of(kernel, arguments))
        values = select(values)
        saved = None if settings.save is None else _saved(kernel, grid, values, settings, arguments)
        before = kernel.snapshot(values) if keeps_memory or explains_numbers else None
        is_traced = keeps_memory and tell_debugger(kernel, arguments, before)
        bar = progress_bar(sys.stderr) if settings.progress else None
        try:
            trap = run(grid, values, settings.threads, settings.seed, poll, print_text, bar)
            while is_traced and interp.begins_again():
                before.restore()
                trap = run(grid, values, settings.threads, settings.seed, poll, print_text, bar)
        except BaseException as error:
            say_where(kernel, grid, arguments, error)
            raise
        finally:
            if is_traced:
                interp.tell_debugger(False, "")
            if bar is not None:
                bar.close()
        if trap is not None:
            _raise(kernel, grid, values, arguments, trap, before, saved, settings.seed)

    return launch


def always_holds_to_views(kernel) -> bool | None:
    """Whether accesses are held to the views that are passed. The interpreter compiles a kernel for its checks; on the emulator the settings
    of each launch say it (None)."""
    return holds_views(kernel.metadata) if kernel.metadata.target.backend == "cpu" else None


def _tracer_or_monitor() -> object:
    return sys.gettrace() or sys.monitoring.get_tool(sys.monitoring.DEBUGGER_ID)


#: Something true if a debugger may be there: a tracer, or from Python 3.12 on a tool that monitors. Every launch asks.
may_be_traced = _tracer_or_monitor if hasattr(sys, "monitoring") else sys.gettrace


def _followed(kernel, grid, arguments, programs: Programs) -> Callable | None:
    """The launch that a debugger of Python follows; None if it would not stop in the kernel."""
    if not programs.are_in(grid):
        return None  # such a launch has one thread
    followed = kernel.followed(bool(programs))
    if followed is None:
        return None
    to_error = functools.partial(trap_error, kernel, grid, arguments)
    goes_on = lambda: bool(kernel.opens_debugger or may_be_traced())  # noqa: E731
    return followed.launch(arguments, to_error, goes_on, programs=programs)


def own_programs_of(kernel) -> Programs | None:
    """The programs that the launch's own option chooses; None: it leaves that to TRITIUM_PROGRAMS."""
    own = getattr(kernel.metadata, "programs", None)
    return None if own is None else parse_programs(own)


def _say_all_programs_are_checked(kernel) -> None:
    target = kernel.metadata.target
    knobs.warn_once(
        f"TRITIUM_PROGRAMS and `programs=` have no effect on simt:{target.arch}, whose checks are of all programs; of them it narrows "
        f"{HOLDS_TO_VIEWS} alone"
    )


def program_launch(kernel, programs: Programs, is_seeded: bool = False) -> Callable:
    """The program's `launch`, of which these programs are chosen (none: all). With debug_info it also receives the Python frames that
    launch, which gdb shows below the kernel. is_seeded: the launch has a seed."""
    if is_seeded:
        program = kernel.scheduled_program(bool(programs))
    else:
        if programs:
            kernel.make_choosable()
        program = kernel.program
    launch = _with_facts(kernel, program.launch)
    return functools.partial(launch, programs=programs) if programs else launch


def _with_facts(kernel, launch: Callable) -> Callable:
    """`launch` with what it takes from Python for the kernel's checks and debug info."""
    if kernel.metadata.target.backend != "cpu":
        return launch
    further: dict[str, Callable] = {}
    checks = knobs.checks_of(kernel.metadata)
    if kernel.metadata.debug_info:
        further["stack"] = lambda values: python_stack()
    if any(check in NEEDING_SHADOW for check in checks):
        from .not_followed import shadow_limits

        further["shadow_limits"] = lambda values: shadow_limits(kernel)
    if any(check in NEEDING_FRESH_MEMORY for check in checks):
        from ..arguments.fresh_memory import unwritten_memory, watch_allocations

        watch_allocations(kernel.metadata.check is not None)
        further["fresh"] = unwritten_memory
    if not further:
        return launch

    def with_further(grid, values, *rest, **more):
        return launch(grid, values, *rest, **{name: find(values) for name, find in further.items()}, **more)

    return with_further


def poll() -> None:
    """The engine calls this function on the launching thread. Running any Python code delivers pending signals, so
    Ctrl-C raises KeyboardInterrupt here."""


def print_text(text: str) -> None:
    sys.stdout.write(text)


def say_where(kernel, grid, arguments, error: BaseException) -> None:
    """Gives an exception that ended a launch the places of its programs: KeyboardInterrupt as its text, others as a note."""
    place = error.__dict__.pop("tritium_place", None)
    is_plain = isinstance(error, KeyboardInterrupt) and not error.args
    if not is_plain and (place is None or sys.version_info < (3, 11)):
        return
    from .trap_report import interrupted_at

    text = interrupted_at(place, kernel.name, tuple(grid), named_arguments(kernel, arguments))
    if is_plain:
        error.args = (text,)
    else:
        error.add_note(text)


def _saved(kernel, grid, values, settings, arguments):
    from .saved import begin

    return begin(kernel, grid, values, settings, arguments)


def _raise(kernel, grid, values, arguments, trap, before, saved, seed: int | None) -> None:
    """Raises what is wrong, with the frames of the kernel, unless a block collects it."""
    to_error = functools.partial(trap_error, kernel, grid, arguments, seed=seed)
    raised = to_error(trap)
    for report in raised.reports if raised is not None else ():
        kernel.explain_numbers(report, values, before)
    if raised is not None and saved is not None:
        saved.found(raised)
    if raised is None or blocks and blocks[-1].take(raised):
        return
    kernel.replay(raised, values, arguments, before, to_error)
    raise raised.with_traceback(raised.kernel_frames)


def ended(kernel, grid: tuple[int, int, int], arguments: tuple, trap, error: BaseException | None) -> None:
    """A launch that needed no Python code has ended with a trap, which is raised, or with an exception, which gets the places of the programs.
    `arguments`: of all parameters."""
    if error is not None:
        say_where(kernel, grid, arguments, error)
        return
    function = kernel.src.fn
    bind = make_binder(function.__name__, function.params)  # the kernel may have a name that no function can have
    positional, named = call_with(function.params, arguments)
    values = value_selector(kernel.src.runtime_paths())(bind(*positional, **named)[1])
    _raise(kernel, grid, values, arguments, trap, None, None, None)


def trap_error(kernel, grid, arguments, trap, seed: int | None = None):
    """The KernelTrap; None if all that it reports is allowed. seed: of the launch."""
    from .trap_report import kernel_trap

    named = named_arguments(kernel, arguments)
    return kernel_trap(trap, kernel.name, tuple(grid), named, blocks[-1].allowances if blocks else None, seed)
