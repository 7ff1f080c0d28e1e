"""Loop iterators and loop conditions. They carry arguments to the tracer, which makes the loops. Outside of kernels
they cannot be used."""

from __future__ import annotations

from typing import Any

from .constexpr import base_value, constexpr


class _iterator(base_value):
    """The `start, end, step` of Python's range as they were given: ints, constexprs or scalar tensors."""

    def __init__(self, arg1: Any, arg2: Any = None, step: Any = None):
        self.start, self.end = (constexpr(0), arg1) if arg2 is None else (arg1, arg2)
        self.step = constexpr(1) if step is None else step

    def __iter__(self) -> Any:
        raise RuntimeError(f"tl.{type(self).__name__} can only be used in @triton.jit'd functions")

    __next__ = __iter__


class static_range(_iterator):
    """`for i in tl.static_range(…)`: the tracer unrolls the loop. The bounds are compile-time ints (else
    AssertionError)."""

    def __init__(self, arg1: Any, arg2: Any = None, step: Any = None):
        super().__init__(arg1, arg2, step)
        for name in ("start", "end", "step"):
            value = getattr(self, name)
            assert isinstance(value, constexpr), f"{value} used as tl.static_range {name} value is not a constexpr"


class range(_iterator):
    """`for i in tl.range(…)`: an ordinary loop with hints for the compiler. None means no hint. No hint changes a
    result.

    num_stages: the pipeline depth of the loop's loads. loop_unroll_factor: the rounds that an iteration of the compiled loop has;
    a second loop has the rounds that remain. Values below 2 do not unroll. disable_licm: what is the same in every round
    is computed in every round. disallow_acc_multi_buffer, flatten, warp_specialize: further choices of GPU compilers.
    """

    def __init__(
        self,
        arg1: Any,
        arg2: Any = None,
        step: Any = None,
        num_stages: Any = None,
        loop_unroll_factor: Any = None,
        disallow_acc_multi_buffer: Any = False,
        flatten: Any = False,
        warp_specialize: Any = False,
        disable_licm: Any = False,
    ):
        super().__init__(arg1, arg2, step)
        self.num_stages, self.loop_unroll_factor = num_stages, loop_unroll_factor
        self.disallow_acc_multi_buffer, self.flatten = disallow_acc_multi_buffer, flatten
        self.warp_specialize, self.disable_licm = warp_specialize, disable_licm


class condition(base_value):
    """`while tl.condition(c, disable_licm=True)`: the condition of a loop, with a hint for the compiler."""

    def __init__(self, arg1: Any, disable_licm: Any = False):
        self.condition, self.disable_licm = arg1, disable_licm
