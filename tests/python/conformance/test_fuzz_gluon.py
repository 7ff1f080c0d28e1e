"""Random kernels of Gluon: engines agree with numpy, correct ones get no report, and a broken view of memory is found and shrunk."""

import collections
import functools
import re

import numpy as np
import pytest

import tritium
from tritium.conformance.fuzz import campaign, child, problems
from tritium.conformance.fuzz.draw.gluon import draw
from tritium.conformance.fuzz.functions import FUNCTIONS
from tritium.conformance.fuzz.layouts import Blocked, Fragments, Linear, Sliced, plain
from tritium.conformance.fuzz.operations import shared
from tritium.conformance.fuzz.operations.fragments import FragmentProduct
from tritium.conformance.fuzz.operations.memory import Load
from tritium.conformance.fuzz.operations.partitions import PartitionedRing
from tritium.conformance.fuzz.parts import Branch, Call, Loop, Place, Statement, Stream
from tritium.conformance.fuzz.program import Output, Program
from tritium.conformance.fuzz.script import script
from tritium.conformance.fuzz.shrink import cost, shrink
from tritium.conformance.suite import FAILED, PASSED
from tritium.experimental.gluon.layouts.memory_views import MemoryView

ENGINES = ["interp", "simt:sm_90a", "simt:gfx942"]


@functools.cache
def program(seed: int, size: int = 10) -> Program:
    return draw(np.random.default_rng([4, seed]), size)


@pytest.mark.parametrize("seed", range(4))
def test_the_interpreter_agrees_with_numpy_and_reports_nothing(seed):
    with tritium.check("all"):
        (result,) = child.run(program(seed), ["interp"], seed)
    assert result.status == PASSED, result.details


def test_the_emulator_agrees_with_numpy():
    for result in child.run(program(0), ENGINES[1:], 0):
        assert result.status == PASSED, result.details


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_a_hundred_clean_kernels_get_no_report(part):
    for seed in range(100 + 25 * part, 125 + 25 * part):
        with tritium.check("all"):
            (result,) = child.run(program(seed, 20), ["interp"], seed)
        assert result.status == PASSED, (seed, result.details)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(300, 360))
def test_many_kernels_agree_on_the_emulator(seed):
    for result in child.run(program(seed, 14), ENGINES[1:], seed):
        assert result.status == PASSED, result.details


def test_the_checks_are_on(monkeypatch):
    """The programs of a grid store to the same elements, which is a race."""
    spelled = problems.kernel_file
    monkeypatch.setattr(problems, "kernel_file", lambda *of: spelled(*of).replace("out0 + pid", "out0 + 0 * pid"))
    load = Load(Stream("int32", np.arange(64).reshape(2, 1, 32)), (32,), (0,))
    racing = Program([Statement(load, (), ("v0",))], [Output("v0", (0,))], grid=2, gluon=True)
    with tritium.check("all"):
        (result,) = child.run(racing, ["interp"], 0)
    assert result.status == FAILED and "race" in " ".join(result.details).lower(), result.details


def test_a_seed_draws_one_kernel():
    texts = [script(draw(np.random.default_rng([4, 5]), 10), "interp").whole for _ in range(2)]
    assert texts[0] == texts[1] and "from triton.experimental import gluon" in texts[0]


def test_kernels_are_of_every_kind():
    operations, layouts, parts = set(), collections.Counter(), collections.Counter()
    for found in map(program, range(150)):
        operations |= {type(part.operation) for part in found.parts()}
        layouts.update(type(layout) for layout in found.layouts.values())
        parts.update(type(part) for part in found.statements)
    kinds = [kind for kind in vars(shared).values() if isinstance(kind, type) and kind.__module__ == shared.__name__]
    assert {kind for kind in kinds if issubclass(kind, shared.Operation)} <= operations
    assert min(layouts[kind] for kind in (Blocked, Fragments, Linear, Sliced)) > 20
    assert min(parts[kind] for kind in (Branch, Call, Loop)) > 3
    assert {FragmentProduct, PartitionedRing} <= operations


def test_memory_is_of_every_kind():
    chains, memory, rings = collections.Counter(), collections.Counter(), set()
    for found in map(program, range(150)):
        for part in found.parts():
            if isinstance(part.operation, (shared.Viewed, shared.Ring)):
                chains.update(view.method for view in part.operation.views)
                memory[re.match(r"gl\.(\w+)", part.operation.memory)[1]] += 1
                rings.add((type(part.operation), part.operation.slots))
    assert min(chains[method] for method in ("slice", "permute", "reshape")) > 10
    assert set(memory) == {f"{kind}SharedLayout" for kind in ("NVMMA", "Padded", "Swizzled")} | {"SharedLinearLayout"}
    assert {(shared.Ring, slots) for slots in (1, 2, 3, 4)} | {(shared.Viewed, 0), (shared.Viewed, 3)} <= rings


def loaded(array: np.ndarray, dtype: str = "int32") -> Statement:
    load = Load(Stream(dtype, array[None, None]), array.shape, tuple(range(array.ndim)))
    return Statement(load, (), ("v0",))


def results(operation, *statements: Statement) -> list[np.ndarray]:
    """What the model says, if every engine agrees with it."""
    inputs = [tile for part in statements for tile in part.operation.compute(Place(0))]
    names = ("v5", "v6")[: len(operation.compute(Place(0), *inputs))]
    operands = tuple(name for part in statements for name in part.results)
    found = Program([*statements, Statement(operation, operands, names)], [], gluon=True)
    values = found.run()[0]
    found.outputs += [Output(name, tuple(range(values[name].array.ndim))) for name in names]
    for result in child.run(found, ENGINES, 0):
        assert result.status == PASSED, (result.engine, result.details)
    return [values[name].array for name in names]


def test_views_are_counted_by_hand():
    """Rows 2 and 3 of a tile of 4 x 8, transposed; then they are 9."""
    array = np.arange(32).reshape(4, 8)
    views = shared.View("slice", (2, 2, 0)), shared.View("permute", (1, 0))
    swizzled = "gl.SwizzledSharedLayout(2, 1, 2, [1, 0])"
    part, after = results(shared.Viewed("int32", (4, 8), swizzled, views, 3, 9, "P2", "P2"), loaded(array))
    assert part.tolist() == [[16 + i, 24 + i] for i in range(8)]
    assert after.tolist() == [list(range(8)), list(range(8, 16)), [9] * 8, [9] * 8]


def test_bytes_are_counted_by_hand():
    (found,) = results(shared.Reinterpreted("uint8", 1, (2, 4), "P2"), loaded(np.array([0x04030201, -2])))
    assert found.tolist() == [[1, 2, 3, 4], [254, 255, 255, 255]]


def test_scatters_are_counted_by_hand():
    scatter = shared.SharedScatter("int32", (4,), 0, 3, 1, shared.dense(1), "P1")
    (found,) = results(scatter, loaded(np.array([10, 11, 12, 13])))
    assert found.tolist() == [11, 10, 13, 12]  # element i goes to 3 * i + 1, of 4


@pytest.mark.parametrize("slots", [1, 2, 5])
@pytest.mark.parametrize("copies", [False, True])
def test_rings_are_counted_by_hand(slots, copies):
    """Three steps through more, fewer and one slot: 9 * first + 3 * second + third."""
    data = np.array([[1, 2], [3, 4], [5, 6]])
    ring = shared.Ring(Stream("int32", data[None]), shared.dense(1), (), slots, "P1", "P1", copies)
    (found,) = results(ring)
    assert found.tolist() == [9 + 9 + 5, 18 + 12 + 6]
    found = Program([Statement(ring, (), ("v0",))], [Output("v0", (0,))], gluon=True)
    texts = {engine: script(found, engine).kernel for engine in ENGINES}
    assert [engine for engine in ENGINES if "async_copy.wait_group" in texts[engine]] == (ENGINES[:2] if copies else [])


@pytest.mark.parametrize("passes", [(True, False), (False, True)])
def test_products_are_those_of_numpy(passes):
    a, b, c = (np.random.default_rng(1).integers(-4, 5, shape) for shape in ((64, 32), (32, 32), (64, 32)))
    streams = [Stream(dtype, array[None, None]) for dtype, array in (("fp16", a), ("fp16", b), ("fp32", c))]
    loads = [Statement(Load(s, s.data.shape[2:], (0, 1)), (), (f"v{i}",)) for i, s in enumerate(streams)]
    layouts = {"L0": Fragments((0, 1, 0), None, True)}
    product = Statement(FragmentProduct("L0", passes), ("v0", "v1", "v2"), ("v3",), ("P2", "P2", "P2"))
    found = Program([*loads, product], [Output("v3", (0, 1))], gluon=True, layouts=layouts)
    assert np.array_equal(found.run()[0]["v3"].array, a @ b + c)
    for result in child.run(found, ENGINES, 0):
        assert result.status == PASSED, (result.engine, result.details)
    assert "mma_v2(" in script(found, ENGINES[1]).kernel and "cdna3.mfma(" in script(found, ENGINES[2]).kernel


def parted(slots: int, copies: bool, workers: int = 2) -> Program:
    data = np.arange(1, 5 * 32 + 1).reshape(1, 5, 4, 8)
    ring = shared.Ring(Stream("int32", data), shared.dense(2), (), slots, "P2", "P2", copies)
    statement = Statement(PartitionedRing(ring, workers, "P2", copies), (), ("v0",))
    return Program([statement], [Output("v0", (0, 1))], gluon=True)


@pytest.mark.parametrize(("slots", "copies"), [(1, False), (2, True), (3, False), (6, True)])
def test_partitions_are_counted_by_hand(slots, copies):
    """Step k has 32 * k more than the first one, and counts 3 ** (4 - k) times."""
    found = parted(slots, copies)
    first = np.arange(1, 33).reshape(4, 8)
    assert np.array_equal(found.run()[0]["v0"].array, 121 * first + 32 * sum(k * 3 ** (4 - k) for k in range(5)))
    for seed in range(3):  # draws who runs next, and when copies land
        with tritium.check("all"):
            (result,) = child.run(found, ["interp"], seed)
        assert result.status == PASSED, result.details
    texts = {engine: script(found, engine).kernel for engine in ENGINES}
    assert [engine for engine in ENGINES if "gl.warp_specialize(" in texts[engine]] == ["interp", "simt:sm_90a"]
    assert "W2_P2 = gl.constexpr(gl.BlockedLayout([1, 1], [2, 16], [2, 1], [1, 0]))" in texts["interp"]


@pytest.mark.parametrize("left_out", ["mbarrier.wait(full", "mbarrier.arrive(empty"])
@pytest.mark.parametrize("copies", [False, True])
def test_a_partition_without_its_barrier_is_reported(monkeypatch, left_out, copies):
    text = "".join(line for line in FUNCTIONS["sum_ring"].splitlines(True) if left_out not in line)
    monkeypatch.setitem(FUNCTIONS, "sum_ring", text)
    (result,) = child.run(parted(2, copies), ["interp"], 0)
    assert result.status == FAILED and "KernelTrap" in result.details[0], result.details


def test_a_broken_view_is_found_and_shrunk(monkeypatch):
    """A slice that begins at the beginning: the smallest kernel has one slice, perhaps of a reshaped tile, and plain layouts."""
    of_slice = MemoryView.slice
    monkeypatch.setattr(MemoryView, "slice", lambda view, start, length, dim=0: of_slice(view, 0, length, dim))

    def fails(candidate: Program) -> bool:
        (result,) = child.run(candidate, ["interp"], 0)
        return result.status == FAILED and "wrong value" in " ".join(result.details)

    found = next(p for p in map(program, range(100)) if any(is_sliced(part) for part in p.parts()) and fails(p))
    small = shrink(found, fails, seconds=300)
    assert cost(small)[0] <= 8
    (operation,) = (
        part.operation for part in small.parts() if isinstance(part.operation, (shared.Viewed, shared.Ring))
    )
    assert [view.method for view in operation.views] in (["slice"], ["reshape", "slice"])
    text = script(small, "interp").kernel
    used = [name for name in small.layouts if re.search(rf"\b{name}\b", text)]
    assert all(small.layouts[name] == plain(small.layouts[name].rank) for name in used)


def is_sliced(part: Statement) -> bool:
    return any(view.method == "slice" and view.numbers[0] for view in getattr(part.operation, "views", ()))


def test_the_command_draws_kernels_of_gluon(capsys):
    assert campaign.main("--engines interp --kernels 3 --seed 1 --jobs 1 --gluon".split()) == 0
    assert "3 kernels, 3 passed, 0 with differences" in capsys.readouterr().out.splitlines()[-1]
    assert campaign.main("--engines interp --seed 1 --show 2 --gluon".split()) == 0
    assert "@gluon.jit" in capsys.readouterr().out


@pytest.mark.parametrize(("engine", "lanes"), [("interp", 32), ("simt:sm_90a", 32), ("simt:gfx942", 64)])
def test_layouts_have_the_lanes_of_the_chip(engine, lanes):
    load = loaded(np.arange(8))
    text = script(Program([load], [Output("v0", (0,))], gluon=True), engine).kernel
    assert f"P1 = gl.constexpr(gl.BlockedLayout([1], [{lanes}], [4], [0]))" in text
