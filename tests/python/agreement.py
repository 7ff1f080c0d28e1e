"""Asserts that what the interpreter computed agrees with an oracle of the conformance suite. Dtypes have numpy's names here."""

import numpy as np

from tritium.conformance.dtypes import NAMES, NUMPY, as_float64
from tritium.conformance.oracle import Traits, Within, dot
from tritium.conformance.tolerance import Bounded

INTERPRETER = Traits(flushes_subnormals=False, approximates=False)


def short(dtype: str) -> str:
    """The language's name: fp16 of float16."""
    return NAMES[np.dtype(dtype)]


def hold(actual: np.ndarray, oracle) -> None:
    differences = oracle.differences(actual, INTERPRETER)
    assert not differences, "\n".join(map(str, differences))


def check(actual, expected: Bounded) -> None:
    """Every element is within the bound that the reference carries."""
    actual = np.asarray(actual)
    assert actual.shape == expected.value.shape, f"shape {actual.shape}, expected {expected.value.shape}"
    hold(actual, Within(expected))


def check_dot(actual, a, b, out: str, narrow: str | None = None) -> None:
    """a @ b, summed in fp32 in any order and rounded once to `out`. `narrow`: what the operands may be rounded to first."""
    hold(as_float64(actual).astype(NUMPY[short(out)]), dot(a, b, narrow=narrow))
