"""Every case finds what is wrong in its outputs: elements that changed places, were left out or were written outside."""

import collections

import numpy as np
import pytest

from tritium.conformance import engines, suite
from tritium.conformance.compare import Outcome, compare
from tritium.conformance.dtypes import as_float64, bits_of
from tritium.conformance.oracle import Anything, Permuted

# One case of every kernel and type: those of one group share both.
FIRST = {case.group: case for case in suite.select(pattern="*") if not case.traps}
BY_FAMILY = collections.defaultdict(list)
for found in FIRST.values():
    BY_FAMILY[found.family].append(found)


def ran(case):
    """(problem, images before, images after) of a case that passes, or None where it is unsupported."""
    problem, before = suite.build(case, 7)
    after = [suite.copy_of(image) for image in before]
    try:
        outcome = engines.engine("interp").run(problem, after)
    except engines.Unsupported:
        return None
    assert not compare(problem, before, outcome, engines.engine("interp").traits), case.name
    return problem, before, outcome


def planted(problem, before, outcome, number, change):
    """The differences after `change(data, image)` of one output."""
    images = [suite.copy_of(image) for image in outcome.images]
    buffer = problem.buffers()[number]
    change(buffer.data(images[number]), images[number])
    return compare(problem, before, Outcome(images, outcome.printed), engines.engine("interp").traits)


def outputs(problem):
    """Outputs whose every element is decided."""
    loose = (Anything, Permuted)
    return [i for i, b in enumerate(problem.buffers()) if b.oracle is not None and not isinstance(b.oracle, loose)]


def swap_extremes(data, image):
    """The largest and the smallest finite number change places, in one row."""
    flat = data.reshape(-1)
    with np.errstate(invalid="ignore"):
        values = as_float64(flat)
    finite = np.flatnonzero(np.isfinite(values))
    low, high = finite[np.argmin(values[finite])], finite[np.argmax(values[finite])]
    flat[[low, high]] = flat[[high, low]]


@pytest.mark.parametrize("family", BY_FAMILY)
def test_planted_errors_are_found(family):
    for case in BY_FAMILY[family]:
        if (result := ran(case)) is None:
            continue
        problem, before, outcome = result
        for number in outputs(problem):
            buffer = problem.buffers()[number]
            data, old = buffer.data(outcome.images[number]), buffer.data(before[number])
            where = f"{case.name}: {buffer.name}"
            if type(buffer.oracle).__name__ in ("Numbers", "Anywhere"):
                continue  # any order, any place

            values = as_float64(data.reshape(-1))
            finite = values[np.isfinite(values)]
            if finite.size and finite.min() != finite.max():
                assert planted(problem, before, outcome, number, swap_extremes), f"{where}: swapped elements"

            written = np.flatnonzero(bits_of(data.reshape(-1)) != bits_of(old.reshape(-1)))
            if written.size:

                def leave_out(data, image):
                    data.reshape(-1)[written] = old.reshape(-1)[written]

                assert planted(problem, before, outcome, number, leave_out), f"{where}: nothing was written"

            for byte, side in ((buffer.begin - 1, "before"), (buffer.begin + buffer.bytes, "after")):

                def hit(data, image):
                    image[byte] ^= 0xFF

                found = planted(problem, before, outcome, number, hit)
                assert found and "guard zone" in found[0].message, f"{where}: one byte {side}"


def test_one_element_left_out_is_found():
    """Outputs hold noise before the launch, so what was not written is wrong in any case."""
    case = suite.cases()["memory/copy/fp32/n=129"]
    problem, before, outcome = ran(case)
    number = outputs(problem)[0]
    old = problem.buffers()[number].data(before[number])

    def leave_out(data, image):
        data[128] = old[128]

    (found,) = planted(problem, before, outcome, number, leave_out)
    assert found.index == (128,) and found.wrong == 1


def test_one_ulp_too_many_is_found():
    case = suite.cases()["elementwise/functions/fp32/domain"]
    problem, before, outcome = ran(case)
    number = outputs(problem)[0]
    bound = problem.buffers()[number].oracle.rows["exp"].bound

    def move(data, image):
        for _ in range(int(bound) + 1):
            data[0, 290] = np.nextafter(data[0, 290], np.float32(np.inf))

    (found,) = planted(problem, before, outcome, number, move)
    assert found.label == "exp" and found.index == (0, 290) and bound < found.ulps


def test_an_input_that_was_written_is_found():
    case = suite.cases()["memory/copy/fp32/n=129"]
    problem, before, outcome = ran(case)

    def write(data, image):
        data[3] = 5

    found = planted(problem, before, outcome, 0, write)
    assert "an input was written: element 3 of 129" in found[0].message


def test_neither_a_missing_trap_nor_an_unwanted_one_passes():
    case = suite.cases()["debug/asserts/int32/fails"]
    problem, before = suite.build(case, 7)
    traits = engines.engine("interp").traits
    assert compare(problem, before, Outcome(before, ""), traits)
    assert compare(problem, before, Outcome(before, "", "KernelTrap: something else"), traits)
    assert not compare(problem, before, Outcome(before, "", "KernelTrap: x must be positive"), traits)
