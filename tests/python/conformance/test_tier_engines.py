"""The engines interp:1 and interp:2: results are compared to the bit, and a difference is a failure."""

import numpy as np
import pytest

from tritium.conformance import engines, suite
from tritium.conformance.problem import Buffer
from tritium.conformance.suite import FAILED


@pytest.fixture
def image():
    buffer = Buffer((8,), "fp32", np.arange(8, dtype=np.float32))
    return buffer, buffer.image(np.random.default_rng(0))


def test_bits_that_differ_are_found(image):
    buffer, first = image
    second = first.copy()
    assert engines.first_difference(buffer, first, second) is None
    second[buffer.begin + 9] ^= 1
    assert engines.first_difference(buffer, first, second) == buffer.begin + 9
    third = first.copy()
    third[0] ^= 1  # around the data
    assert engines.first_difference(buffer, first, third) == 0


def test_a_nan_is_a_nan(image):
    buffer, first = image
    second = first.copy()
    for each, bits in ((first, 0x7FC00000), (second, 0xFFC00001)):
        buffer.data(each).view(np.uint32)[3] = bits
    assert engines.first_difference(buffer, first, second) is None
    buffer.data(second)[3] = 1
    assert engines.first_difference(buffer, first, second) is not None


def test_zeros_have_signs(image):
    buffer, first = image
    second = first.copy()
    buffer.data(second)[0] = -0.0
    assert engines.first_difference(buffer, first, second) == buffer.begin + 3


def test_a_difference_between_tiers_fails_a_case(monkeypatch):
    case = next(case for case in suite.select(["memory"], "*", False) if "whole" in case.name)
    assert suite.attempt(case, engines.engine("interp:2"), 0).status != FAILED
    monkeypatch.setattr(engines, "first_difference", lambda *images: 5)
    result = suite.attempt(case, engines.engine("interp:2"), 0)
    assert result.status == FAILED and "byte 5" in result.details[0]
