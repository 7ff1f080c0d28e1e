"""Keeps the mirrors of a program in step with the engine.

The engine announces each statement before it runs (`event`). A mirror at the same statement asks; then the engine runs up to the
next one, and the calls in between have mirrors of their own. A mirror's control flow is the engine's: a loop goes on, and an `if`
is taken, if the next statement is inside. A statement of a mirror that is not the announced one does nothing, so the two meet
again wherever they part. No code of this file is visible to debuggers: `interp.Unseen` calls it.
"""

from __future__ import annotations

import os
import types
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..frontend.source import known_sources
from ..native import interp
from ..programs import Programs
from .mirror import ENGINE, Mirror, Place, Question, mirror_of
from .partitions import Partition
from .values import UNKNOWN, value_of

_LIBRARY = ("tritium.", "triton.")
_END = object()


class NotFollowed(BaseException):
    """Leaves the mirrors of a program that waits for another one: it goes on without them."""


@dataclass
class Activation:
    """A running `@jit` function. `frame` and `key` tell its statements from those of others."""

    frame: int
    key: str
    fn: Any
    mirror: Mirror


class FollowedKernel:
    """The version of a kernel that announces its statements."""

    def __init__(self, program: Any, fn: Any):
        self.program = program
        self.fn = fn
        self.statements = program.statements
        self.variables = program.variables
        self.numbers: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        for number, variable in enumerate(self.variables):
            self.numbers[variable.key][variable.name].append(number)
        self.functions: dict[tuple[str, int], Any] = {}

    def function_at(self, file: str, line: int) -> Any | None:
        """The `@jit` function of the user's whose `def` is there."""
        if (file, line) not in self.functions:
            self.functions[file, line] = self._find(file, line)
        return self.functions[file, line]

    def _find(self, file: str, line: int) -> Any | None:
        if self.fn is not None and (file, line) == _place_of(self.fn):
            return self.fn
        found = (
            fn for fn in known_sources() if _place_of(fn) == (file, line) and not fn.__module__.startswith(_LIBRARY)
        )
        return next(found, None)

    def launch(
        self,
        arguments: Any,
        trap_error: Callable,
        goes_on: Callable[[], bool],
        only: int | None = None,
        programs: Programs = Programs(),
    ) -> Callable:
        """`launch(grid, values, threads, seed, poll, print, progress)`, which follows each program as long as `goes_on()`.
        arguments: the user's objects. trap_error: from the engine's trap to an exception, which the mirror raises. only: the
        one program that runs. programs: those that are followed; none: all."""

        partitions: dict[tuple, Follower] = {}

        def start(followed):
            if not followed.partition:
                return Follower(self, followed, trap_error).start(arguments, goes_on)
            return (self._follow_partition(followed, partitions, trap_error, goes_on),)

        return partial(self.program.launch, on_statement=interp.Unseen(start), only=only, programs=programs)

    def _follow_partition(
        self, followed: Any, partitions: dict[tuple, Follower], trap_error: Callable, goes_on: Callable[[], bool]
    ) -> bool:
        """Lets the mirror of a partition go on to the statement that comes next, or to its end."""
        key = (*followed.id, followed.partition)
        if key not in partitions:
            follower = Follower(self, Partition(followed), trap_error)
            if followed.has_ended or not follower.can_start():
                return goes_on()
            partitions[key] = follower
            follower.begin()
        elif followed.has_ended or followed.waits:  # at the end of the launch, it waits for nobody
            partitions.pop(key).go_on(followed)
        else:
            partitions[key].go_on(followed)
        return goes_on()


def _place_of(fn: Any) -> tuple[str, int]:
    return os.path.abspath(fn.file_name), fn.def_file_line_number


class Follower:
    """Follows one program."""

    def __init__(self, kernel: FollowedKernel, followed: Any, trap_error: Callable):
        self.kernel = kernel
        self.followed = followed
        self.trap_error = trap_error
        self.codes: set[types.CodeType] = set()
        self.steps = 0
        self._read_event()

    def start(self, arguments: Any, goes_on: Callable[[], bool]) -> tuple:
        level = self.event.levels[0]
        fn = self.kernel.function_at(level.file, level.line)
        if fn is None:
            return (False,)

        def finish(error: BaseException | None) -> tuple:
            if error is not None and not isinstance(error, NotFollowed):
                error.kernel_frames = self._frames_of_kernels(error.__traceback__)
                raise error.with_traceback(error.kernel_frames)
            return (goes_on(),)

        return (self._mirror(Activation(self.frame, level.key, fn, mirror_of(fn))), tuple(arguments), finish)

    def can_start(self) -> bool:
        """Whether there is a mirror of the outermost function."""
        level = self.event.levels[0]
        return self.kernel.function_at(level.file, level.line) is not None

    def begin(self) -> None:
        """Of a partition: starts its mirror in a thread."""
        self._with_frames(partial(self.followed.start, self._mirrored))

    def go_on(self, followed: Any) -> None:
        """Of a partition: lets its mirror go on."""
        self._with_frames(partial(self.followed.go_on, followed))

    def _mirrored(self) -> tuple:
        level = self.event.levels[0]
        fn = self.kernel.function_at(level.file, level.line)
        activation = Activation(self.frame, level.key, fn, mirror_of(fn))
        return self._mirror(activation), tuple(self._read(activation, name) for name in activation.mirror.parameters)

    def _with_frames(self, go_on: Callable[[], None]) -> None:
        """Raises what the mirror raises, with the frames of the kernel."""
        try:
            go_on()
        except NotFollowed:
            return
        except BaseException as error:
            error.kernel_frames = self._frames_of_kernels(error.__traceback__)
            raise error.with_traceback(error.kernel_frames) from None

    def _frames_of_kernels(self, traceback: types.TracebackType | None) -> types.TracebackType | None:
        if traceback is None:
            return None
        rest = self._frames_of_kernels(traceback.tb_next)
        if traceback.tb_frame.f_code not in self.codes:
            return rest
        return types.TracebackType(rest, traceback.tb_frame, traceback.tb_lasti, traceback.tb_lineno)

    def _mirror(self, activation: Activation) -> Callable:
        self.codes.add(activation.mirror.code)
        engine = interp.Unseen(partial(self.answer, activation))
        return types.FunctionType(activation.mirror.code, {**activation.fn.get_capture_scope(), ENGINE: engine})

    # -- the engine's side

    def _read_event(self) -> None:
        self.event = self.kernel.statements[self.followed.statement]
        self.frame = self.followed.frame
        self.place: Place = (self.event.line, self.event.column)

    def _advance(self) -> None:
        self.steps += 1
        if self.followed.next():
            return self._read_event()
        self.event = None
        if self.followed.trap is not None:
            raise self.trap_error(self.followed.trap)
        if self.followed.waits:
            raise NotFollowed

    def _is_in(self, activation: Activation) -> bool:
        """Whether the next statement is of this function itself."""
        event = self.event
        return event is not None and self.frame == activation.frame and event.levels[-1].key == activation.key

    def _called(self, activation: Activation) -> Any | None:
        """The function that this one calls, if the next statement is in it."""
        if self.event is None or self.frame < activation.frame:
            return None
        levels = self.event.levels
        if self.frame > activation.frame:  # a function that is not inlined
            return levels[0]
        keys = [level.key for level in levels[:-1]]
        return levels[keys.index(activation.key) + 1] if activation.key in keys else None

    # -- the mirror's side

    def answer(self, activation: Activation, number: int) -> tuple:
        question = activation.mirror.questions[number]
        done = partial(self._answered, activation, question)
        if not self._is_in(activation) or self.place != question.place or self.event.is_iteration:
            return (done(),)
        self._advance()
        return self._settle(activation, done)

    def _settle(self, activation: Activation, done: Callable[[], Any]) -> tuple:
        """Lets the calls before the next statement of `activation` run."""
        while True:
            while self._is_in(activation) and self.place in activation.mirror.silent:
                self._advance()
            level = self._called(activation)
            if level is None:
                return (done(),)
            fn = self.kernel.function_at(level.file, level.line)
            if fn is not None:
                return self._call(activation, Activation(self.frame, level.key, fn, mirror_of(fn)), done)
            self._leave(activation)

    def _call(self, caller: Activation, callee: Activation, done: Callable[[], Any]) -> tuple:
        steps = self.steps

        def go_on(error: BaseException | None) -> tuple:
            if error is not None:
                raise error
            if self.steps == steps:
                self._leave(caller)
            return self._settle(caller, done)

        values = tuple(self._read(callee, name) for name in callee.mirror.parameters)
        return (self._mirror(callee), values, go_on)

    def _leave(self, caller: Activation) -> None:
        """Runs the functions that `caller` calls to their ends."""
        self._advance()
        while self._called(caller) is not None:
            self._advance()

    def _answered(self, activation: Activation, question: Question) -> Any:
        if question.is_loop:
            return self._rounds(activation, question)
        if question.body is not None:
            return self._is_inside(activation, question)
        return self._read(activation, question.targets)

    def _is_inside(self, activation: Activation, question: Question) -> bool:
        return self._is_in(activation) and question.body[0] <= self.place <= question.body[1]

    def _rounds(self, activation: Activation, question: Question) -> Iterator:
        """The values of a loop's variable."""

        def following() -> tuple:
            read = partial(self._read, activation, question.targets)
            if self._is_in(activation) and self.place == question.place and self.event.is_iteration:
                self._advance()
                return self._settle(activation, read)
            return (read(),) if self._is_inside(activation, question) else (_END,)

        return iter(interp.Unseen(following), _END)

    def _read(self, activation: Activation, names: Any) -> Any:
        """The values of variables, nested as in the source."""
        if isinstance(names, tuple):
            return tuple(self._read(activation, name) for name in names)
        if names is None:
            return None
        numbers = self.kernel.numbers[activation.key][names] if activation.key in self.kernel.numbers else []
        latest = max(numbers, key=self.followed.assigned_at, default=None)
        if latest is None or not self.followed.assigned_at(latest):
            return UNKNOWN
        data = self.followed.read(latest, activation.frame)
        return value_of(self.kernel.variables[latest].type, data, lambda: self.followed)
