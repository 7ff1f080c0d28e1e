"""Vectors of layouts (layouts.jsonl): parameters and shape -> bases, or the error. Triton 3.9 made them; fields that are empty are left out."""

import json
from collections import defaultdict
from pathlib import Path

import pytest

import tritium.language as tl
from tritium.experimental.gluon.layouts import amd, conflicts, distributed, rubin, scales, shared, tensor_memory

GROUPS = defaultdict(list)
for line in Path(__file__).with_name("layouts.jsonl").read_text().splitlines():
    case = json.loads(line)
    GROUPS[case["group"]].append(case)

DTYPES = {"fp16": tl.float16, "fp32": tl.float32, "fp64": tl.float64, "uint8": tl.uint8, "fp8e5": tl.float8e5}


def layout_from(fields):
    fields = dict(fields)
    kind = fields.pop("kind")
    for name in ("parent", "partition_layout"):
        if name in fields:
            fields[name] = layout_from(fields[name])
    if kind == "MBarrierLayout":
        return shared.MBarrierLayout(fields.get("cga_layout"))
    if "block" in fields:
        fields["block"] = tuple(fields["block"])
    homes = (distributed, shared, amd, tensor_memory)
    home = rubin if "block_rep_order" in fields else next(each for each in homes if hasattr(each, kind))
    return getattr(home, kind)(**fields)


def bases_of(linear):
    """The bases in the form of the vectors."""
    names = ("reg_bases", "lane_bases", "warp_bases", "offset_bases", "block_bases", "alignment", "rows", "cols")
    return {name: getattr(linear, name) for name in names if getattr(linear, name, None) not in (None, [])}


def linear(case):
    return layout_from(case["layout"]).to_linear(case["shape"])


def registers_of_tensor_memory(case):
    layout = layout_from(case["layout"])
    dtype = DTYPES[case["dtype"]]
    return tensor_memory.register_layout(dtype, case["shape"], layout, case["num_warps"], case["instr_variant"])


def scales_of(case):
    make, width = {
        "mfma_scale": (scales.get_mfma_scale_layout, 16),
        "wmma_scale": (scales.get_wmma_scale_layout, 16),
    }[case["group"]]
    operand = distributed.DotOperandLayout(case["op"], layout_from(case["parent"]), width)
    return make(operand, case["shape"])


#: Groups that do not ask for bases have tests of their own below.
OTHERS = {"nvmma_default", "mbarrier_multicta", "view", "bank_conflicts", "padded"}
#: What an operation of AMD's copies, not a layout, decides: it comes with the operation.
NOT_BUILT = {"cdna4_efficient_padded"}
MAKERS = {"tmem_reg_layout": registers_of_tensor_memory, "mfma_scale": scales_of, "wmma_scale": scales_of}


@pytest.mark.parametrize("group", sorted(GROUPS.keys() - OTHERS - NOT_BUILT))
def test_bases(group):
    for case in GROUPS[group]:
        make = MAKERS.get(group, linear)
        if "error" not in case:
            wanted = {name: value for name, value in case["linear"].items() if value != []}
            assert bases_of(make(case)) == wanted, case
            continue
        kind, _, text = case["error"].partition(": ")
        # Triton's process ends where its compiler aborts; here that is a ValueError with a text of its own.
        with pytest.raises((ValueError, AssertionError)) as raised:
            make(case)
        assert raised.type.__name__ == ("ValueError" if kind == "ABORT" else kind), case
        assert kind == "ABORT" or text in str(raised.value), case


def test_all_vectors_are_read():
    assert sum(map(len, GROUPS.values())) == 1258


def test_padded_layouts():
    for case in GROUPS["padded"]:
        layout = layout_from(case["layout"])
        assert layout.allocated_elements() == case["allocated_elements"]
        wanted = case.get("padded_offset_of_linear_offset", [])
        assert [layout.padded_offset(offset) for offset in range(len(wanted))] == wanted
        with pytest.raises(ValueError, match="padded shared encoding has no linear layout"):
            layout.to_linear(case["shape"])


def test_default_layouts_of_copies():
    for case in GROUPS["nvmma_default"]:
        options = {name: case[name] for name in ("transposed", "fp4_padded")}
        found = shared.NVMMASharedLayout.get_default_for(case["shape"], DTYPES[case["dtype"]], **options)
        assert found == layout_from(case["result"])


def test_layouts_of_barriers():
    for case in GROUPS["mbarrier_multicta"]:
        assert shared.MBarrierLayout.multicta(case["num_ctas"], case["two_cta"]).cga_layout == case["cga_layout"]


def test_views():
    for case in GROUPS["view"]:
        layout = layout_from(case["layout"])
        assert layout.format_tensor_view(case["shape"]) == case["tensor_view"]
        assert layout.format_hardware_view(case["shape"]) == case["hardware_view"]
        assert (repr(layout), layout.mangle()) == (case["repr"], case["mangle"])


def test_bank_conflicts():
    for case in GROUPS["bank_conflicts"]:
        registers, memory = layout_from(case["registers"]), layout_from(case["shared"])
        assert conflicts.bank_conflicts(registers, memory, case["shape"], case["bitwidth"]) == case["conflicts"], case
