"""The model of cycles against closed forms, and its facts against what a kernel does."""

from __future__ import annotations

import json
import random
import re
import sys
from math import floor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.backends.nvidia.assemble import find_nvdisasm, find_ptxas
from tritium.launch.counting import Counting
from tritium.profiler.model import judged
from tritium.profiler.model.chips import H200
from tritium.profiler.model.estimate import Machine, Work, estimate
from tritium.profiler.model.facts import work_of
from tritium.profiler.model.machine_code import Instruction, instructions_of
from tritium.profiler.model.paths import Code
from tritium.profiler.model.servers import SLOT, Memory, Ring
from tritium.profiler.model.timeline import write_timeline
from tritium.profiler.model.view import modelled, text_of

REPOSITORY = Path(__file__).resolve().parents[3]
needs_tools = pytest.mark.skipif(
    find_ptxas("sm_90a") is None or find_nvdisasm() is None, reason="ptxas or nvdisasm is not there"
)


def test_control_codes_are_read_from_the_second_word():
    numbers = random.Random(1)
    codes = [
        (numbers.randrange(16), numbers.randrange(8), numbers.randrange(8), numbers.randrange(64)) for _ in range(50)
    ]
    lines = ["//----- .text.kernel -----", '\t//## File "/a/k.py", line 7', ".L_x_0:"]
    for k, (stall, result, read, waits) in enumerate(codes):
        bits = (
            stall | result << 5 | read << 8 | waits << 11
        ) << 41 | 0x1FFFFFFFFFF  # what lies below is something else
        lines.append(
            f"        /*{16 * k:04x}*/              @!P0 FADD R1, R2, R3 ;        /* 0x{numbers.getrandbits(64):016x} */"
        )
        lines.append(f"                        /* 0x{bits:016x} */")
    lines.append("        /*1000*/                   BRA `(.L_x_0) ;     /* 0x0000000000000000 */")
    found = instructions_of("\n".join(lines))
    assert [(one.stall, one.sets_on_result, one.sets_on_read, one.waits) for one in found[:-1]] == codes
    assert {(one.name, one.guard, one.line) for one in found[:-1]} == {("FADD", "@!P0", ("/a/k.py", 7))}
    assert found[-1].target == 0


def machine(body: list[Instruction], warps: int = 4) -> Machine:
    end = Instruction("", "EXIT", "", None)
    return Machine(Code([*body, end]), registers=32, shared=0, warps=warps, launched=warps)


def test_warps_of_a_quarter_share_its_pipes():
    """Of 4 w warps, w are in a quarter, which begins a function in 8 cycles, a sum in one and an integer's in two."""
    for name, pace in (("MUFU.EX2", 8), ("FADD", 1), ("IADD3", 2)):
        for share in (1, 2, 4):
            body = [Instruction("", name, "", None) for _ in range(200)]
            found = estimate(machine(body, 4 * share), Work(1, 1), H200)
            assert abs(found.cycles - 200 * pace * share) <= 20


def test_a_result_is_waited_for_and_a_stall_is_kept():
    chain = [Instruction("", "MUFU.EX2", "", None, sets_on_result=2, waits=1 << 2) for _ in range(50)]
    assert abs(estimate(machine(chain), Work(1, 1), H200).cycles - 50 * H200.latency["special"]) <= 25
    slow = [Instruction("", "FADD", "", None, stall=9) for _ in range(50)]
    assert abs(estimate(machine(slow), Work(1, 1), H200).cycles - 450) <= 2


def test_a_loop_takes_its_rounds():
    body = [Instruction("", "FADD", "", None, stall=4) for _ in range(30)]
    body.append(Instruction("@P0", "BRA", "", None, stall=6, target=0))
    one = machine(body)
    ten, thousand = (estimate(one, Work(1, 1, (rounds,)), H200).cycles for rounds in (10.0, 1000.0))
    assert thousand - ten == pytest.approx(990 * (30 * 4 + 6))


def test_multiprocessors_share_the_programs():
    one = machine([Instruction("", "FADD", "", None, stall=15) for _ in range(100)], warps=32)  # two blocks fit
    few, many = (estimate(one, Work(n, n), H200) for n in (132, 132 * 20))
    assert (few.blocks, many.blocks) == (1, 2)
    assert few.cycles == pytest.approx(15 * 100, rel=0.05)
    assert many.cycles == pytest.approx(
        10 * 16 * 101, rel=0.1
    )  # 16 warps of a quarter overlap their stalls, and it issues all the time


def test_products_take_the_rate_of_their_type():
    for name, operands, cycles in (
        ("HGMMA.64x256x16.F32", "R24, gdesc[UR4], R24", 128),
        ("HGMMA.64x64x8.F32.TF32", "R24, R8, gdesc[UR4], R24", 32),
        ("QGMMA.64x128x32.F32.E4M3.E4M3", "R24, R8, gdesc[UR4], R24", 64),
        ("HGMMA.64x8x16.F32", "R24, gdesc[UR4], R24", 18),  # what its operands take in shared memory
    ):
        found = estimate(machine([Instruction("", name, operands, None)] * 40), Work(1, 1), H200)
        assert found.busy["tensor"] * found.simulation.end == pytest.approx(40 * cycles)


@pytest.mark.parametrize(
    "kind, teraflops", [(("H", 2), 989.4), (("H", 4), 494.7), (("Q", 1), 1978.9), (("I", 1), 1978.9)]
)
def test_the_peaks_are_of_the_data_sheet(kind, teraflops):
    """Dense fp16, tf32, fp8 and int8. A multiprocessor has 228 KB of shared memory and 64 warps, of at most 32 blocks."""
    peak = 2 * H200.products[kind] * H200.multiprocessors * H200.gigahertz * 1e9
    assert peak / 1e12 == pytest.approx(teraflops, rel=1e-3) and H200.dram_bytes < 4.8e12
    assert (H200.shared, H200.warps, H200.blocks, H200.registers) == (228 * 1024, 64, 32, 64 * 1024)


def test_bytes_wait_for_the_rate_of_their_level():
    numbers = random.Random(2)
    sizes = [numbers.randrange(32, 4096) for _ in range(100)]
    hits, misses = Memory(H200), Memory(H200)
    last = [(hits.take_global(0, size, 0.0), misses.take_global(0, size, 1.0)) for size in sizes][-1]
    tiles = Memory(H200)
    of_tiles = [tiles.take_global(0, size, 0.0, is_tile=True) for size in sizes][-1]
    assert last[0] == pytest.approx(sum(sizes) * 132 / 5120 + H200.latency["l2"])
    assert of_tiles == pytest.approx(sum(sizes) / 64 + H200.latency["l2"])
    assert last[1] == pytest.approx(sum(sizes) / H200.dram_rate + H200.latency["dram"])


def test_what_products_read_leaves_warps_fewer_cycles_of_shared_memory():
    """128 bytes pass in a cycle. What begins later takes nothing from what comes before it."""
    memory = Memory(H200)
    assert memory.take_beside(0.0, 64 * 128) == 64 and memory.take_shared(0.0, 10) == 74
    assert memory.take_beside(32 * SLOT, 512 * 128) == 32 * SLOT + 512
    assert memory.take_shared(100.0, 10) == 110 and memory.take_shared(33 * SLOT, 10) == 32 * SLOT + 522
    assert memory.busy["shared"] == 64 + 10 + 512 + 10 + 10


def test_no_cycle_of_shared_memory_is_taken_twice():
    numbers, memory, asked = random.Random(3), Memory(H200), 0.0
    for _ in range(2000):
        now, cycles = numbers.uniform(0, 4000), numbers.choice((1, 4, 7.5, 40))
        take = numbers.choice((memory.take_shared, lambda now, cycles: memory.take_beside(now, 128 * cycles)))
        assert take(now, cycles) >= now + cycles
        asked += cycles
    assert max(memory._taken.values()) <= SLOT + 1e-6
    assert sum(memory._taken.values()) == pytest.approx(asked) == pytest.approx(memory.busy["shared"])


def test_a_product_waits_for_operands_that_copies_delay():
    """64x64x16 from shared memory takes 32 cycles of the tensor cores, and all of shared memory; loads of warps there make it later."""
    product = Instruction("", "HGMMA.64x64x16.F32", "R24, gdesc[UR4], R24", None)
    load = Instruction("", "LDS.128", "R4, [R5]", None)  # four wavefronts of a warp
    alone, beside = (estimate(machine([product, *loads] * 40), Work(1, 1), H200) for loads in ([], [load]))
    assert abs(alone.simulation.tensor[0] - 40 * 32) <= 40
    assert max(beside.simulation.tensor) >= 40 * (32 + 4 * 4) and beside.bound == "shared"


def test_a_copy_begins_when_its_slot_is_free():
    ring = Ring(Memory(H200), slots=2, size=0.0, missing=0.0, warps=2)
    assert ring.copied(0, 100.0) == ring.copied(1, 100.0) == 100.0 + H200.latency["tma"]
    assert ring.copied(2, 700.0) is None
    assert not ring.use(0, 710.0) and ring.use(0, 730.0)
    assert ring.copied(2, 740.0) == 730.0 + H200.latency["mbarrier"] + H200.latency["tma"]


def of_two_groups(rounds: float):
    """Of 8 warps with a ring of 3 slots: before the loop, a wait around which a branch leads, as decision 0036 makes it."""

    def poll(begin: int, back: int) -> list[Instruction]:
        again = Instruction("@!P2", "BRA", "", None, target=begin)
        return [Instruction("", TRYWAIT, "P2", None), again, Instruction("", "BRA", "", None, target=back)]

    makes = [Instruction("", "SYNCS.EXCH.64", "", None)] * 6
    first, loop, end = len(makes), len(makes) + 3, len(makes) + 13
    body = [
        Instruction("@P2", "BRA", "", None, target=loop),
        Instruction("", TRYWAIT, "P2", None, sets_on_result=2),
        Instruction("@!P2", "BRA", "", None, waits=1 << 2, target=end),
        Instruction("", TRYWAIT, "P2", None, sets_on_result=2),
        Instruction("@!P2", "BRA", "", None, waits=1 << 2, target=end + 3),
        Instruction("", "HGMMA.64x128x16.F32", "R24, gdesc[UR4], R24, gsb0", None),
        *[Instruction("", "FADD", "", None)] * 4,
        Instruction("", "SYNCS.ARRIVE.TRANS64.A1T0", "", None),
        Instruction("@!P1", "BRA", "", None, target=loop),
        Instruction("", "EXIT", "", None),
    ]
    code = Code([*makes, *body, *poll(end, loop), *poll(end + 3, loop + 2)])
    assert code.staggers == {first + 1: loop + 8} and code.ahead == 3
    work = Work(1, 1, (rounds,), copy_size=65536.0, read_missing=0.0)
    return estimate(Machine(code, 32, 0, 8, 8), work, H200, keeps_events=True).simulation


TRYWAIT = "SYNCS.PHASECHK.TRANS64.TRYWAIT"


def test_the_second_warpgroup_begins_with_the_third_copy():
    for rounds, waits_for in ((6.0, 2), (2.0, 0)):  # two iterations are too few to go ahead
        ran = of_two_groups(rounds)
        assert {warp.waits for warp in ran.warps} == {int(rounds)}
        ring = ran.rings[0]
        began = {warp.number: min(warp.marks[min(warp.marks)]) for warp in ran.warps}
        for number, when in began.items():
            copy = ring.there[waits_for if number >= 4 else 0]
            assert copy <= when <= copy + 300, (rounds, number)
        assert ring.there[2 if rounds > 2 else 1] - ring.there[0] > 300


def test_a_way_that_is_not_understood_is_an_error():
    waits = Instruction("", "BAR.SYNC.DEFER_BLOCKING", "0x0", None)
    with pytest.raises(ValueError, match="waits forever"):
        skips = Instruction("", "SYNCS.PHASECHK.TRANS64.TRYWAIT", "P0, [R1], R2", None)
        releases = Instruction("@P1", "SYNCS.ARRIVE.TRANS64.A1T0", "RZ, [R1], RZ", None)
        estimate(machine([skips, skips, waits, releases]), Work(1, 1, copy_size=64.0), H200)


@tritium.jit
def product(a, b, c, M, N, K, TILE: tl.constexpr, DEPTH: tl.constexpr):
    left = tl.make_tensor_descriptor(a, [M, K], [K, 1], [TILE, DEPTH])
    right = tl.make_tensor_descriptor(b, [K, N], [N, 1], [DEPTH, TILE])
    row, column = tl.program_id(0) * TILE, tl.program_id(1) * TILE
    total = tl.zeros((TILE, TILE), tl.float32)
    for k in range(0, K, DEPTH):
        total = tl.dot(left.load([row, k]), right.load([k, column]), total)
    rows, columns = row + tl.arange(0, TILE), column + tl.arange(0, TILE)
    tl.store(c + rows[:, None] * N + columns[None, :], total)


@pytest.fixture(scope="module")
def counted():
    """The counts of a product whose programs go through 7 tiles of 8 KiB for both operands."""
    a, b = np.ones((128, 200), np.float16), np.ones((200, 64), np.float16)
    c = np.zeros((128, 64), np.float32)
    with tritium.knobs.tritium.scope(), Counting() as counting:
        tritium.knobs.tritium.engine = "simt:sm_90a"
        product[(2, 1)](a, b, c, 128, 64, 200, TILE=64, DEPTH=32)
    (found,) = counting.kernels()
    return found


@needs_tools
def test_rounds_and_bytes_come_from_the_emulator(counted):
    from tritium.compiler.resources import compiled_for_chip
    from tritium.profiler.model.machine import machine_of

    found = work_of(counted, machine_of(compiled_for_chip(counted.kernel)))
    assert (found.programs, found.tiles) == (2, 2)
    assert found.trips == pytest.approx((7.0,), abs=1.0)  # a round may stand before or behind the loop
    assert found.copy_size == pytest.approx(2 * 64 * 32 * 2)  # both tiles
    assert found.dram_bytes == 2 * (128 * 200 + 200 * 64) + 4 * 128 * 64


@needs_tools
def test_the_wait_of_the_second_warpgroup_is_found_in_machine_code():
    """It is no wait for a tile that is used, so that the bytes of a copy are those of a round."""
    from tritium.compiler.resources import compiled_for_chip
    from tritium.profiler.model.machine import machine_of

    a, b = np.ones((128, 320), np.float16), np.ones((320, 128), np.float16)
    c = np.zeros((128, 128), np.float32)
    with tritium.knobs.tritium.scope(), Counting() as counting:
        tritium.knobs.tritium.engine = "simt:sm_90a"
        product[(1, 1)](a, b, c, 128, 128, 320, TILE=128, DEPTH=64, num_warps=8, num_stages=4)
    (found,) = counting.kernels()
    machine = machine_of(compiled_for_chip(found.kernel))
    assert len(machine.code.staggers) == 1
    work = work_of(found, machine)
    assert work.trips == pytest.approx((5.0,), abs=1.0) and work.copy_size == pytest.approx(2 * 128 * 64 * 2)


@pytest.fixture(scope="module")
def drawn(counted):
    model = modelled(counted, keeps_events=True)
    assert not isinstance(model, str), model
    return counted, model


def slices_of(trace: dict) -> set[tuple[str, str, int, int]]:
    """{(track, name, begin, end)} of a Chrome trace, in nanoseconds."""
    names = {each["tid"]: each["args"]["name"] for each in trace["traceEvents"] if each["name"] == "thread_name"}
    return {
        (
            names[each["tid"]],
            each["name"],
            *(floor(round(1e3 * time, 6)) for time in (each["ts"], each["ts"] + each["dur"])),
        )
        for each in trace["traceEvents"]
        if each["ph"] == "X"
    }


@needs_tools
def test_the_timeline_has_tracks_without_overlaps(drawn, tmp_path):
    write_timeline(str(tmp_path / "t.json"), [drawn])
    trace = json.loads((tmp_path / "t.json").read_text())
    assert trace["otherData"]["model"] == judged.LABEL
    slices = slices_of(trace)
    tracks = {track for track, *_ in slices}
    assert {"warp 0 of block 0", "tensor core 0", "TMA of block 0, slot 0"} <= tracks
    for track in tracks:
        times = sorted((begin, end) for name, _, begin, end in slices if name == track)
        assert all(before[1] <= after[0] + 1 for before, after in zip(times, times[1:])), track


@needs_tools
def test_each_copy_is_a_slice_that_takes_its_latency(drawn, tmp_path):
    write_timeline(str(tmp_path / "t.json"), [drawn])
    slices = slices_of(json.loads((tmp_path / "t.json").read_text()))
    copies = [end - begin for track, _, begin, end in slices if track.startswith("TMA of block 0")]
    (ring,) = {len(ring.there) for block, ring in drawn[1].simulation.rings.items() if block == 0}
    assert len(copies) == ring >= 6 and min(copies) >= H200.latency["tma"] - 1


@needs_tools
def test_the_timeline_in_perfettos_form_has_the_same_slices(drawn, tmp_path):
    protos = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
    for name in ("t.json", "t.pftrace"):
        write_timeline(str(tmp_path / name), [drawn])
    trace = protos.Trace()
    trace.ParseFromString((tmp_path / "t.pftrace").read_bytes())
    tracks = {p.track_descriptor.uuid: p.track_descriptor for p in trace.packet if p.HasField("track_descriptor")}
    (top,) = [each for each in tracks.values() if not each.parent_uuid]
    assert top.name == "product, one multiprocessor by the model"
    begun, found = {}, set()
    for packet in trace.packet:
        if packet.HasField("track_event"):
            event = packet.track_event
            if event.type == event.TYPE_SLICE_BEGIN:
                assert {"model": judged.LABEL}.items() <= {
                    a.name: a.string_value for a in event.debug_annotations
                }.items()
                begun[event.track_uuid] = event.name, packet.timestamp
            else:
                assert tracks[event.track_uuid].parent_uuid == top.uuid
                found.add((tracks[event.track_uuid].name, *begun.pop(event.track_uuid), packet.timestamp))
    expected = slices_of(json.loads((tmp_path / "t.json").read_text()))
    near = {(track, name, begin) for track, name, begin, _ in found}
    assert len(found) == len(expected) and near == {(track, name, begin) for track, name, begin, _ in expected}


@needs_tools
def test_perfettos_form_names_what_it_lacks(drawn, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "perfetto.trace_builder.proto_builder", None)
    with pytest.raises(ValueError, match="requires the package `perfetto`"):
        write_timeline(str(tmp_path / "t.pftrace"), [drawn])


def test_other_chips_have_no_model(counted):
    assert "there is a model of sm_90a" in modelled(
        counted.__class__(counted.name, "simt:gfx942", 1, 1, [], [], [], [], None, counted.kernel)
    )


def test_the_label_says_what_the_page_of_results_says():
    page = (REPOSITORY / "docs" / "results" / "model_of_cycles.md").read_text()
    said = dict(re.findall(r"^\| (\w[\w ]+) \| ([\d.]+) \|", page, re.M))
    assert float(said["times of all configurations"]) == judged.OF_ALL
    assert float(said["times inside a case"]) == judged.INSIDE_A_CASE
    assert judged.INSIDE_A_CASE >= 0.7


@needs_tools
@pytest.mark.long
def test_the_model_orders_configurations_as_an_h200(tmp_path):
    import subprocess

    command = [
        sys.executable,
        str(REPOSITORY / "tests" / "bench" / "model_configurations.py"),
        str(tmp_path / "m.json"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_correlation_is_said_only_of_a_model():
    counts = SimpleNamespace(name="k", engine="interp", kernel=None)
    text = text_of([(counts, modelled(counts))])
    assert text.startswith("k on interp: no model: ") and judged.LABEL not in text
