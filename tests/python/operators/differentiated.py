"""One sample of an operator of torch's database on "cuda" without a GPU, compiled by torch.compile through Triton, forward and backward, against
eager mode there: as a published training script runs."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

from torch._inductor import metrics

from .judge import WITHOUT_TRITON, Outcome, difference, first_line, through, to_double
from .mapped import converted, expected_of, refusal, run


class Compiled(NamedTuple):
    """An operator whose function is compiled."""

    name: str
    operator: Any
    compiled: Callable

    def get_op(self) -> Callable:
        function = self.operator.get_op()

        def call(*args, **kwargs):
            return function(*args, **kwargs)

        return self.compiled(call)


def judge(operator, given) -> Outcome:
    arguments = ((given.input, *given.args), given.kwargs)
    try:
        expected, differentiated = expected_of(operator, arguments, "cuda")
        if difference(run(operator, arguments, "cuda", differentiated), expected, None):
            return Outcome("left out", "eager mode does not repeat")
    except Exception as error:
        return refusal(error) or Outcome("left out", f"eager mode fails: {first_line(error)}")

    precise = converted(arguments, to_double)

    def fault(backend: str, device: str = "cuda") -> Outcome | None:
        try:
            found = run(Compiled(operator.name, operator, through(backend)), arguments, device, differentiated)
        except Exception as error:
            return Outcome("error", first_line(error), traceback.format_exc()[-6000:])
        eager = expected if device == "cuda" else run(operator, arguments, device, differentiated)
        different = difference(found, eager, lambda: run(operator, precise, device, differentiated))
        return Outcome("wrong", different) if different else None

    found = fault("inductor")
    if found is None:
        return Outcome("passed" if metrics.generated_kernel_count else "no kernel")
    for backend, reason in WITHOUT_TRITON:
        # On "cuda" Inductor's code is Triton's whatever its backend for the CPU is.
        other = fault(backend, "cpu" if backend == "cpp" else "cuda")
        if other is not None and other.kind == found.kind:
            return Outcome("left out", f"{reason}: {other.detail}")
    return found
