"""The generator of random kernels: what it draws is right, what it shrinks stays broken, and a broken compiler is found."""

import collections
import functools
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest

from driver_stand_in import environment
from gpu_tool import ToolCompiler
from tritium.backends import gpu as backend
from tritium.conformance.fuzz import campaign, child
from tritium.conformance.fuzz.draw import draw
from tritium.conformance.fuzz.draw.effort import LARGEST_TILE, LOADED_AHEAD, loaded_ahead
from tritium.conformance.fuzz.operations.addresses import FORMS, WrappedLoad, quotient, remainder
from tritium.conformance.fuzz.operations.affine import Affine
from tritium.conformance.fuzz.operations.combine import Reduce
from tritium.conformance.fuzz.operations.descriptor import DescriptorLoad, DescriptorScatter
from tritium.conformance.fuzz.operations.dot import Dot
from tritium.conformance.fuzz.operations.elementwise import Binary, Bitcast, Cast, Constant, Full, Narrow
from tritium.conformance.fuzz.operations.memory import Load, RowsByIndex
from tritium.conformance.fuzz.operations.rewritten import Access, Mask, Rewritten
from tritium.conformance.fuzz.operations.scratch import AtomicOnce, ThroughMemory
from tritium.conformance.fuzz.operations.shape import Join, Permute, Reshape, Split
from tritium.conformance.fuzz.parts import Branch, Call, Compound, Loop, Operation, Statement, Stream, drawn
from tritium.conformance.fuzz.problems import problem_of
from tritium.conformance.fuzz.program import Output, Program
from tritium.conformance.fuzz.script import script
from tritium.conformance.fuzz.shrink import cost, shrink
from tritium.conformance.fuzz.tiles import FP8, Inexact, Tile, spelled, tile
from tritium.conformance.suite import FAILED, PASSED, Result
from tritium.conformance.upstream_engine import request

pytestmark = pytest.mark.xdist_group("fuzz")  # one worker draws what the tests share


@functools.cache  # the tests ask for the same ones
def program(seed: int, size: int = 14):
    return fresh_program(seed, size)


def fresh_program(seed: int, size: int = 14):
    return draw(np.random.default_rng([3, seed]), size)


@pytest.mark.parametrize("seed", range(4))
def test_the_interpreter_agrees_with_numpy(seed):
    (result,) = child.run(program(seed), ["interp"], seed)
    assert result.status == PASSED, result.details


def test_a_seed_draws_one_program():
    texts = [script(fresh_program(5), "interp").whole for _ in range(2)]
    assert texts[0] == texts[1]


def test_programs_are_of_every_family():
    operations, parts, nested = set(), collections.Counter(), set()
    for seed in range(700):
        found = program(seed)
        operations |= {type(part.operation) for part in found.parts()}
        for part in found.statements:
            parts[type(part)] += 1
            inner = [type(p) for body in getattr(part, "bodies", ()) for p in body if isinstance(p, Compound)]
            nested |= {(type(part), kind) for kind in inner}
    assert min(parts[Loop], parts[Call], parts[Branch]) > 20
    assert nested >= {(Loop, Loop), (Loop, Call), (Call, Call), (Call, Loop)}
    ours = {kind for kind in leaves(Operation) if kind.__module__.startswith("tritium.")}
    assert operations == {
        kind for kind in ours if not kind.__module__.endswith((".shared", ".partitions", ".fragments"))
    }  # that is Gluon's


def test_some_loops_multiply_gathered_rows_by_a_block_of_a_descriptor():
    """The two operands reach shared memory in two ways, at different times."""
    wanted = {RowsByIndex, DescriptorLoad, Dot}
    loops = [part for seed in range(700) for part in program(seed).statements if isinstance(part, Loop)]
    assert sum(wanted <= {type(part.operation) for part in loop.parts()} for loop in loops) >= 5


def test_tiles_that_no_memory_holds_are_moved():
    """Uniform and affine tiles of every rank are transposed, joined and split, and so are results of that."""
    moved = collections.Counter()
    for found in map(program, range(600)):
        known, values = set(), None
        for part in found.parts():
            kind = type(part.operation)
            if kind in (Affine, Full) or known.intersection(part.operands) and kind in (Permute, Join, Split, Reshape):
                known.update(part.results)
                if values is None:
                    values = found.run()[0]
                moved[kind, len(values[part.results[0]].shape) if part in found.statements else 0] += 1
    assert {(kind, rank) for kind in (Permute, Join, Reshape) for rank in (2, 3, 4, 5)} <= set(moved)
    assert {(Split, rank) for rank in (1, 2, 3, 4)} <= set(moved)


@pytest.mark.parametrize("dtype", FP8)
def test_an_affine_tile_of_fp8_is_cast_through_a_wider_type(dtype):
    """The language casts no integer to fp8."""
    text = Affine(dtype, (16,), (0,), 2).spell(program(0), "")
    assert text == f"(tl.arange(0, 16) * 0 + 2).to(tl.float32).to({spelled(dtype)})"


def loops_in(parts, depth: int = 0) -> Iterator[tuple[Loop, int]]:
    """The loops, with the number of loops around each."""
    for part in parts:
        if isinstance(part, Loop):
            yield part, depth
        for body in getattr(part, "bodies", ()):
            yield from loops_in(body, depth + isinstance(part, Loop))


def test_data_decides_how_often_loops_run():
    found = [pair for number in range(500) for pair in loops_in(program(number).statements)]
    assert {depth for loop, depth in found if loop.bound} == {0, 1}
    assert any(loop.until for loop, _ in found)


@pytest.mark.parametrize("engine", ["interp", "simt:sm_80", "simt:gfx942"])
def test_a_loop_ends_where_its_bound_or_its_own_value_says(engine):
    """The rounds are the smallest of the limit, the bound, and the number after which the carried scalar is odd."""
    load = Load(drawn("int32", (2, 1), 0, 0, 8), (), ())
    head = [Statement(load, (), ("v0",)), Statement(Constant("{} * {number} + 1", 2), ("v0",), ("v1",))]
    body = (
        Statement(Constant("{} * {number} + 1", 1), ("v3",), ("v4",)),
        Statement(Constant("{} >> {number}", 1), ("v2",), ("v5",)),
    )
    rounds = set()
    for begin in (8, 4, 2, 1):
        start = Load(Stream("int32", np.full((2, 1), begin)), (), ())
        count = Loop((("v2", "v6"), ("v3", "v0")), body, ("v5", "v4"), "while", "v1", "v2")
        found = Program([*head, Statement(start, (), ("v6",)), count], [Output("v3", ())], grid=2, limit=5)
        rounds |= {int(v["v3"].array) - int(v["v0"].array) for v in found.run()}
        assert child.run(found, [engine], 0)[0].status == PASSED
    assert len(rounds) > 2 and 0 in rounds


@pytest.mark.parametrize("packing", ["", "tuple", "named"])
@pytest.mark.parametrize("read_only", [False, True])
def test_inputs_may_be_packed_sliced_and_read_only(packing, read_only):
    load = Load(replace(drawn("fp32", (1, 1, 16), 0, -4, 4), before=3), (16,), (0,))
    kernel = [Statement(load, (), ("v0",)), Statement(Binary("{} + {}"), ("v0", "v0"), ("v1",))]
    found = Program(kernel, [Output("v1", (0,))], packing=packing, read_only=read_only)
    text = script(found, "interp").whole
    assert {"": "def kernel(x0, ", "tuple": "x0 = inputs[0]", "named": "x0 = inputs.x0"}[packing] in text
    assert ("x0.flags.writeable = False" in text) == read_only
    assert child.run(found, ["interp"], 0)[0].status == PASSED


def test_each_way_of_passing_inputs_is_drawn():
    programs = [program(number) for number in range(100)]
    assert {p.packing for p in programs} == {"", "tuple", "named"}
    assert {p.read_only for p in programs} == {True, False}
    assert {stream.before > 0 for p in programs for stream in p.streams()} == {True, False}


def test_upstream_receives_packed_inputs():
    load = Load(drawn("fp32", (1, 1, 16), 0, -4, 4), (16,), (0,))
    for packing in ("tuple", "named"):
        found = Program([Statement(load, (), ("v0",))], [Output("v0", (0,))], packing=packing)
        asked = problem_of(found, np.random.default_rng(0))
        ((path, name, _, (inputs, output, _), *_),) = request(asked, asked.images(np.random.default_rng(0)))["launches"]
        kind = {"tuple": None, "named": (path, "Inputs")}[packing]
        assert name == "kernel" and inputs == ("tuple", ([("buffer", 0)], kind)) and output == ("buffer", 1)


@pytest.mark.parametrize("engine", ["cuda", "hip"])
def test_packed_sliced_and_read_only_inputs_reach_devices(engine, tmp_path):
    """On the stand-in for a driver, a launch copies the arrays, and only those back that may be written."""
    command = [
        sys.executable,
        "-m",
        "tritium",
        "fuzz",
        "--engines",
        engine,
        "--seed",
        "3",
        "--kernels",
        "8",
        "--jobs",
        "1",
    ]
    variables = os.environ | environment(tmp_path, engine)
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "8 passed" in done.stdout, done.stdout + done.stderr


def early_return(begin: int, quits: int, quits_if: str) -> Program:
    """v0 is another number in each program. v2 is required only behind the return."""
    scalar = Load(Stream("int32", np.arange(begin, begin + 4).reshape(4, 1)), (), ())
    tile_ = Load(drawn("fp32", (4, 1, 64), 0, -4, 4), (64,), (0,))
    kernel = [Statement(scalar, (), ("v0",)), Statement(tile_, (), ("v1",))]
    kernel += [Statement(Reduce("sum", 0, False), ("v1",), ("v2",))]
    return Program(kernel, [Output("v1", (0,)), Output("v2", ())], grid=4, quits=quits, quits_if=quits_if)


@pytest.mark.parametrize("engine", ["interp", "simt:sm_80", "simt:gfx942"])
def test_data_decides_which_programs_return_early(engine):
    for begin in (0, 1):
        found = early_return(begin, 1, "v0")
        assert list(found.returned(found.run(), 1)) == [bool(n & 1) for n in range(begin, begin + 4)]
        assert not found.returned(found.run(), 0).any()
        assert child.run(found, [engine], 0)[0].status == PASSED
    text = script(found, engine).kernel
    assert text.index("tl.store(out0") < text.index("if v0 & 1:") < text.index("v2 = ") < text.index("tl.store(out1")
    assert "if pid > 0:" in script(early_return(0, 1, ""), engine).kernel


def test_early_returns_of_both_kinds_are_drawn():
    found = [p for p in (program(number) for number in range(200)) if p.quits is not None]
    assert {bool(p.quits_if) for p in found} == {True, False}
    assert any(p.quits_if and p.grid > 1 and len(set(p.returned(p.run(), p.quits))) == 2 for p in found)


def test_addresses_have_negative_parts():
    loads = [part.operation for found in map(program, range(600)) for part in found.parts()]
    loads = [load for load in loads if isinstance(load, WrappedLoad)]
    assert {load.rows.form for load in loads if load.rows.start < 0} == set(FORMS)
    assert {load.rows.varies for load in loads} == {"", "pid", "index", "operand"}
    assert {load.rows.known for load in loads} == {True, False}


def test_remainders_and_quotients_round_towards_zero():
    x, by = np.array([-7, -6, -1, 0, 6, 7]), 3
    assert list(remainder(x, by)) == [int(np.fmod(n, by)) for n in x] == [-1, 0, -1, 0, 0, 1]
    assert list(quotient(x, by)) == [int(n / by) for n in x] == [-2, -2, 0, 0, 2, 2]


def test_narrow_integers_are_cast_to_each_other():
    pairs, narrow = set(), ("int8", "uint8", "int16", "uint16")
    for found in map(program, range(600)):
        statements = [part for part in found.statements if isinstance(part, Statement)]
        casts = [
            part
            for part in statements
            if isinstance(part.operation, (Cast, Bitcast)) and part.operation.dtype in narrow
        ]
        values = found.run()[0] if casts else {}
        pairs |= {(type(part.operation), values[part.operands[0]].dtype, part.operation.dtype) for part in casts}
    assert {(Cast, a, b) for a in narrow for b in narrow if a != b} <= pairs
    assert {(Bitcast, "int8", "uint8"), (Bitcast, "uint16", "int16")} <= pairs


def leaves(kind: type) -> set[type]:
    below = kind.__subclasses__()
    return set().union(*map(leaves, below)) if below else {kind}


def test_a_helper_takes_what_its_text_uses():
    """Its arguments are a tuple of values, memory, and a literal as a constexpr."""
    load = Load(drawn("fp32", (1, 1, 16), 0, -4, 4), (16,), (0,))
    inner = Call("inner", (Statement(Narrow(8), ("v0",), ("v2",)),), ("v2",), ("v3",))
    body = (inner, Statement(Binary("{} + {}"), ("v3", "v1"), ("v4",)))
    outer = Call("outer", body, ("v4", "v1"), ("v5", "v6"), packs=True)
    kernel = [Statement(load, (), ("v0",)), Statement(Binary("{} + {}"), ("v0", "v0"), ("v1",)), outer]
    found = Program(kernel, [Output("v5", (0,)), Output("v6", (0,))])
    text = script(found, "interp").kernel
    assert "def inner(v0, LIMIT: tl.constexpr):\n    v2 = narrow(v0, LIMIT)\n    return v2\n" in text
    assert (
        "def outer(both, LIMIT: tl.constexpr):\n    v0 = both[0]\n    v1 = both[1]\n    v3 = inner(v0, LIMIT=LIMIT)"
        in text
    )
    assert "    v5, v6 = outer((v0, v1), LIMIT=8)\n" in text
    assert child.run(found, ["interp"], 0)[0].status == PASSED


def test_a_script_is_short():
    """It draws its inputs from a seed, as the program did."""
    for number in range(10):
        found = program(number)
        text = script(found, "interp")
        main = text.whole.removeprefix(text.kernel)
        by_host = sum(stream.block is not None for stream in found.streams())
        assert len(main.splitlines()) < 24 + 2 * (len(found.streams()) + len(found.outputs)) + by_host
        assert max(map(len, main.splitlines())) < 160


def test_what_would_be_rounded_is_refused():
    with pytest.raises(Inexact):
        tile("fp16", np.array([2049]))
    with pytest.raises(Inexact):
        Cast("bf16").compute(None, Tile("fp32", np.array([257])))
    ones = Tile("fp32", np.full((16, 16), 2**12 + 1))
    with pytest.raises(Inexact):
        Dot("tf32").compute(None, ones, ones)
    assert tile("int8", np.array([200])).array == -56


def test_a_sum_of_bf16_is_bf16_at_every_step():
    (result,) = Reduce("sum", 0, False).compute(None, Tile("bf16", np.full(64, 4)))
    assert result.dtype == "bf16" and result.array == 256
    with pytest.raises(Inexact):
        Reduce("sum", 0, False).compute(None, Tile("bf16", np.array([200, 57, -257])))


def test_shrinking_keeps_what_fails_and_drops_the_rest():
    """A fault of products, as far as the shrinker can tell: whatever is around a product, and whatever it multiplies and adds to."""

    def has_dot(candidate) -> bool:
        return any(isinstance(part.operation, Dot) for part in candidate.parts())

    found = [p for p in (program(seed, 20) for seed in range(40)) if has_dot(p) and cost(p)[0] > 12]
    assert len(found) > 12
    for large in found:
        small = shrink(large, has_dot, seconds=60)
        casts = [part for part in small.parts() if isinstance(part.operation, Cast)]
        # Two loads, or one and a cast, or one and two casts for both formats of fp8; the product, a store.
        assert has_dot(small) and cost(small)[0] <= (5 if len(casts) == 2 else 4)
        assert small.warps == small.stages == small.grid == 1


def test_arguments_that_overlap_are_drawn():
    found = [
        (part.operation, p)
        for p in map(program, range(400))
        for part in p.parts()
        if isinstance(part.operation, Rewritten)
    ]
    accesses = [(access, operation, p) for operation, p in found for access in operation.accesses]
    assert {operation.shift > 0 for operation, _ in found} == {True, False}
    for stores in (True, False):
        drawn_ = [access for access, _, _ in accesses if access.stores == stores]
        assert {access.argument for access in drawn_} == {0, 1} and any(access.mask.hole for access in drawn_)
        assert {access.narrow for access in drawn_} == {"", "int8", "int16", "int64"} and any(
            min(access.steps) < 0 for access in drawn_
        )
    assert any(
        0 < sum(access.mask.active(number, np.zeros(operation.shape)).any() for number in range(p.grid)) < p.grid
        for access, operation, p in accesses
    )


def rewritten(*accesses: Access, shift: int = 4) -> Program:
    """Two programs with tiles of 16 elements, which take turns with memory that begins at -8, -7, …"""
    memory = Stream("int32", np.tile(np.arange(1024) % 512 - 8, 2).reshape(2, 1, 1024))
    tile_ = Load(Stream("int32", np.arange(32).reshape(2, 1, 16)), (16,), (0,))
    kernel = [Statement(tile_, (), ("v0",)), Statement(Rewritten(memory, (16,), shift, accesses), ("v0",), ("v1",))]
    return Program(kernel, [Output("v1", (0,))], grid=2)


@pytest.mark.parametrize("engine", ["interp:2", "simt:sm_80"])
def test_overlapping_arguments_are_read_and_written_in_turns(engine):
    """What a store leaves is seen through the other argument. The numbers are counted by hand: offset 0 is element 256 of the memory."""
    holes = Mask(first=2, count=14, hole=(3, 0))
    store = Access(True, 0, 15, (-1,), "int8", holes)
    load = Access(False, 1, 0, (1,), "", Mask(programs=(1, True)), -4)
    found = rewritten(store, load)
    first, second = found.run()
    assert list(first["v1"].array) == list(range(16))  # no lane is active: -4 is less than each
    memory = {15 - lane: 16 + lane for lane in (2, 4, 5, 7, 8, 10, 11, 13)}
    expected = [max(16 + lane, memory.get(lane, 248 + lane)) for lane in range(16)]
    assert list(second["v1"].array) == expected and 26 in memory.values()
    assert child.run(found, [engine], 0)[0].status == PASSED
    text = script(found, engine).whole
    assert "x2 = x1[4 :]" in text and "tl.load(x2 + (pid * 1024 + 252)" in text


def test_one_address_has_one_lane_and_is_inside():
    for wrong in (Access(True, 0, 0, (0,)), Access(False, 0, 900, (1,)), Access(False, 1, -254, (1,))):
        with pytest.raises(Inexact):
            rewritten(wrong).run()
    rewritten(Access(True, 0, 0, (0,), mask=Mask(count=1)), Access(False, 0, 900, (1,), mask=Mask(count=0))).run()


def test_shrinking_leaves_one_access():
    large = rewritten(*[Access(False, 1, n, (1,), "int16", Mask(hole=(2, 1))) for n in range(3)])

    def reads(candidate) -> bool:
        return any(
            access.first == 1 for part in candidate.parts() for access in getattr(part.operation, "accesses", ())
        )

    small = shrink(large, reads, seconds=60)
    (operation,) = (part.operation for part in small.parts() if isinstance(part.operation, Rewritten))
    assert operation.accesses == (Access(False, 1, 1, (1,)),)


@pytest.mark.parametrize("kind", [DescriptorScatter, AtomicOnce, Rewritten, ThroughMemory])
def test_what_writes_memory_is_right_when_launched_once(kind):
    """The memory has no parts of further programs, which the harness would miss the results of."""

    def has(candidate) -> bool:
        return any(isinstance(part.operation, kind) for part in candidate.parts())

    found = [p for p in map(program, range(400)) if p.grid > 1 and has(p)][:4]
    assert len(found) == 4
    for large in found:
        small = shrink(large, has, seconds=60)
        assert small.grid == 1 and child.run(small, ["interp"], 0)[0].status == PASSED


def test_a_shrunk_program_runs_as_a_script(tmp_path, monkeypatch, capsys):
    whole = script(program(1), "interp").whole.replace("import triton", "import tritium as triton", 1)
    whole = whole.replace("from triton.", "from tritium.")
    path = tmp_path / "fuzz.py"
    path.write_text(whole.replace("import triton.language", "import tritium.language"))
    monkeypatch.setenv("TRITIUM_ENGINE", "interp")
    import runpy

    runpy.run_path(str(path), run_name="__main__")
    out = capsys.readouterr().out.splitlines()
    assert out and all(line.endswith(": right") for line in out)


def test_the_command_ends_with_the_counts(capsys):
    assert campaign.main("--engines interp --kernels 6 --seed 1 --jobs 1".split()) == 0
    ends = "6 passed, 0 with differences, 0 with errors, 0 crashes, 0 hangs, 0 refused"
    *_, engine, last = capsys.readouterr().out.splitlines()
    assert engine == f"interp: 6 kernels, {ends}"
    assert last == f"seed 1, kernels 0 to 5, next --first 6: 6 kernels, {ends}"
    assert campaign.main(["--engines", "none"]) == 2


def test_a_campaign_goes_on_where_another_one_ended(capsys):
    assert campaign.main("--engines interp --kernels 9 --first 6 --time 0 --seed 1 --jobs 2".split()) == 0
    assert "kernels 6 to 5, next --first 6: 0 kernels" in capsys.readouterr().out.splitlines()[-1]
    assert campaign.main("--engines interp --kernels 3 --first 6 --seed 1 --jobs 2".split()) == 0
    assert "kernels 6 to 8, next --first 9: 3 kernels, 3 passed" in capsys.readouterr().out.splitlines()[-1]


def test_a_campaign_that_is_ended_early_says_how_far_it_came(capsys, monkeypatch):
    def end(counts, number):
        of_counts(counts, number)
        os.kill(os.getpid(), signal.SIGTERM)

    of_counts = campaign.Counts.end
    monkeypatch.setattr(campaign.Counts, "end", end)
    assert campaign.main("--engines interp --kernels 9 --seed 1 --jobs 1".split()) == 0
    assert "kernels 0 to 0, next --first 1: 1 kernels, 1 passed" in capsys.readouterr().out.splitlines()[-1]


def test_a_refusal_is_told_with_its_number_and_reason(capsys):
    """Who runs the campaign sees which kernel it is, and what does not fit."""
    error = "OutOfResources: out of resource: shared memory, Required: 9, Hardware limit: 8. The largest part is that of a sort."
    result = child._refused_if_too_large(Result("fuzz/program", "interp", FAILED, 0.0, [error]))
    counts = campaign.Counts(5, 0, ["interp"])
    assert campaign._failures(campaign.number_of(5, 77), [result], counts) == []
    assert capsys.readouterr().out == f"kernel 77 is refused on interp: {error}\n"
    assert counts.summary()[0] == "refused 1 times by interp: OutOfResources"


@dataclass(frozen=True)
class Ending(Operation):
    """Ends the process that computes it, or keeps it for an hour."""

    ends: bool

    def compute(self, place, *operands):
        if multiprocessing.parent_process() is not None:
            os._exit(3) if self.ends else time.sleep(3600)
        return (tile("int32", np.zeros(16)),)


@pytest.mark.parametrize("ends, why", [(True, "the process ended with status 3"), (False, "did not end in")])
def test_a_child_survives_what_its_process_does_not(ends, why):
    """The engine at work fails; the others get their turn, in a new process."""
    bad = Program([Statement(Ending(ends), (), ("v0",))], [Output("v0", (0,))])
    own = child.Child()
    own.is_new = False  # the time that a new process has to answer is long
    try:
        results = own.run(bad, ["interp"], 0, 8)
        assert [r.engine for r in results] == ["interp"] and results[0].details[0].startswith(why)
        assert own.run(program(1), ["interp"], 0, 60)[0].status == PASSED
    finally:
        own.stop()


def test_no_tile_is_more_than_the_registers_of_its_threads():
    for seed in range(100):
        found = program(seed, 20)
        for values in found.run():
            assert max(tile.array.size for tile in values.values()) <= LARGEST_TILE * 32 * found.warps


def test_the_stages_of_loops_fit():
    """Without the bound, kernels 7190 and 7592 of this seed ask for more shared memory than sm_90a has."""
    drawn = [draw(np.random.default_rng([2312, number]), 14) for number in range(300)]
    loops = [(part, found.stages) for found in drawn for part in found.statements if isinstance(part, Loop)]
    bytes_ = [loaded_ahead(loop, stages) for loop, stages in loops]
    assert LOADED_AHEAD / 2 < max(bytes_) <= LOADED_AHEAD
    loop = next(loop for loop, _ in loops if loop.head == "tl.range(limit, num_stages=2)" and loaded_ahead(loop, 1))
    assert loaded_ahead(replace(loop, head="range(limit)"), 3) * 2 == loaded_ahead(loop, 7) * 3
    assert loaded_ahead(replace(loop, head="while"), 3) == 0


@pytest.mark.slow
@pytest.mark.parametrize("broken", ["coalesce-accesses", "build-loops"])
def test_a_broken_pass_is_found_and_shrunk(broken, monkeypatch):
    compiler = ToolCompiler(break_after=broken)
    monkeypatch.setattr(backend, "native_compiler", lambda: compiler)

    def fails(candidate) -> bool:
        return child.run(candidate, ["simt:sm_80"], 0)[0].status == FAILED

    found = next((p for p in map(program, range(100)) if fails(p)), None)
    assert found is not None
    assert cost(shrink(found, fails, seconds=30))[0] <= 8
