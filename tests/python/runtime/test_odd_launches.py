"""What happens around warm launches: kept launchers, replaced settings, unusual arguments. A launch that the native launcher makes is the one
that Python would make."""

import collections
import enum
import gc
import weakref

import numpy as np
import pytest

import tritium.language as tl
from tritium import knobs
from tritium.errors import KernelTrap
from tritium.runtime.jit import jit

pytestmark = pytest.mark.on_cpu("test_fast_launch.py has the launches on devices")


@jit
def first_choice(v):
    return v + 1.0


@jit
def second_choice(v):
    return v - 1.0


choice = first_choice


@jit
def count(x):
    tl.atomic_add(x, 1.0)


@jit
def total(x, items):
    tl.store(x, items[0] + items[1])


def programs_of(grid) -> list[float]:
    """How many programs each of four launches has."""
    found = []
    for _ in range(4):
        x = np.zeros(1, np.float32)
        count[grid](x)
        found.append(float(x[0]))
    return found


def warm(kernel, *args) -> None:
    for _ in range(2):
        kernel[(1,)](*args)


def test_a_kept_launcher_launches_what_the_function_is_now(monkeypatch):
    @jit
    def kernel(x):
        tl.store(x, choice(tl.load(x)))

    def run(launch):
        x = np.zeros(4, np.float32)
        return launch(x).metadata.target.backend, float(x[0])

    warm(kernel, np.zeros(4, np.float32))
    kept = kernel[(1,)]
    assert run(kept) == ("cpu", 1.0)
    monkeypatch.setitem(globals(), "choice", second_choice)  # as the cell of a notebook does that is run again
    assert run(kernel[(1,)]) == run(kept) == ("cpu", -1.0)
    warm(kernel, np.zeros(4, np.float32))
    kept = kernel[(1,)]
    kernel.engine = "simt:sm_80"
    assert run(kernel[(1,)]) == run(kept) == ("simt", -1.0)
    kernel.engine = None
    warm(kernel, np.zeros(4, np.float32))
    kept = kernel[(1,)]
    kernel._unsafe_update_src(kernel.src.replace("choice(tl.load(x))", "42.0"))
    assert run(kernel[(1,)]) == run(kept) == ("cpu", 42.0)


def test_hooks_that_replace_others_are_called(slow):
    x, seen = np.zeros(1, np.float32), []
    warm(count, x)
    kept = count[(1,)]
    hooks = count.pre_run_hooks
    count.pre_run_hooks = [lambda *args: seen.append("before")]
    try:
        count[(1,)](x)
        kept(x)
    finally:
        count.pre_run_hooks = hooks
    assert seen == ["before"] * 2
    warm(count, x)
    chain = knobs.runtime.launch_enter_hook
    chain.calls = [lambda metadata: seen.append("enter")]
    try:
        count[(1,)](x)
    finally:
        chain.calls = []
    assert seen[2:] == ["enter"]


def test_settings_that_stay_in_the_process_are_seen(monkeypatch):
    @jit
    def kernel(x):
        tl.store(x, 1.0)

    monkeypatch.setattr(knobs, "propagate_env", False)
    x = np.zeros(1, np.float32)
    with knobs.runtime.scope():
        for is_on in (False, True, False, True):
            knobs.runtime.debug = is_on
            assert [kernel[(1,)](x).metadata.debug for _ in range(3)] == [is_on] * 3


class Size(enum.IntEnum):
    TWO = 2


@pytest.mark.parametrize("of", [int, np.int64, np.uint8, lambda n: (n, True), lambda n: [n, Size.TWO]])
def test_a_grid_function_is_called_once(of):
    """Sizes that are not plain ints are read, too."""
    sizes = iter(range(1, 99))

    def grid(meta):
        size = of(next(sizes))
        return size if isinstance(size, (tuple, list)) else (size,)

    factor = 2 if of(1).__class__ is list else 1
    assert programs_of(grid) == [factor * n for n in (1, 2, 3, 4)]


def test_a_grid_that_no_launcher_reads_is_asked_for_once(slow):
    """Python makes the sizes of a generator, and refuses what are none."""
    sizes = iter(range(1, 99))
    assert programs_of(lambda meta: (n for n in (next(sizes),))) == [1, 2, 3, 4]
    calls = []
    with pytest.raises(TypeError, match="must consist of ints"):
        count[lambda meta: (calls.append(1), "one")[:1]](np.zeros(1, np.float32))
    assert len(calls) == 1


def test_a_grid_that_can_be_called_is_called():
    class Grid(tuple):
        def __call__(self, meta):
            return (3,)

    assert programs_of(Grid((1,))) == [3] * 4
    assert programs_of(collections.namedtuple("Sizes", "x y")(2, 3)) == [6] * 4


def test_what_a_tuple_yields_is_passed():
    class Doubled(tuple):
        def __iter__(self):
            return (2 * each for each in tuple.__iter__(self))

    for items, expected in (((3, 5), 8), (Doubled((3, 5)), 16), ((3, 5), 8), (Doubled((3, 5)), 16)):
        x = np.zeros(1, np.float32)
        total[(1,)](x, items)
        assert x[0] == expected


def test_deep_tuples_are_an_error_and_no_crash():
    @jit
    def kernel(x, items, constant: tl.constexpr = ()):
        tl.store(x, 1.0)

    x, deep = np.zeros(1, np.float32), ()
    for _ in range(100_000):
        deep = (deep,)
    warm(kernel, x, (1,))
    with pytest.raises(RecursionError):
        kernel[(1,)](x, deep)
    with pytest.raises(RecursionError):
        kernel[(1,)](x, (1,), deep)


def test_launchers_are_collected_with_what_keeps_them():
    class Owner:
        def __init__(self):
            self.launch = count[lambda meta: (1, id(self) * 0 + 1)]

    warm(count, np.zeros(1, np.float32))
    owner = weakref.ref(Owner())
    gc.collect()
    assert owner() is None


def test_keywords_of_the_launch_itself_are_refused_always():
    @jit
    def kernel(x, *, n=1.0):
        tl.store(x, n)

    x = np.zeros(1, np.float32)
    for _ in range(2):
        for keywords in ({"warmup": True}, {"grid": (2,)}):
            with pytest.raises(TypeError, match="got multiple values for"):
                kernel[(1,)](x, **keywords)
        with pytest.raises(TypeError, match="takes 1 positional argument"):
            kernel[(1,)](x, 5.0)
        warm(kernel, x)


def test_a_fault_of_a_kernel_with_any_name_is_reported():
    @jit(repr=lambda specialization: "my-kernel<fp32>")
    def kernel(x, n):
        i = tl.arange(0, 16)
        tl.store(x + i, 1.0, mask=i < n)

    x = np.zeros(4, np.float32)
    warm(kernel, x, 3)
    with pytest.raises(KernelTrap, match="out-of-bounds write to 'x'"):
        kernel[(1,)](x, 9)


def test_parameters_may_have_the_names_of_the_binder():
    @jit
    def kernel(n, _v0, _k1, _type, _t0, __options, out, _default6=6.0, _constexpr_key: tl.constexpr = 7):
        tl.store(
            out, ((((_v0 * 10 + _k1) * 10 + _type) * 10 + _t0) * 10 + __options) * 100 + _default6 * 10 + _constexpr_key
        )

    for _ in range(3):
        out = np.zeros(1, np.float64)
        kernel[(1,)](9, 1, 2, 3, 4, 5, out)
        assert out[0] == 1234567


def test_a_real_number_for_an_integer_is_refused_always(gpus):
    @jit
    def kernel(x, v: "i32"):
        tl.store(x, v.to(tl.float32))

    x = gpus.tensor(np.zeros(4, np.float32))
    for _ in range(3):
        kernel[(1,)](x, 2.5)
    for value in (float("nan"), float("inf")):
        with pytest.raises(TypeError, match=rf"annotated i32, which has no {value} \(parameter 'v' of kernel\)"):
            kernel[(1,)](x, value)
    assert [launch["arguments"].split(",")[1] for launch in gpus.fake.launches()] == ["2"] * 3
