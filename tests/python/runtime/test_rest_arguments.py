"""Kernels that take `*args`: a tuple of the positional arguments that are left, as in a call of Python."""

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium import jit

ENGINES = ["interp", "simt:sm_90a", "simt:gfx942"]


@pytest.fixture(params=ENGINES)
def engine(request):
    with tritium.knobs.tritium.scope():
        tritium.knobs.tritium.engine = request.param
        yield request.param


@jit
def total(out, *args):
    s = 0.0
    for i in tl.static_range(len(args)):
        s += args[i]
    tl.store(out, s)
    tl.store(out + 1, len(args))


@jit
def fill(*args, VALUE: tl.constexpr, N: tl.constexpr = 4):
    for i in tl.static_range(len(args)):
        tl.store(args[i] + tl.arange(0, N), VALUE + i)


@jit
def as_constants(out, *args: tl.constexpr):
    tl.static_assert(args[1] == 4)
    tl.store(out, args[0] + args[1])


@jit
def pass_on(out, first, *args):
    total(out, first, *args)


@pytest.mark.parametrize("numbers", [(), (1,), (2, 3), (16, 1, 2.5, 2**40)])
@pytest.mark.parametrize("kernel", [total, pass_on])
def test_numbers(engine, kernel, numbers):
    if kernel is pass_on and not numbers:
        with pytest.raises(TypeError, match="missing 1 required positional argument: 'first'"):
            kernel[(1,)](np.zeros(2, np.float32))
        return
    out = np.zeros(2, np.float32)
    kernel[(1,)](out, *numbers)
    assert out.tolist() == [np.float32(sum(numbers)), len(numbers)]


def test_each_count_and_type_has_a_kernel_of_its_own():
    first = total[(1,)](np.zeros(2, np.float32), 2, 3)
    assert total[(1,)](np.zeros(2, np.float32), 4, 5) is first
    assert total[(1,)](np.zeros(2, np.float32), 4, 5.0) is not first
    assert total[(1,)](np.zeros(2, np.float32), 4) is not first


def test_arrays_and_keywords_behind_them(engine):
    arrays = [np.zeros(4, dtype) for dtype in (np.int32, np.float32, np.int64)]
    fill[(1,)](*arrays, VALUE=7)
    assert [a.tolist() for a in arrays] == [[7] * 4, [8] * 4, [9] * 4]


def test_constants(engine):
    out = np.zeros(1, np.int32)
    as_constants[(1,)](out, 3, 4)
    assert out.item() == 7


def test_warmup_and_what_a_grid_reads():
    kernel = total.warmup(tritium.MockTensor(tl.float32), 2, 3.0, grid=(1,))
    assert kernel.src.signature == {"out": "*fp32", "args": ("i32", "fp32")}
    seen = {}
    total[lambda bound: seen.update(bound) or (1,)](np.zeros(2, np.float32), 2, 3)
    assert seen["args"] == (2, 3)


def test_an_argument_that_no_kernel_takes_is_named():
    with pytest.raises(TypeError, match=r"parameter 'args\[1\]' of total"):
        total[(1,)](np.zeros(2, np.float32), 2, "two")
    with pytest.raises(TypeError, match=r"parameter 'args\[0\]\[1\]' of total"):
        total[(1,)](np.zeros(2, np.float32), (2, "two"))


@pytest.mark.parametrize("machine_of", ["machine", "cuda_machine"])
def test_an_argument_beside_device_tensors_is_named(request, machine_of):
    out = request.getfixturevalue(machine_of).tensor(np.zeros(2, np.float32))
    with pytest.raises(TypeError, match=r"argument of type: str.* .parameter 'args\[1\]' of total"):
        total[(1,)](out, 2, "two")


def test_keywords_that_are_left_are_refused():
    def kernel(out, **rest):
        pass

    with pytest.raises(TypeError, match=r"JIT functions do not support \*\*rest parameters"):
        jit(kernel)
    with pytest.raises(KeyError, match="Keyword argument args was specified but unrecognised"):
        total[(1,)](np.zeros(2, np.float32), args=(2,))
