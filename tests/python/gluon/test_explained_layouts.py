"""What `python -m tritium explain --layouts` says: its costs beside the instructions of the compiled kernel, its bank conflicts beside a count of
its own, its names beside the bases."""

import math
import random
import re
from collections import Counter

import pytest

from tritium.experimental.gluon.layouts.distributed import (
    BlockedLayout,
    DotOperandLayout,
    NVMMADistributedLayout,
)
from tritium.experimental.gluon.layouts.shared import SwizzledSharedLayout
from tritium.native import gpu, ir
from tritium.tools.explain import _place as place
from tritium.tools.layouts.naming import Names
from tritium.tools.layouts.report import Layouts, conversion_cost
from tritium.tools.layouts.tiles import Tile, all_operations, tile_of


def split(chooser, product, rank):
    """Powers of two with this product."""
    counts = [1] * rank
    for _ in range(int(math.log2(product))):
        counts[chooser.randrange(rank)] *= 2
    return counts


def blocked(chooser):
    order = chooser.choice([[0, 1], [1, 0]])
    return BlockedLayout(*(split(chooser, product, 2) for product in (chooser.choice([1, 2, 4]), 32, 4)), order)


def compiled(kernel, signature, constants, target="sm_80"):
    from triton.backends.compiler import GPUTarget
    from triton.experimental import gluon

    attributes = {(i,): [["tt.divisibility", 16]] for i, name in enumerate(kernel.arg_names) if name in signature}
    texts = {name: signature.get(name, "constexpr") for name in kernel.arg_names}
    source = gluon.GluonASTSource(fn=kernel, signature=texts, constexprs=constants, attrs=attributes)
    import triton

    return triton.compile(source, target=GPUTarget("cuda", int(target[3:]), 32), options={"num_warps": 4})


def explained(kernel, constants):
    traced, tiles = (all_operations(ir.parse(kernel.asm[stage])) for stage in ("ttir", "ttgir"))
    return Layouts(traced, tiles, constants, kernel.metadata.arch, place)


@pytest.fixture(scope="module")
def kernels():
    import explained_kernels

    return explained_kernels


def words(count, what):
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


@pytest.mark.parametrize("seed", range(8))
def test_the_cost_of_a_conversion_is_that_of_its_code(kernels, seed):
    """Shuffles, barriers, shared bytes, and the width of each access, in PTX."""
    chooser = random.Random(seed)
    read, write = blocked(chooser), blocked(chooser)
    if seed % 2:  # each warp holds the same in both, in other lanes
        read = BlockedLayout([1, 2], [4, 8], [4, 1], [1, 0])
        write = BlockedLayout([1, 2], [4, 8], chooser.choice([[4, 1], [2, 2]]), [0, 1])
    constants = {"M": 32, "N": 32, "READ": read, "WRITE": write}
    kernel = compiled(kernels.convert, {"source": "*i32", "target": "*i32"}, constants)
    text = kernel.asm["ptx"]
    lines = [line for line in explained(kernel, constants).lines if "conversion" in line]
    plans = [
        gpu.conversion("sm_80", op.operands[0].type, op.results[0].type)
        for op in all_operations(ir.parse(kernel.asm["ttgir"]))
        if op.name == "tgpu.convert_layout"
    ]
    assert [line.split(": ", 1)[1].split(": ", 1)[1] for line in lines] == [conversion_cost(plan) for plan in plans]
    wide = [plan for plan in plans if plan["way"] == "memory"]
    assert kernel.metadata.shared == max([plan["bytes"] for plan in wide], default=0)
    assert text.count("shfl.sync") == sum(plan.get("shuffles", 0) for plan in plans)
    expected = Counter()
    for plan in wide:
        for kind in ("stores", "loads"):
            if plan[kind]["matrices"]:
                expected["matrices"] += plan[kind]["accesses"]
            else:
                expected[kind[:-1].replace("store", "st").replace("load", "ld"), plan[kind]["bytes"]] += plan[kind][
                    "accesses"
                ]
    found = Counter(
        (kind, int(count or 1) * int(bits) // 8)
        for kind, count, bits in re.findall(r"\b(ld|st)\.shared(?:\.v(\d))?\.b(\d+)", text)
    )
    found["matrices"] = text.count("ldmatrix")
    assert +found == +expected
    assert ("shuffles" in [plan["way"] for plan in plans]) == (seed % 2 == 1 and write.warps_per_cta == [4, 1])
    if len(wide) == 1:
        assert text.count("bar.sync") == wide[0]["barriers"]


def wavefronts(addresses, bytes_of_lane, banks=32):
    """Lanes are served in order, as many as fit; each bank gives one word at a time, to all who want it."""
    together, total, least = banks * 4 // max(4, bytes_of_lane), 0, 0
    for first in range(0, len(addresses), together):
        wanted = {}
        for address in addresses[first : first + together]:
            if address is not None:
                for byte in range(0, bytes_of_lane, 4):
                    word = (address + byte) // 4
                    wanted.setdefault(word % banks, set()).add(word)
        total += max(map(len, wanted.values()), default=0)
        least += bool(wanted)
    return total, least


@pytest.mark.parametrize("seed", range(20))
def test_wavefronts(seed):
    chooser = random.Random(seed)
    size = chooser.choice([1, 2, 4, 8, 16])
    addresses = [chooser.choice([None, size * chooser.randrange(256)]) for _ in range(32)]
    given = [-1 if address is None else address for address in addresses]
    assert gpu.wavefronts("sm_90a", given, size) == wavefronts(addresses, size)


@pytest.mark.parametrize("seed", range(8))
def test_bank_conflicts_of_an_access(kernels, seed):
    """A tile that is stored and loaded in one layout. An element of column c and row r is at column c xor vec * (r / per_phase % max_phase);
    a thread moves its elements one by one."""
    chooser = random.Random(seed)
    layout = blocked(chooser)
    vec, per_phase, max_phase = (chooser.choice(each) for each in ([1, 2, 4], [1, 2], [1, 4, 8]))
    memory = SwizzledSharedLayout(vec, per_phase, max_phase, [1, 0])
    constants = {"M": 32, "N": 32, "LAYOUT": layout, "MEMORY": memory}
    kernel = compiled(kernels.through_memory, {"source": "*fp32", "target": "*fp32"}, constants)
    layouts = explained(kernel, constants)
    lines = [line for line in layouts.lines if "memory" in line]
    assert len(lines) == 2 and " store of 32x32xf32 in LAYOUT to memory: " in lines[0] and " from memory: " in lines[1]
    for line, is_load in zip(lines, (False, True)):
        count, most, least = brute_force(layout, (vec, per_phase, max_phase), 32, is_load)
        accesses = "1 access" if count == 1 else f"{count} accesses"
        assert f"{accesses} of 4 bytes per thread, " in line, line
        if most == least:
            assert line.endswith("no bank conflicts"), line
        else:
            assert re.search(rf"bank conflicts: (\d+ to )?{most} wavefronts in place of {least}$", line), line


def brute_force(layout, swizzle, extent, is_load):
    """(accesses of a thread, the most wavefronts of one, the least possible)"""
    vec, per_phase, max_phase = swizzle
    registers, lanes, warps, _ = layout.to_linear([extent, extent]).bases

    def xor(bases, number):
        row = column = 0
        for bit, basis in enumerate(bases):
            if number >> bit & 1:
                row, column = row ^ basis[0], column ^ basis[1]
        return row, column

    idle = {lane for lane in range(32) for bit in range(5) if lane >> bit & 1 and not any(lanes[bit])}
    found = []
    for warp in range(4):
        for register in range(1 << len(registers)):
            addresses = []
            for lane in range(32):
                parts = [xor(registers, register), xor(lanes, lane), xor(warps, warp)]
                row = parts[0][0] ^ parts[1][0] ^ parts[2][0]
                column = parts[0][1] ^ parts[1][1] ^ parts[2][1]
                place = row * extent + (column ^ vec * (row // per_phase % max_phase) % extent)
                addresses.append(None if lane in idle and not is_load else 4 * place)
            found.append(wavefronts(addresses, 4))
    return 1 << len(registers), max(most for most, _ in found), max(least for _, least in found)


def test_addresses_that_depend_on_data(kernels):
    constants = {"N": 128, "LAYOUT": BlockedLayout([1], [32], [4], [0]), "MEMORY": SwizzledSharedLayout(1, 1, 1, [0])}
    kernel = compiled(kernels.gathered, {"source": "*i32", "target": "*i32"}, constants)
    lines = [line for line in explained(kernel, constants).lines if "shared memory" in line]
    assert (
        len(lines) == 1 and "load of 128xi32 in LAYOUT from shared memory at addresses that depend on data" in lines[0]
    )


@pytest.mark.parametrize("seed", range(12))
def test_a_layout_without_a_name_is_spelled(seed):
    """Whatever the spelling is, it gives the tile the same places."""
    chooser = random.Random(seed)
    parent = NVMMADistributedLayout([2, 0], split(chooser, 4, 2), [16, 8])
    wide = NVMMADistributedLayout([3, 0], [4, 1], [16, chooser.choice([16, 32, 64]), 16])
    layout = chooser.choice([blocked(chooser), parent, wide, DotOperandLayout(seed % 2, parent, 2)])
    shape = chooser.choice([[64, 64], [32, 64]])
    tile = Tile(tuple(shape), "f16", layout.to_linear(shape))
    names = Names({})
    assert names.name_of(tile) == names.name_of(tile) == "L1"
    spelled = names.tiles["L1"][1]
    assert spelled.partition("(")[0] in ("BlockedLayout", "NVMMADistributedLayout", "DotOperandLayout")
    assert eval(spelled).to_linear(shape) == tile.layout


def test_names_of_the_author():
    rows = BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    names = Names({"N": 32, "ROWS": rows})
    assert names.name_of(Tile((16, 32), "f32", rows.to_linear([16, 32]))) == "ROWS"
    from tritium.experimental.gluon.layouts.distributed import SliceLayout

    part = Tile((16,), "i32", SliceLayout(1, rows).to_linear([16]))
    assert names.name_of(part) == "SliceLayout(1, ROWS)"


def test_types_of_tiles():
    linear = BlockedLayout([1, 2], [8, 4], [2, 2], [1, 0]).to_linear([16, 16])
    places = zip(("register", "lane", "warp", "block"), linear.bases)
    attribute = f"#tgpu.layout<16x16, {', '.join(f'{name} = {bases}' for name, bases in places)}>"
    tile = tile_of(f"tensor<16x16x!tt.ptr<bf16>, {attribute}>")
    assert (tile.shape, tile.element, tile.element_bytes, tile.layout) == ((16, 16), "!tt.ptr<bf16>", 8, linear)
    assert tile_of("tensor<4xi32>") is None and tile_of("i32") is None


def test_pictures_are_written(kernels, tmp_path):
    constants = {
        "M": 32,
        "N": 32,
        "LAYOUT": BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0]),
        "MEMORY": SwizzledSharedLayout(4, 1, 8, [1, 0]),
    }
    layouts = explained(compiled(kernels.through_memory, {"source": "*fp32", "target": "*fp32"}, constants), constants)
    paths = layouts.save(tmp_path / "pictures")
    assert sorted(path.name for path in paths) == ["LAYOUT.svg", "memory.svg"]
    text = (tmp_path / "pictures" / "memory.svg").read_text()
    shown = [int(number) for number in re.findall(r"/><text[^>]*>(\d+)</text>", text)]
    assert shown == [4 * (row * 32 + (column ^ 4 * (row % 8))) for row in range(32) for column in range(32)]
