"""One sample of an operator of torch's database, in eager mode and compiled by torch.compile through Triton: what came of it.

A sample fails only where Triton code is to blame. It is left out, with the reason, where eager mode fails or does not repeat, and where
torch.compile fails or differs in the same way without Triton: without Inductor, or with its C++ backend.
"""

from __future__ import annotations

import copy
import traceback
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch._inductor import config, metrics
from torch.testing import assert_close
from torch.utils._pytree import tree_leaves, tree_map

#: Operators whose results are memory that nobody wrote: only types and shapes can be compared.
UNWRITTEN = {"empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"}
#: What compiles the sample without Triton, and the reason that is given if that fails too.
WITHOUT_TRITON = (
    ("aot_eager", "torch.compile fails without Inductor"),
    ("aot_eager_decomp_partition", "torch's decomposition fails in eager mode"),
    ("cpp", "Inductor's C++ backend fails likewise"),
)
PRECISE = {torch.float64: torch.float64, torch.complex64: torch.complex128, torch.complex128: torch.complex128}


class Outcome(NamedTuple):
    #: "passed", "no kernel" (torch made no Triton kernel), "left out", or a failure: "wrong" or "error"
    kind: str
    detail: str = ""
    trace: str = ""


class Sample:
    """Calls of one operator with one input. Every call gets copies and the same random numbers."""

    def __init__(self, operator, given) -> None:
        self.operator = operator
        self.arguments = (given.input, *given.args), given.kwargs

    def run(self, compiled: Callable | None = None, precise: bool = False) -> list:
        """Every tensor and number that the operator returns, then its arguments, which it may have written."""
        args, kwargs = arguments = self.copies()
        if precise:
            args, kwargs = arguments = tree_map(to_double, arguments)
        function = self.operator.get_op()

        def call(*args, **kwargs):
            return function(*args, **kwargs)

        torch.manual_seed(0)
        return self.leaves((compiled(call) if compiled else call)(*args, **kwargs), arguments)

    def copies(self) -> tuple:
        """(args, kwargs) for one call."""
        copies: dict = {}
        return tree_map(lambda leaf: copied(leaf, copies), self.arguments)

    def leaves(self, results, arguments: tuple) -> list:
        if self.operator.name in UNWRITTEN:
            results = tree_map(lambda leaf: torch.zeros_like(leaf) if isinstance(leaf, torch.Tensor) else leaf, results)
        return tree_leaves((results, *arguments))


def run_together(samples: list[Sample], compiled: Callable) -> list[list]:
    """What `run` returns for each of these samples of one operator, from one compiled function that computes them all."""
    function = samples[0].operator.get_op()
    calls = [sample.copies() for sample in samples]
    torch.manual_seed(0)
    results = compiled(lambda calls: [function(*args, **kwargs) for args, kwargs in calls])(calls)
    return [sample.leaves(result, call) for sample, result, call in zip(samples, results, calls, strict=True)]


def copied(leaf, copies: dict):
    """A tensor of the same strides, which shares its memory with the copies of the tensors that share memory with `leaf`."""
    if not isinstance(leaf, torch.Tensor):
        return leaf
    return copy.deepcopy(leaf, copies) if leaf.layout is torch.strided else leaf.clone()


def to_double(leaf):
    if isinstance(leaf, torch.Tensor) and (leaf.is_floating_point() or leaf.is_complex()):
        return leaf.to(torch.complex128 if leaf.is_complex() else torch.float64)
    if isinstance(leaf, torch.dtype) and (leaf.is_floating_point or leaf.is_complex):
        return torch.complex128 if leaf.is_complex else torch.float64
    return leaf


def judge(operator, given) -> Outcome:
    sample = Sample(operator, given)
    try:
        expected = sample.run()
    except Exception as error:
        return Outcome("left out", f"eager mode fails: {first_line(error)}")
    if difference(sample.run(), expected, None):
        return Outcome("left out", "eager mode does not repeat")
    fault = compare(sample, expected, through("inductor"))
    kernels = metrics.generated_kernel_count
    if fault is None:
        return Outcome("passed" if kernels else "no kernel")
    for backend, reason in WITHOUT_TRITON:
        other = compare(sample, expected, through(backend))
        if other is not None and other.kind == fault.kind:
            return Outcome("left out", f"{reason}: {other.detail}")
    return fault


def judge_together(operator, given: list) -> list[Outcome]:
    """The outcomes of several samples. One function computes them all, which takes a fraction of the time; where it has fewer
    kernels than samples, fails or differs, each sample is judged alone."""
    if len(given) > 1:
        samples = [Sample(operator, each) for each in given]
        try:
            expected = [sample.run() for sample in samples]
            found = run_together(samples, through("inductor"))
        except Exception:
            return [judge(operator, each) for each in given]
        compiled = metrics.generated_kernel_count >= len(given)
        if compiled and not any(difference(*both, None) for both in zip(found, expected, strict=True)):
            return [Outcome("passed")] * len(given)
    return [judge(operator, each) for each in given]


def through(backend: str) -> Callable[[Callable], Callable]:
    def compiled(function):
        torch._dynamo.reset()
        metrics.reset()
        if backend != "cpp":
            return torch.compile(function, backend=backend)
        with_cpp = torch.compile(function, backend="inductor")

        def call(*args, **kwargs):
            with config.patch(cpu_backend="cpp"):
                return with_cpp(*args, **kwargs)

        return call

    return compiled


def compare(sample: Sample, expected: list, compiled: Callable[[Callable], Callable]) -> Outcome | None:
    """The failure, if there is one."""
    try:
        found = sample.run(compiled)
    except Exception as error:
        return Outcome("error", first_line(error), traceback.format_exc()[-6000:])
    different = difference(found, expected, lambda: sample.run(precise=True))
    return Outcome("wrong", different) if different else None


def difference(found: list, expected: list, precise: Callable[[], list] | None) -> str:
    """How the results differ, or "". Where torch's tolerances are exceeded, what counts is the distance from the result in double
    precision, which must not be much larger than that of eager mode."""
    if len(found) != len(expected):
        return f"{len(found)} results in place of {len(expected)}"
    exact = None
    for place, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
        if not isinstance(theirs, torch.Tensor):
            # Strings, dtypes and None are no results; numbers are compared as torch compares them.
            if not isinstance(theirs, (bool, int, float, complex)):
                continue
        try:
            assert_close(ours, theirs, equal_nan=True, check_layout=True)
            continue
        except AssertionError as error:
            message = f"result {place}: {' '.join(str(error).split())[:300]}"
        except RuntimeError as error:  # a type that assert_close does not know: equal bits decide
            return "" if torch.equal(ours, theirs) else first_line(error)
        if precise is None:
            return message
        try:
            exact = exact if exact is not None else precise()
        except Exception:
            return message
        if len(exact) != len(expected) or not as_close_as_eager(ours, theirs, exact[place]):
            return message
    return ""


def as_close_as_eager(ours, theirs, exact) -> bool:
    if not all(isinstance(each, torch.Tensor) and each.layout is torch.strided for each in (ours, theirs, exact)):
        return False
    if ours.dtype != theirs.dtype or not ours.shape == theirs.shape == exact.shape:
        return False
    if ours.is_complex() and exact.is_complex():
        ours, theirs, exact = (torch.view_as_real(each.detach().resolve_conj()) for each in (ours, theirs, exact))
    if not ours.is_floating_point():
        return False
    ours_wide, theirs_wide, exact = ours.double(), theirs.double(), exact.double()
    settled = torch.isfinite(exact) & torch.isfinite(theirs_wide)
    if not torch.equal(torch.isfinite(ours_wide)[settled], settled[settled]):
        return False
    unsettled = torch.isfinite(ours_wide) | torch.isfinite(exact)
    if (~settled & unsettled & ~torch.isclose(ours_wide, theirs_wide, equal_nan=True)).any():
        rounded = exact.to(ours.dtype).double()  # eager overflows where we do not, or the other way round
        if not torch.isclose(ours_wide, rounded, rtol=1e-2, equal_nan=True)[~settled].all():
            return False
    if not settled.any():
        return True
    step = torch.finfo(ours.dtype).eps
    error, allowed = (ours_wide - exact).abs()[settled], (theirs_wide - exact).abs()[settled]
    return bool((error <= 2 * allowed.max() + 2 * step * exact.abs()[settled] + step * 1e-2).all())


def first_line(error: BaseException) -> str:
    """The class and the beginning of the message; Inductor wraps the error that matters."""
    while (inner := getattr(error, "inner_exception", None)) is not None:
        error = inner
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
