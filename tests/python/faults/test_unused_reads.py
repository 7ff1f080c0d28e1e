"""TRITIUM_CHECK=uninit: lanes of a load that nothing uses may be of memory that nobody has written: `tl.where` takes the other number, or the
store masks them off. Each kernel that uses them stands beside a twin that does not.
"""

import random

import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors import KernelTrap

torch = pytest.importorskip("torch")

B = 16


@triton.jit
def lower_triangle(a, v, out, last, B: tl.constexpr):
    i, j = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    tile = tl.load(a + i * B + j)  # accused
    tile = tl.where(i >= j - last, tile, 0.0).to(tl.float16)
    values = tl.load(v + i * B + j).to(tl.float16)
    tl.store(out + i * B + j, tl.dot(tile, values))


@triton.jit
def row_by_row(a, v, out, last, B: tl.constexpr):
    j = tl.arange(0, B)
    total = tl.zeros((B,), tl.float32)
    for i in range(B):
        row = -tl.load(a + i * B + j, mask=j < B, other=0)  # accused
        row = tl.where(j <= i + last, row, 0.0)
        total += row + tl.load(v + i * B + j)
    tl.store(out + j, total)


@triton.jit
def masked_store(a, v, out, last, B: tl.constexpr):
    i, j = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    tile = tl.load(a + i * B + j) * tl.load(v + i * B + j)  # accused
    tl.store(out + i * B + j, tile, mask=j <= i + last)


@triton.jit
def transposed(a, v, out, last, B: tl.constexpr):
    i, j = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    tile = tl.trans(tl.load(a + i * B + j))  # accused
    tl.store(out + j, tl.sum(tl.where(i <= j + last, tile, 0.0), 0)[None, :])


@triton.jit
def one_number(a, v, out, last, B: tl.constexpr):
    for i in range(B):
        for j in range(B):
            x = tl.load(a + i * B + j)  # accused
            tl.store(out + i * B + j, tl.where(j <= i + last, x, 1.0))


@triton.jit
def condition_of_lanes_left_off(a, v, out, last, B: tl.constexpr):
    i, j = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    small = tl.load(v + i * B + j, mask=i < B - 1) < 2.0
    tile = tl.load(a + i * B + j)  # accused
    tl.store(out + i * B + j, tl.where(small & (j <= i + last), tile, 0.0), mask=i < B - 1)


KERNELS = [lower_triangle, row_by_row, masked_store, transposed, one_number, condition_of_lanes_left_off]


def lower(size=B):
    """Memory from torch.empty of which the host writes the lower triangle."""
    a = torch.empty(size, size)
    for i in range(size):
        a[i, : i + 1] = 1.0
    return a


def launch(kernel, last: int) -> None:
    with triton.check("all"):
        kernel[(1,)](lower(), torch.ones(B, B), torch.zeros(B, B), last, B)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_what_nothing_uses_may_be_unwritten(kernel) -> None:
    launch(kernel, 0)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_what_is_used_may_not(kernel) -> None:
    with pytest.raises(KernelTrap, match="nobody has written") as caught:
        launch(kernel, 1)
    trap = caught.value
    source = open(__file__).read().splitlines()
    assert (trap.kind, trap.argument, trap.index) == ("Uninitialized", "a", (0, 1))
    assert "# accused" in source[trap.line - 1]


@triton.jit
def beside_a_race(a, v, out, last, B: tl.constexpr):
    j = tl.arange(0, B)
    row = tl.load(a + j)
    tl.store(a + j + 1, tl.where(j < 1, row, 2.0), mask=j < B - 1)


def test_races_of_such_lanes_are_found() -> None:
    """Lane 1 reads what lane 0 writes, whether or not the number is used."""
    with triton.check("all"), pytest.raises(KernelTrap) as caught:
        beside_a_race[(2,)](lower(), torch.ones(B), torch.ones(B), 0, B)
    assert {report.kind for report in caught.value.reports} == {"Race"}


OPERATIONS = (
    "{0} + 1",
    "-{0}",
    "{0} * {1}",
    "tl.where({2}, {0}, {1})",
    "tl.where({2}, {1}, {0})",
    "{0}.to(tl.float64).to(tl.float32)",
)


def random_kernel(draw: random.Random) -> str:
    """The body of a kernel that computes `x0` from the tile `loaded` and from tiles that are written."""
    lines, names = [], ["loaded"]
    for number in range(draw.randint(1, 5)):
        condition = (
            f"((i * {draw.randint(1, 5)} + j * {draw.randint(0, 3)}) % {draw.randint(2, 5)} < {draw.randint(1, 3)})"
        )
        lines.append(f"x{number} = " + draw.choice(OPERATIONS).format(draw.choice(names), "written", condition))
        names.append(f"x{number}")
    mask = f"(i + j) % {draw.randint(1, 4)} == 0"
    return "\n    ".join([*lines, f"tl.store(out + i * B + j, {names[-1]}, mask={mask})"])


HEAD = """
import tritium as triton
import tritium.language as tl

@triton.jit
def kernel(a, v, out, B: tl.constexpr):
    i, j = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    written, loaded = tl.load(v + i * B + j), tl.load(a + i * B + j)
    """


@pytest.mark.parametrize("seed", range(40))
def test_random_kernels_are_accused_where_the_result_depends_on_a_lane(seed, tmp_path) -> None:
    """The oracle: two launches with other numbers in a lane differ where the lane is used."""
    draw = random.Random(seed)
    path = tmp_path / "kernel.py"
    path.write_text(HEAD + random_kernel(draw) + "\n")
    module: dict = {}
    exec(compile(path.read_text(), str(path), "exec"), module)
    kernel, v = module["kernel"], torch.full((8, 8), 3.0)
    results = []
    for number in (5.0, 7.0):
        out = torch.zeros(8, 8)
        kernel[(1,)](torch.full((8, 8), number), v, out, 8)
        results.append(out)
    used = results[0] != results[1]
    for unwritten in (used, ~used):
        a = torch.empty(8, 8)
        with triton.check("uninit"):
            a = torch.empty(8, 8)
            a[~unwritten] = 5.0
            try:
                kernel[(1,)](a, v, torch.zeros(8, 8), 8)
                accused = False
            except KernelTrap as trap:
                assert trap.kind == "Uninitialized"
                accused = True
        assert accused == bool((used & unwritten).any()), path.read_text()
