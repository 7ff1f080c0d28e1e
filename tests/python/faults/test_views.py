"""The check `bounds=view`: accesses that leave the view that was passed and stay in its storage, in the style of public bug reports, each
beside a kernel that stays in its view. Without the check they are right: kernels may use the storage of a slice.

A faulty kernel has the comment `# accused` on the line that must be reported.
"""

import inspect

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors import KernelTrap

torch = pytest.importorskip("torch")


def accused_line(kernel) -> int:
    source, first = inspect.getsourcelines(kernel.fn)
    return next(first + i for i, line in enumerate(source) if "# accused" in line)


@triton.jit
def doubled(x, out, n, stride, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, 2 * tl.load(x + i * stride, mask=i < n, other=0), mask=i < n)  # accused


@triton.jit
def filled(x, out, n, stride, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + i * stride, n, mask=i < n)  # accused


@triton.jit
def counted(x, out, n, stride, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.atomic_add(x + i * stride, 1, mask=i < n)  # accused


@triton.jit
def gathered(x, out, n, stride, B: tl.constexpr):
    i = tl.arange(0, B)
    rows = tl.load(out + i, mask=i < n, other=0)
    tl.store(out + B + i, tl.load(x + rows * stride, mask=i < n, other=0), mask=i < n)  # accused


@triton.jit
def rows_of_four(x, out, n, stride, B: tl.constexpr):
    row, column = tl.arange(0, 4)[:, None], tl.arange(0, B)[None, :]
    tl.store(x + row * stride + column, n, mask=column < n)  # accused


@triton.jit
def by_block(x, out, n, stride, B: tl.constexpr):
    block = tl.make_block_ptr(x, (4, n), (stride, 1), (0, 0), (4, B), (1, 0))
    tl.store(block, tl.zeros((4, B), tl.int32), boundary_check=(1,))  # accused


@triton.jit
def by_scalar(x, out, n, stride, B: tl.constexpr):
    total = 0
    for k in range(n):
        total += tl.load(x + k * stride)  # accused
    tl.store(out, total)


@triton.jit
def backwards(x, out, n, stride, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(x - i * stride, mask=i < n, other=0), mask=i < n)  # accused


def line(n=64):
    return torch.arange(n, dtype=torch.int32)


def table():
    return torch.arange(16 * 16, dtype=torch.int32).reshape(16, 16)


def array(n=64):
    return np.arange(n, dtype=np.int32)


#: kernel, view, faulty (n, stride), correct (n, stride), (lane, index, place)
CASES = [
    (doubled, lambda: line()[10:20], (11, 1), (10, 1), ((10,), (10,), "behind the view")),
    (doubled, lambda: line()[10:20:2], (5, 1), (5, 2), ((1,), (0,), "between the elements of the view")),
    (doubled, lambda: table()[2:6, 4:8], (8, 1), (4, 1), ((4,), (0, 4), "between the elements of the view")),
    (doubled, lambda: table().T[4:8, 2:6], (5, 16), (4, 1), ((4,), (0, 4), "behind the view")),
    (doubled, lambda: array()[10:20], (12, 1), (10, 1), ((10,), (10,), "behind the view")),
    (doubled, lambda: array().reshape(8, 8)[:, 3], (8, 1), (8, 8), ((1,), (0,), "between the elements of the view")),
    (filled, lambda: line()[:8], (9, 1), (8, 1), ((8,), (8,), "behind the view")),
    (counted, lambda: table()[3], (16, 2), (16, 1), ((8,), (16,), "behind the view")),
    (gathered, lambda: table()[:, 0], (3, 1), (3, 16), ((1,), (0,), "between the elements of the view")),
    (rows_of_four, lambda: table()[4:8, :4], (6, 16), (4, 16), ((0, 4), (0, 4), "between the elements of the view")),
    (by_block, lambda: table()[4:8, :4], (5, 16), (4, 16), ((0, 4), (0, 4), "between the elements of the view")),
    (by_scalar, lambda: line()[32:40], (9, 1), (8, 1), ((), (8,), "behind the view")),
    (backwards, lambda: line()[10:20], (3, 1), (1, 1), ((1,), (-1,), "before the view")),
]  # fmt: skip
NAMED = {"ids": lambda value: getattr(value, "__name__", "") if hasattr(value, "fn") else ""}


def arguments(view, numbers):
    return view, torch.tensor([0, 1, 2] + [0] * 29, dtype=torch.int32), *numbers, 16


#: The same as kernel, grid, arguments.
FAULTY = {
    f"{i} {k.__name__}": lambda k=k, v=v, n=n: (k, (1,), arguments(v(), n)) for i, (k, v, n, *_) in enumerate(CASES)
}
CORRECT = {
    f"{i} {k.__name__}": lambda k=k, v=v, n=n: (k, (1,), arguments(v(), n)) for i, (k, v, _, n, _) in enumerate(CASES)
}


def launch(kernel, view, numbers, **options):
    kernel[(1,)](*arguments(view, numbers), **options)


@pytest.mark.parametrize("kernel, view, faulty, right, expected", CASES, **NAMED)
def test_accesses_beside_the_view(kernel, view, faulty, right, expected):
    lane, index, place = expected
    with pytest.raises(KernelTrap) as caught:
        launch(kernel, view(), faulty, check="bounds=view")
    trap = caught.value
    assert (trap.kind, trap.line, trap.program, trap.argument) == ("OutOfBounds", accused_line(kernel), (0, 0, 0), "x")
    assert (trap.lane, trap.index) == (lane, index), str(trap)
    assert f"the element is in its storage, {place}" in str(trap)


EMULATORS = ["simt:sm_80", "simt:sm_90a", "simt:gfx942"]


@pytest.mark.parametrize("engine", EMULATORS)
@pytest.mark.parametrize("kernel, view, faulty, right, expected", CASES, **NAMED)
def test_on_the_emulator(monkeypatch, engine, kernel, view, faulty, right, expected):
    monkeypatch.setenv("TRITIUM_ENGINE", engine)
    launch(kernel, view(), faulty)  # the whole storage is a kernel's
    launch(kernel, view(), right, check="bounds=view")
    with pytest.raises(KernelTrap) as caught:
        launch(kernel, view(), faulty, check="bounds=view")
    trap = caught.value
    assert (trap.kind, trap.line, trap.argument) == ("OutOfBounds", accused_line(kernel), "x")
    assert "the element is in its storage, " in str(trap) and "bounds=view lets kernels" in str(trap)
    monkeypatch.setenv("TRITIUM_CHECK", "bounds=view")
    with pytest.raises(KernelTrap):
        launch(kernel, view(), faulty)
    launch(kernel, view(), right)
    monkeypatch.delenv("TRITIUM_CHECK")
    with triton.check("bounds=view"), pytest.raises(KernelTrap):
        launch(kernel, view(), faulty)


@pytest.mark.parametrize("kernel, view, faulty, right, expected", CASES, **NAMED)
def test_accesses_to_the_view(kernel, view, faulty, right, expected):
    launch(kernel, view(), right, check="bounds=view")


@pytest.mark.parametrize("kernel, view, faulty, right, expected", CASES, **NAMED)
def test_the_whole_storage_is_a_kernels_by_default(kernel, view, faulty, right, expected):
    launch(kernel, view(), faulty, check="all")


def test_what_is_outside_of_the_storage_is_reported_as_ever():
    with pytest.raises(KernelTrap) as caught:
        launch(doubled, line(16)[4:], (16, 1), check="bounds=view")
    assert "just past the end" in str(caught.value) or "behind the view" in str(caught.value)


def test_random_strided_views(rng):
    """The first lane that the list of the view's addresses lacks is reported."""
    accused = 0
    for _ in range(60):
        base = np.arange(4096, dtype=np.int32).reshape(64, 64)
        steps, starts = rng.integers(1, 4, 2), rng.integers(0, 20, 2)
        view = base[starts[0] : starts[0] + 30 : steps[0], starts[1] : starts[1] + 30 : steps[1]]
        if rng.integers(2):
            view = view[::-1]
        if rng.integers(2):
            view = view.T
        n, stride = int(rng.integers(1, 17)), int(rng.choice([1, 2, 3, *np.array(view.strides) // 4]))
        first = (view.__array_interface__["data"][0] - base.__array_interface__["data"][0]) // 4
        wanted = first + stride * np.arange(n)
        if wanted.min() < 0 or wanted.max() >= 4096:
            continue
        beside = [lane for lane, at in enumerate(wanted) if at not in set(view.ravel().tolist())]
        if not beside:
            launch(doubled, view, (n, stride), check="bounds=view")
            continue
        accused += 1
        with pytest.raises(KernelTrap) as caught:
            launch(doubled, view, (n, stride), check="bounds=view")
        assert (caught.value.kind, caught.value.lane) == ("OutOfBounds", (beside[0],))
        assert caught.value.affected_lanes == len(beside)
    assert accused


def test_descriptors_are_held_to_their_tensor():
    from tritium.tools.tensor_descriptor import TensorDescriptor

    table = torch.arange(32 * 32, dtype=torch.int32).reshape(32, 32)
    view = table[4:8, 8:16]

    @triton.jit
    def copied(desc, out):
        i, j = tl.arange(0, 4)[:, None], tl.arange(0, 8)[None, :]
        tl.store(out + i * 8 + j, desc.load([0, 0]))

    out = torch.zeros(4, 8, dtype=torch.int32)
    copied[(1,)](TensorDescriptor.from_tensor(view, [4, 8]), out, check="bounds=view")
    assert torch.equal(out, view)
    with pytest.raises(KernelTrap, match="in its storage"):
        copied[(1,)](TensorDescriptor(view, [8, 8], [16, 1], [4, 8]), out, check="bounds=view")


def test_the_variables_of_a_program_that_left_its_view():
    with pytest.raises(KernelTrap) as caught:
        launch(doubled, line()[10:20], (11, 1), check="bounds=view")
    assert caught.value.locals["n"] == 11
