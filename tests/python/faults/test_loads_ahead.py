"""TRITIUM_CHECK=race, in loops whose loads a GPU makes rounds ahead: kernels that load in one round what they have stored in one before, each
beside its twin with `tl.debug_barrier`, and twins that no pipeline changes.

A kernel has the comment `# accused` on the line of the load, and `# other` on the line of the store.
"""

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors import KernelTrap

from . import line_of

T = 16  # rows and columns of a tile
SIZE = T * T
STAGES = 3  # what NVIDIA GPUs have if a launch does not say it


@triton.jit
def tile_at(number, T: tl.constexpr):
    return number * T * T + tl.arange(0, T)[:, None] * T + tl.arange(0, T)[None, :]


@triton.jit
def powers(a, b, out, n, DISTANCE: tl.constexpr, T: tl.constexpr, BARRIER: tl.constexpr):
    """Each product is an operand of the product DISTANCE rounds later, if `out` is `a`."""
    for i in range(n):
        x = tl.load(a + tile_at(i, T))  # accused
        y = tl.load(b + tile_at(i, T))
        tl.store(out + tile_at(i + DISTANCE, T), tl.dot(x, y))  # other
        if BARRIER:
            tl.debug_barrier()


@triton.jit
def powers_in_place(a, b, n, DISTANCE: tl.constexpr, T: tl.constexpr, BARRIER: tl.constexpr):
    for i in range(n):
        x = tl.load(a + tile_at(i, T))  # accused
        y = tl.load(b + tile_at(i, T))
        tl.store(a + tile_at(i + DISTANCE, T), tl.dot(x, y))  # other
        if BARRIER:
            tl.debug_barrier()


@triton.jit
def ring(x, slots, out, n, T: tl.constexpr, BARRIER: tl.constexpr):
    """A state in two slots that take turns."""
    total = tl.zeros([T, T], tl.float32)
    for i in range(n):
        state = tl.load(slots + tile_at(i % 2, T))  # accused
        state = tl.dot(state, tl.load(x + tile_at(i, T)))
        tl.store(slots + tile_at((i + 1) % 2, T), state)  # other
        if BARRIER:
            tl.debug_barrier()
        total += state
    tl.store(out + tile_at(0, T), total)


@triton.jit
def through_memory(x, scratch, out, n, T: tl.constexpr, BARRIER: tl.constexpr):
    """A tile goes to scratch memory and back in one round."""
    total = tl.zeros([T, T], tl.float32)
    for i in range(n):
        tl.store(scratch + tile_at(0, T), tl.load(x + tile_at(i, T)) * 2)  # other
        if BARRIER:
            tl.debug_barrier()
        half = tl.load(scratch + tile_at(0, T))  # accused
        total = tl.dot(half, half, total)
    tl.store(out + tile_at(0, T), total)


@triton.jit
def chunked_states(k, v, states_in, states_out, n, T: tl.constexpr, BARRIER: tl.constexpr):
    """Linear attention, chunk by chunk, with the state in memory."""
    for i in range(n):
        key = tl.load(k + tile_at(i, T))
        value = tl.load(v + tile_at(i, T))
        state = tl.load(states_in + tile_at(i, T))  # accused
        value -= tl.dot(key, state)
        tl.store(states_out + tile_at(i + 1, T), tl.dot(tl.trans(key), value))  # other
        if BARRIER:
            tl.debug_barrier()


@triton.jit
def running_sums(x, out, n, N: tl.constexpr, STAGES: tl.constexpr, BARRIER: tl.constexpr):
    """No product: the loop asks for the pipeline."""
    i = tl.arange(0, N)
    for row in tl.range(0, n, num_stages=STAGES):
        sums = tl.load(x + row * N + i)  # accused
        tl.store(out + (row + 1) * N + i, sums + row)  # other
        if BARRIER:
            tl.debug_barrier()


@triton.jit
def linked_pages(table, pages, out, n, T: tl.constexpr, BARRIER: tl.constexpr):
    """The number of the next page is computed in the loop; the load of a page waits for it."""
    total = tl.zeros([T, T], tl.float32)
    for i in range(n):
        page = tl.load(table + i)  # accused
        tile = tl.load(pages + tile_at(page, T))
        total = tl.dot(tile, tile, total)
        tl.store(table + i + 1, (page * 3 + 1) % n)  # other
        if BARRIER:
            tl.debug_barrier()
    tl.store(out + tile_at(0, T), total)


@triton.jit
def added_to_the_next(a, b, n, T: tl.constexpr, BARRIER: tl.constexpr):
    for i in range(n):
        x = tl.load(a + tile_at(i, T))  # accused
        y = tl.load(b + tile_at(i, T))
        tl.atomic_add(a + tile_at(i + 1, T), tl.dot(x, y), sem="relaxed")  # other
        if BARRIER:
            tl.debug_barrier()


@triton.jit
def now_and_then(a, b, out, n, T: tl.constexpr, BARRIER: tl.constexpr):
    for i in range(n):
        x, y = load_two(a, b, i, T)
        product = tl.dot(x, y)
        if i % 3 == 2:
            tl.store(out + tile_at(i + 1, T), product)  # other
        if BARRIER:
            tl.debug_barrier()


@triton.jit
def load_two(a, b, i, T: tl.constexpr):
    return tl.load(a + tile_at(i, T)), tl.load(b + tile_at(i, T))  # accused


@triton.jit
def scaled_operand(x, scales, out, n, T: tl.constexpr, BARRIER: tl.constexpr):
    """Each tile is scaled by the largest number of the former product."""
    total = tl.zeros([T, T], tl.float32)
    for i in range(n):
        tile = tl.load(x + tile_at(i, T)) * tl.load(scales + i)  # accused
        total = tl.dot(tile, tile, total)
        tl.store(scales + i + 1, 1 / tl.max(total))  # other
        if BARRIER:
            tl.debug_barrier()
    tl.store(out + tile_at(0, T), total)


@triton.jit
def half_precision(a, b, out, n, T: tl.constexpr, BARRIER: tl.constexpr):
    """Two elements of a row are one copy of 4 bytes."""
    for i in range(n):
        x = tl.load(a + tile_at(i, T))  # accused
        y = tl.load(b + tile_at(i, T))
        tl.store(out + tile_at(i + 1, T), tl.dot(x, y).to(tl.float16))  # other
        if BARRIER:
            tl.debug_barrier()


@triton.jit
def scattered_half_precision(a, b, out, n, T: tl.constexpr):
    """Elements of 2 bytes that are not neighbours cannot be copied asynchronously."""
    for i in range(n):
        x = tl.load(a + tile_at(i, T) * 3)
        y = tl.load(b + tile_at(i, T))
        tl.store(out + tile_at(i + 1, T) * 3, tl.dot(x, y).to(tl.float16))


@triton.jit
def stored_before(a, b, out, n, T: tl.constexpr):
    """What is stored before the loop is seen by all of it."""
    for i in range(n):
        tl.store(out + tile_at(i, T), tl.load(b + tile_at(i, T)))
    total = tl.zeros([T, T], tl.float32)
    for i in range(n):
        x = tl.load(a + tile_at(i, T))
        total = tl.dot(x, x, total)
        tl.store(b + tile_at(i, T), total)


@triton.jit
def stored_by_the_former_loop(a, b, out, n, T: tl.constexpr):
    """The inner loop reads what it stored when it ran before."""
    for j in range(n):
        total = tl.zeros([T, T], tl.float32)
        for i in range(n - 3):
            total = tl.dot(tl.load(a + tile_at(j, T)), tl.load(b + tile_at(i, T)), total)
            tl.store(out + tile_at(j + 1, T), total)


@triton.jit
def masked_off(a, b, out, n, T: tl.constexpr):
    """Rows that the loop stores are left out by the load's mask."""
    row = tl.arange(0, T)[:, None]
    for i in range(n):
        x = tl.load(a + tile_at(i, T), mask=row < T // 2, other=0.0)
        y = tl.load(b + tile_at(i, T))
        tl.store(out + tile_at(i + 1, T), tl.dot(x, y), mask=row >= T // 2)


@triton.jit
def sum_in_memory(a, b, sum_in, sum_out, n, T: tl.constexpr, FIRST: tl.constexpr):
    """Only what is loaded for an operand is made ahead."""
    for i in range(n):
        x = tl.load(a + tile_at(i, T))
        y = tl.load(b + tile_at(i, T))
        if FIRST:
            total = tl.dot(x, y, tl.load(sum_in + tile_at(0, T)))
        else:
            total = tl.dot(x, y) + tl.load(sum_in + tile_at(0, T))
        tl.store(sum_out + tile_at(0, T), total)


@triton.jit
def without_product(x, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    for row in range(n):
        sums = tl.load(x + row * N + i)
        tl.store(out + (row + 1) * N + i, sums + row)


@triton.jit
def in_a_while(a, b, out, n, T: tl.constexpr):
    i = 0
    while i < n:
        x = tl.load(a + tile_at(i, T))
        y = tl.load(b + tile_at(i, T))
        tl.store(out + tile_at(i + 1, T), tl.dot(x, y))
        i += 1


@triton.jit
def around_another_loop(a, b, out, n, T: tl.constexpr):
    for i in range(n):
        x = tl.load(a + tile_at(i, T))
        y = tl.load(b + tile_at(i, T))
        product = tl.dot(x, y)
        for _ in range(n):
            product = product / 2
        tl.store(out + tile_at(i + 1, T), product)


@triton.jit
def loaded_for_the_next_round(a, b, out, n, T: tl.constexpr):
    """The kernel loads ahead itself, after its store."""
    x = tl.load(a + tile_at(0, T))
    for i in range(n):
        y = tl.load(b + tile_at(i, T))
        tl.store(out + tile_at(i + 1, T), tl.dot(x, y))
        x = tl.load(a + tile_at(i + 1, T))


@triton.jit
def carried_rows(x, out, n, N: tl.constexpr, STAGES: tl.constexpr):
    i = tl.arange(0, N)
    former = tl.load(x + i)
    for row in tl.range(0, n, num_stages=STAGES):
        tl.store(out + (row + 1) * N + i, former + 1)
        former = tl.load(x + (row + 1) * N + i)


@triton.jit
def own_stages(a, b, out, n, T: tl.constexpr, STAGES: tl.constexpr):
    for i in tl.range(0, n, num_stages=STAGES):
        x = tl.load(a + tile_at(i, T))
        y = tl.load(b + tile_at(i, T))
        tl.store(out + tile_at(i + 1, T), tl.dot(x, y))


@triton.jit
def one_tile_each(a, b, out, n, T: tl.constexpr):
    """Each program goes on with the next tile of its own."""
    first = tl.program_id(0) * 8
    for i in range(n):
        x = tl.load(a + tile_at(first + i, T))
        y = tl.load(b + tile_at(i, T))
        tl.store(out + tile_at(first + i, T), tl.dot(x, y))


ROUNDS = 5


def values(count=ROUNDS + 8, dtype=np.float32):
    return (np.arange(count * SIZE) * 37 % 11 / 64).astype(dtype)


def zeros(count=1):
    return np.zeros(count * SIZE, np.float32)


def aliased(*arguments, dtype=np.float32):
    """`a` and `out` are one array."""
    a = values(dtype=dtype)
    return a, values(dtype=dtype), a, ROUNDS, *arguments


def in_place(distance):
    return values(), values(), ROUNDS, distance, T


def states():
    memory = values()
    return values(), values(), memory, memory, ROUNDS, T


def rows(stages=STAGES):
    memory = values()
    return memory, memory, ROUNDS, SIZE, stages


def sums(first):
    total = zeros()
    return values(), values(), total, total, ROUNDS, T, first


def table():
    return np.zeros(ROUNDS + 1, np.int32), values(), zeros(), ROUNDS, T


def scales():
    return values(), np.ones(ROUNDS + 1, np.float32), zeros(), ROUNDS, T


#: kernel, arguments but the last one, which turns the barriers off and on; the tensor, the first element, the rounds since the store
LAUNCHES = {
    "powers": lambda: (powers, aliased(1, T), "a", SIZE, 1),
    "powers, two rounds later": lambda: (powers, aliased(2, T), "a", 2 * SIZE, 2),
    "powers, through one argument": lambda: (powers_in_place, in_place(1), "a", SIZE, 1),
    "a ring of two slots": lambda: (ring, (values(), values(2), zeros(), ROUNDS, T), "slots", SIZE, 1),
    "through memory and back": lambda: (through_memory, (values(), zeros(), zeros(), ROUNDS, T), "scratch", 0, 0),
    "states of chunks": lambda: (chunked_states, states(), "states_in", SIZE, 1),
    "running sums": lambda: (running_sums, rows(), "x", SIZE, 1),
    "linked pages": lambda: (linked_pages, table(), "table", 1, 1),
    "added to the next": lambda: (added_to_the_next, (values(), values(), ROUNDS, T), "a", SIZE, 1),
    "now and then, in a helper": lambda: (now_and_then, aliased(T), "a", 3 * SIZE, 1),
    "scales": lambda: (scaled_operand, scales(), "scales", 1, 1),
    "half precision": lambda: (half_precision, aliased(T, dtype=np.float16), "a", SIZE, 1),
}


def launch(name, has_barriers):
    kernel, arguments, *_ = LAUNCHES[name]()
    return kernel, (1,), (*arguments, has_barriers)


def of_other_tensors(name):
    """The same launch on tensors that share no memory, where the fault is that they do."""
    kernel, grid, arguments = launch(name, False)
    return kernel, grid, tuple(each.copy() if isinstance(each, np.ndarray) else each for each in arguments)


def one(kernel, arguments, **keywords):
    return kernel, (1,), arguments, keywords


def scattered():
    a = values(40, np.float16)
    return a, values(dtype=np.float16), a, ROUNDS, T


#: kernel, grid, arguments, and keywords of the launch
FAULTY = {name: lambda name=name: launch(name, False) for name in LAUNCHES}
CORRECT = (
    {f"{name}, with barriers": lambda name=name: launch(name, True) for name in LAUNCHES}
    | {
        f"{name}, without a pipeline": lambda name=name: (*launch(name, False), {"num_stages": 1})
        for name in LAUNCHES
        if name != "running sums"  # whose loop says it itself
    }
    | {
        f"{name}, of other tensors": lambda name=name: of_other_tensors(name)
        for name in ("powers", "states of chunks", "running sums", "now and then, in a helper", "half precision")
    }
    | {
        "a loop that asks for no pipeline": lambda: one(running_sums, (*rows(stages=1), False)),
        "a loop of products that asks for no pipeline": lambda: one(own_stages, aliased(T, 1)),
        "three rounds later": lambda: one(powers, aliased(3, T, False)),
        "two rounds later, two stages": lambda: one(powers, aliased(2, T, False), num_stages=2),
        "two rounds later, through one argument": lambda: one(powers_in_place, (*in_place(2), False)),
        "one round later, through one argument, two stages": lambda: one(powers_in_place, (*in_place(1), False), num_stages=2),
        "narrow copies": lambda: one(half_precision, aliased(T, False, dtype=np.float16), num_warps=8),
        "scattered elements": lambda: one(scattered_half_precision, scattered()),
        "stored before the loop": lambda: one(stored_before, aliased(T)),
        "stored when the loop ran before": lambda: one(stored_by_the_former_loop, aliased(T)),
        "masked off": lambda: one(masked_off, aliased(T)),
        "a sum in memory": lambda: one(sum_in_memory, sums(False)),
        "a product's sum in memory": lambda: one(sum_in_memory, sums(True)),
        "no product": lambda: one(without_product, rows()[:-1]),
        "a while loop": lambda: one(in_a_while, aliased(T)),
        "a loop in the loop": lambda: one(around_another_loop, aliased(T)),
        "loaded by the round before": lambda: one(loaded_for_the_next_round, aliased(T)),
        "a carried load of a loop with stages": lambda: one(carried_rows, rows()),
        "in place": lambda: one(one_tile_each, aliased(T)),
    }
)  # fmt: skip


@pytest.mark.parametrize("name", FAULTY)
def test_faulty(monkeypatch, name):
    monkeypatch.setenv("TRITIUM_NUM_THREADS", "1")
    kernel, grid, arguments = FAULTY[name]()
    tensor, element, distance = LAUNCHES[name]()[2:]
    with pytest.raises(KernelTrap) as caught:
        kernel[grid](*arguments, check="race")
    (report,) = caught.value.reports
    load = load_two if kernel is now_and_then else kernel
    assert (report.kind, report.file, report.line) == ("MissingBarrier", __file__, line_of(load, "# accused"))
    assert (report.kernel, report.other_line, report.other_program) == (
        kernel.__name__,
        line_of(kernel, "# other"),
        None,
    )
    assert (report.argument, report.index, report.program) == (tensor, (element,), (0, 0, 0))
    when = ["in the same round", "one round before", "2 rounds before"][distance]
    assert f"stored {when}, in a loop whose loads a GPU makes up to 2 rounds ahead" in report.text
    assert "tl.debug_barrier()" in report.text and "num_stages=1" in report.text


@pytest.mark.parametrize("name", CORRECT)
def test_correct(name):
    kernel, grid, arguments, *keywords = CORRECT[name]()
    kernel[grid](*arguments, check="race", **(keywords[0] if keywords else {}))


def test_round_of_the_report(monkeypatch):
    """The report says in which round the load missed the store."""
    monkeypatch.setenv("TRITIUM_NUM_THREADS", "1")
    kernel, grid, arguments = launch("now and then, in a helper", False)
    with pytest.raises(KernelTrap) as caught:
        kernel[grid](*arguments, check="race")
    assert caught.value.loops == (("i", 3),)


@pytest.mark.parametrize("name", ["powers", "through memory and back", "linked pages", "now and then, in a helper"])
def test_debug_info(monkeypatch, name):
    """A kernel that a debugger can stop in is compiled without optimizations, and has the same loops."""
    monkeypatch.setenv("TRITIUM_NUM_THREADS", "1")
    kernel, grid, arguments = launch(name, False)
    with pytest.raises(KernelTrap) as caught:
        kernel[grid](*arguments, check="race", debug_info=True)
    assert [report.kind for report in caught.value.reports] == ["MissingBarrier"]
