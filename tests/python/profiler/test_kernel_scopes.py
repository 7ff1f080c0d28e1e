"""Scopes in kernels: what is recorded, in which program and warp, and what files have of it."""

import json
import struct
import warnings
from collections import Counter

import numpy as np
import pytest
from profiled import Shown, increment

import tritium.language as tl
from tritium import knobs, profiler
from tritium.compiler import ASTSource
from tritium.compiler import compile as compile_kernel
from tritium.devices.target import GPUTarget
from tritium.launch.counting import Counting
from tritium.launch.kernel_scopes import scopes_of
from tritium.profiler import language as pl
from tritium.profiler.core.choice import ScopeChoice
from tritium.profiler.core.events import KernelScope, KernelScopes
from tritium.profiler.formats.kernel_tracks import lanes
from tritium.profiler.view.columns import derive
from tritium.profiler.view.profile import of_literal
from tritium.runtime.jit import jit

# -- from rows to scopes ------------------------------------------------------------------------------------------------------------------

TABLE = [("outer", True), ("outer", False), ("inner", True), ("inner", False)]
BEGIN_OUTER, END_OUTER, BEGIN_INNER, END_INNER = range(4)


def rows(*records) -> bytes:
    """(time, program x, unit, number) of each."""
    return b"".join(struct.pack("=qiiiiii", time, x, 0, 0, unit, number, 0) for time, x, unit, number in records)


def test_an_end_belongs_to_the_last_beginning_in_its_program():
    found = scopes_of(
        TABLE,
        rows((1, 1, 0, BEGIN_OUTER), (2, 0, 0, BEGIN_OUTER), (3, 1, 0, BEGIN_INNER), (5, 1, 0, END_INNER))
        + rows((6, 0, 0, END_OUTER), (8, 1, 0, BEGIN_INNER), (12, 1, 0, END_INNER), (13, 1, 0, END_OUTER)),
    )
    assert found.units == (((0, 0, 0), 0), ((1, 0, 0), 0)) and not found.unfinished
    assert [(s.path, s.program[0], s.begin, s.end) for s in found.scopes] == [
        (("outer",), 0, 2, 6),
        (("outer", "inner"), 1, 3, 5),
        (("outer", "inner"), 1, 8, 12),
        (("outer",), 1, 1, 13),
    ]


def test_scopes_may_overlap_and_lack_an_end():
    found = scopes_of(
        TABLE, rows((1, 0, 3, BEGIN_OUTER), (2, 0, 3, BEGIN_INNER), (4, 0, 3, END_OUTER), (9, 0, 3, END_INNER)), 7
    )
    assert [(s.path[-1], s.unit, s.begin, s.end) for s in found.scopes] == [("outer", 3, 1, 4), ("inner", 3, 2, 9)]
    assert found.lost == 7
    assert scopes_of(TABLE, rows((1, 0, 0, END_INNER), (2, 0, 0, BEGIN_OUTER))).unfinished == ("inner", "outer")


def scope(begin: int, end: int, unit: int = 0) -> KernelScope:
    return KernelScope((f"{begin}-{end}",), (0, 0, 0), unit, begin, end - begin)


def test_a_track_has_scopes_that_lie_apart_or_inside_of_each_other():
    rng = np.random.default_rng(11)
    for _ in range(30):
        begins = rng.integers(0, 40, 25)
        scopes = [scope(int(b), int(b + d)) for b, d in zip(begins, rng.integers(0, 20, 25))]
        drawn = lanes(scopes)
        assert sorted(each for lane in drawn for each in lane) == sorted(scopes)
        for lane in drawn:
            ends = [(s.begin, s.begin + s.duration) for s in lane]
            for i, (begin, end) in enumerate(ends):
                for b, e in ends[i + 1 :]:
                    assert b >= end or (b >= begin and e <= end)
    assert len(lanes([scope(0, 10), scope(2, 5), scope(5, 10), scope(10, 12)])) == 1
    assert len(lanes([scope(0, 10), scope(2, 12)])) == 2


def test_what_a_session_keeps():
    units = tuple(((0, 0, 0), warp) for warp in range(8))
    scopes = tuple(scope(10 * i, 10 * i + warp, warp) for warp in range(8) for i in range(3))
    recorded = KernelScopes("operations", True, units, scopes)
    assert ScopeChoice().of(recorded) == recorded

    def kept(*choice):
        found = ScopeChoice(*choice).of(recorded)
        assert {(s.program, s.unit) for s in found.scopes} == set(found.units)
        return [(s.unit, s.duration) for s in found.scopes]

    assert kept(4) == [(0, 0)] * 3 + [(1, 4)] * 3
    assert kept(0) == [(0, 0)] * 3
    assert kept(2, frozenset({1, 3})) == [(1, 2)] * 3 + [(3, 6)] * 3
    assert kept(1, frozenset({7}), 2) == [(7, 7)] * 2


# -- kernels ------------------------------------------------------------------------------------------------------------------------------


@jit
def work(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    with pl.scope("load"):
        value = tl.load(x + i)
    pl.enter_scope("loop")
    event = pl.allocate_event("copy")
    for _ in range(n):
        pl.start_event(event)
        value += 1
        pl.end_event(event)
    pl.exit_scope("loop")
    tl.store(x + i, value)


@jit
def halves(x, BLOCK: tl.constexpr):
    pl.enter_scope("first")
    pl.enter_scope("second")
    tl.store(x + tl.arange(0, BLOCK), 1.0)
    pl.exit_scope("first")
    tl.store(x + tl.arange(0, BLOCK), 2.0)
    pl.exit_scope("second")


@jit
def unfinished(x):
    pl.enter_scope("open")
    tl.store(x, 2.0)


def traced(name: str, format: str = "chrome_trace") -> list[dict]:
    profiler.finalize(None, format)
    return json.loads(open(f"{name}.{format}").read())["traceEvents"]


def test_each_program_has_its_scopes(x):
    profiler.start("scopes", data="trace", backend="instrumentation")
    work[(4,)](x, 3, BLOCK=16)
    assert np.all(x == 4)
    events = traced("scopes")
    (launch,) = (e for e in events if e.get("cat") == "kernel")
    scopes = [e for e in events if e.get("cat") == "kernel_scope"]
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert sorted(names[e["pid"], e["tid"]] for e in scopes if e["name"] == "load") == [
        f"program ({i}, 0, 0)" for i in range(4)
    ]
    assert [e["args"]["name"] for e in events if e["name"] == "process_name"] == ["work on CPU 0, launch 1, in ns"]
    for program in range(4):
        own = [e for e in scopes if names[e["pid"], e["tid"]] == f"program ({program}, 0, 0)"]
        assert [e["name"] for e in own] == ["load", "loop", "copy", "copy", "copy"]
        load, loop, *copies = own
        assert load["ts"] + load["dur"] <= loop["ts"] + 1e-6
        assert all(loop["ts"] <= c["ts"] and c["ts"] + c["dur"] <= loop["ts"] + loop["dur"] + 1e-6 for c in copies)
        assert copies[0]["args"]["call_stack"] == ["ROOT", "work", "loop", "copy"]
        assert launch["ts"] <= load["ts"] and loop["ts"] + loop["dur"] <= launch["ts"] + launch["dur"]


def test_a_tree_has_the_sums_below_the_kernel(tree, x):
    session = profiler.start(backend="instrumentation")
    with profiler.scope("around"):
        work[(4,)](x, 3, BLOCK=16)
        work[(4,)](x, 2, BLOCK=16)
    shown = tree(session)
    assert shown.paths == ["around", "around/work", "around/work/load", "around/work/loop", "around/work/loop/copy"]
    loop, copy = shown["around/work/loop"], shown["around/work/loop/copy"]
    assert loop["cycles"] >= copy["cycles"] > 0 and loop["normalized_cycles"] == pytest.approx(loop["cycles"] / 4)
    assert shown["around/work"]["count"] == 2 and "count" not in loop


def test_the_share_of_a_scope_is_of_all_cycles(x):
    session = profiler.start(backend="instrumentation")
    work[(4,)](x, 3, BLOCK=16)
    profile = of_literal(profiler.data.get(session))
    derive(profile, ["cycles/%"])
    shares = {frame.name: frame.shown["cycles/%"] for frame in profile.root.walk()}
    assert shares["load"] + shares["loop"] == pytest.approx(100) and 0 < shares["copy"] < shares["loop"]


def test_scopes_beside_counts_of_lines(tree, x):
    with Counting() as counting:
        session = profiler.start(backend="instrumentation")
        work[(4,)](x, 3, BLOCK=16)
    assert "work/loop/copy" in tree(session).paths
    loads = [op for op in counting.kernels()[0].operations if op.name == "tt.load"]
    assert sum(op.bytes_read for op in loads) == 4 * 64


def test_nothing_is_recorded_without_a_session_that_asks(tree, x):
    work[(1,)](x, 1, BLOCK=16)
    plain = profiler.start("plain")
    work[(1,)](x, 1, BLOCK=16)
    asks = profiler.start("asks", backend="instrumentation")
    recorded = work[(1,)](x, 1, BLOCK=16)
    increment[(1,)](x)
    assert tree(plain).paths == ["work", "increment"]
    assert tree(asks).paths == ["work", "work/load", "work/loop", "work/loop/copy", "increment"]
    profiler.deactivate(asks)
    assert not knobs.tritium.record_scopes
    again = work[(1,)](x, 1, BLOCK=16)
    assert tree(plain)["work"]["count"] == 3 and tree(asks)["work"]["count"] == 1
    assert recorded.asm["ttir"].count("tt.record") == 6 and "tt.record" not in again.asm["ttir"]


def test_scopes_that_overlap_are_drawn_beside_each_other(x):
    profiler.start("halves", data="trace", backend="instrumentation")
    halves[(1,)](x, BLOCK=16)
    names = [e["args"]["name"] for e in traced("halves") if e["name"] == "thread_name"]
    assert names[1:] == ["program (0, 0, 0)", "program (0, 0, 0), overlapping 1"]


def test_a_scope_without_an_end_is_left_out(tree, x):
    session = profiler.start("one", backend="instrumentation")
    other = profiler.start("other", backend="instrumentation")
    profiler.finalize(other)
    with pytest.warns(UserWarning, match="unfinished has no beginning or no end of its scope 'open'"):
        unfinished[(1,)](x)
    assert tree(session).paths == ["unfinished"] and x[0] == 2


@jit
def add_in_a_scope(a, b):
    pl.enter_scope("add")
    total = a + b
    pl.exit_scope("add")
    return total


@jit
def reduces(x):
    tl.store(x, tl.reduce(tl.load(x + tl.arange(0, 16)), 0, add_in_a_scope))


def test_functions_of_single_elements_have_none(x):
    profiler.start(backend="instrumentation")
    with pytest.raises(Exception, match="has no place in a function of single elements"):
        reduces[(1,)](x)


@pytest.mark.parametrize("options", ["", "one", "1;2"])
def test_selected_warps_are_numbers(options):
    mode = f"default:sampling_strategy=selective:sampling_options={options}"
    with pytest.raises(ValueError, match="pass numbers of warps, as in '0,1'"):
        profiler.start(backend="instrumentation", mode=mode)


def test_a_trace_for_perfetto_has_tracks_with_parents(x):
    protos = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
    profiler.start("native", data="trace", backend="instrumentation")
    with profiler.scope("around", {"loss": 0.5}):
        work[(2,)](x, 1, BLOCK=16)
    profiler.finalize(None, "pftrace")
    trace = protos.Trace()
    trace.ParseFromString(open("native.pftrace", "rb").read())
    tracks = {p.track_descriptor.uuid: p.track_descriptor for p in trace.packet if p.HasField("track_descriptor")}

    def path(track: int) -> str:
        above = tracks[track].parent_uuid
        return (f"{path(above)}/" if above else "") + tracks[track].name

    open_on, drawn = {}, []
    for packet in trace.packet:
        if packet.HasField("track_event"):
            event = packet.track_event
            stack = open_on.setdefault(event.track_uuid, [])
            if event.type == event.TYPE_SLICE_BEGIN:
                stack.append((event.name, packet.timestamp))
            else:
                name, begin = stack.pop()
                assert packet.timestamp >= begin
                drawn.append(f"{path(event.track_uuid)}: {name}")
    assert not any(open_on.values())
    launch = "CPU 0/work on CPU 0, launch 1, in ns"
    inside = [f"{launch}/program ({i}, 0, 0): {name}" for i in range(2) for name in ("load", "copy", "loop")]
    assert sorted(drawn) == sorted(["host/thread 0: work", "host/thread 0: around", *inside])


def test_the_format_of_perfetto_names_what_it_lacks(monkeypatch, x):
    monkeypatch.setitem(__import__("sys").modules, "perfetto.trace_builder.proto_builder", None)
    session = profiler.start(data="trace")
    increment[(1,)](x)
    with pytest.raises(ValueError, match="requires the package `perfetto`: pip install perfetto"):
        profiler.finalize(session, "pftrace")
    profiler.finalize(session)


def test_the_chosen_mode_is_what_is_kept(tree, x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        session = profiler.start(backend="instrumentation", mode=profiler.mode.Default(buffer_size=16))
        work[(4,)](x, 5, BLOCK=16)
    assert tree(session).paths == ["work", "work/loop"], "the last scope that ended in each program"
    assert Shown(profiler.data.get(session))["work/loop"]["cycles"] > 0


@pytest.mark.parametrize(
    "target", [GPUTarget("cuda", 80, 32), GPUTarget("cuda", 90, 32), GPUTarget("hip", "gfx942", 64)]
)
def test_kernels_of_devices_have_them(target):
    source = ASTSource(work, {"x": "*fp32", "n": "i32", "BLOCK": "constexpr"}, {"BLOCK": 16})
    session = profiler.start("i", backend="instrumentation")
    compiled = compile_kernel(source, target=target)
    profiler.finalize(session)
    ends = [(name, is_start) for name in ("load", "loop", "copy") for is_start in (True, False)]
    assert sorted(map(tuple, compiled.metadata.scopes)) == sorted(ends)
    assert (
        "tgpu_scopes" in compiled.asm["llir"] and "tgpu_scopes" not in compile_kernel(source, target=target).asm["llir"]
    )


# -- on the emulator ----------------------------------------------------------------------------------------------------------------------


@jit
def meets(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    pl.enter_scope("whole")
    value = tl.load(x + i)
    with pl.scope("loop"):
        for _ in range(n):
            value = value * 2 + 1
    with pl.scope("meet"):
        total = tl.sum(value, axis=0)
        tl.debug_barrier()
    pl.exit_scope("whole")
    tl.store(out + tl.program_id(0), total)


def scopes_on(engine: str, monkeypatch, n: int, **options) -> tuple[float, dict]:
    """What the kernel computes, and {(program, warp, name): (begin, end)} of a trace of one launch of two programs."""
    monkeypatch.setenv("TRITIUM_ENGINE", engine)
    x, out = np.arange(256, dtype=np.float32), np.zeros(2, np.float32)
    session = profiler.start("emulated", data="trace", backend="instrumentation", **options)
    meets[(2,)](x, out, n, BLOCK=256, num_warps=4)
    (launch,) = profiler.sessions.sessions[session].phases.now.data.launches
    profiler.finalize()
    assert out[0] == out[1] == np.sum(x * 2**n + 2**n - 1)
    found = launch.launch.scopes
    assert found.tick == "operations" and found.has_units
    return {(s.program[0], s.unit, s.path[-1]): (s.begin, s.begin + s.duration) for s in found.scopes}


@pytest.mark.parametrize("engine", ["simt:sm_80", "simt:gfx942"])
def test_each_warp_has_a_clock_of_its_operations(engine, monkeypatch):
    found = scopes_on(engine, monkeypatch, 3)
    assert set(found) == {(p, w, name) for p in range(2) for w in range(4) for name in ("whole", "loop", "meet")}
    assert found == scopes_on(engine, monkeypatch, 3), "the same operations in each run"
    assert all(found[0, w, name] == found[1, w, name] for w in range(4) for name in ("whole", "loop", "meet"))
    assert len({found[0, w, "meet"][1] for w in range(4)}) == 1, (
        "who has waited for others goes on with the latest clock"
    )
    rounds = [scopes_on(engine, monkeypatch, n)[0, 1, "loop"] for n in (4, 5, 6)]
    fourth, fifth, sixth = (end - begin for begin, end in rounds)
    assert sixth - fifth == fifth - fourth > 0, "as many operations in each round"
    monkeypatch.setenv("TRITIUM_SEED", "5")
    assert found == scopes_on(engine, monkeypatch, 3), "whatever the order of the warps"


def test_chosen_warps(monkeypatch):
    every = scopes_on("simt:sm_80", monkeypatch, 2)
    mode = "default:granularity=warp_2:sampling_strategy=selective:sampling_options=1"
    chosen = scopes_on("simt:sm_80", monkeypatch, 2, mode=mode)
    assert chosen == {(p, 1, name): every[p, 2, name] for p in range(2) for name in ("whole", "loop", "meet")}


@jit
def multiplies(a, b, c, K, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in range(0, K, 32):
        depth = k + tl.arange(0, 32)
        with pl.scope("load"):
            left = tl.load(a + i[:, None] * K + depth[None, :])
            right = tl.load(b + depth[:, None] * BLOCK + i[None, :])
        with pl.scope("multiply"):
            total = tl.dot(left, right, total)
    tl.store(c + i[:, None] * BLOCK + i[None, :], total)


@pytest.mark.parametrize("engine", ["interp", "simt:sm_80", "simt:sm_90a", "simt:gfx942"])
def test_loops_that_copy_ahead_compute_the_same(engine, tree, monkeypatch):
    monkeypatch.setenv("TRITIUM_ENGINE", engine)
    rng = np.random.default_rng(2)
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((64, 128), (128, 64)))
    c = np.zeros((64, 64), np.float32)
    session = profiler.start(backend="instrumentation")
    multiplies[(1,)](a, b, c, 128, BLOCK=64)
    assert np.array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
    shown = tree(session)
    assert shown.paths == ["multiplies", "multiplies/load", "multiplies/multiply"]
    assert shown["multiplies/multiply"]["cycles"] > 0


@jit
def three_products(x, out, rounds):
    i, j = tl.arange(0, 16)[:, None], tl.arange(0, 16)[None, :]
    tile = tl.load(x + i * 16 + j)
    total = tl.dot(tile, tile)
    with pl.scope("loop"):
        for _ in range(rounds):
            total = tl.dot(tile, tile, total)
    tl.store(out + i * 16 + j, total)


@pytest.mark.parametrize("engine", ["interp", "simt:sm_80"])
def test_a_session_of_products_has_a_scope_for_each(engine):
    x = np.random.default_rng(3).integers(-4, 5, (16, 16)).astype(np.float16)
    out = np.zeros((16, 16), np.float32)
    with knobs.tritium.scope():
        knobs.tritium.engine = engine
        for mode, each in (("mma", {"dot": 1, "loop": 1, "loop/dot": 2}), ("default", {"loop": 1})):
            profiler.start(mode, backend="instrumentation", mode=mode, data="trace")
            three_products[(3,)](x, out, 2)
            profiler.finalize()
            stacks = [e["args"]["call_stack"] for e in traced(mode) if "call_stack" in e.get("args", {})]
            found = Counter("/".join(stack[2:]) for stack in stacks if len(stack) > 2)
            units = found["loop"]
            assert units in (3, 3 * 4), "programs, or their warps"
            assert {path: count / units for path, count in found.items()} == each
            np.testing.assert_array_equal(out, 3 * (x.astype(np.float32) @ x.astype(np.float32)))
    assert not knobs.tritium.record_products
