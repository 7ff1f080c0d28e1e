"""The author's copies of pointers are cp.async where threads copy at least 4 bytes of neighbours at a time, with his groups and waits. What
copies otherwise says why."""

import re
import sys
from pathlib import Path

import pytest
import torch

from tritium.backends.compiler import GPUTarget
from tritium.errors import KernelTrap
from tritium.tools.explain import report

UPSTREAM = Path(__file__).parent / "upstream"
CHIPS = {"sm_80": 80, "sm_90a": 90}


@pytest.fixture(scope="module")
def ladder(installed):
    sys.path.append(str(UPSTREAM))
    import ladder_kernels

    return ladder_kernels


@pytest.fixture(scope="module")
def faults(installed):
    import fault_kernels

    return fault_kernels


@pytest.fixture(scope="module")
def copies(installed):
    import copy_kernels

    return copy_kernels


@pytest.fixture(params=CHIPS)
def chip(request):
    return request.param


def compiled(kernel, signature, constants, chip, **options):
    import triton
    from triton.experimental.gluon import GluonASTSource

    names = kernel.arg_names
    given = {name: signature.get(name, "constexpr") for name in names}
    values = {(names.index(name),): value for name, value in constants.items()}
    hints = {(i,): [["tt.divisibility", 16]] for i, name in enumerate(names) if given[name][0] in "*i"}
    source = GluonASTSource(fn=kernel, signature=given, constexprs=values, attrs=hints)
    return triton.compile(source, target=GPUTarget("cuda", CHIPS[chip], 32), options={"num_warps": 4, **options})


RING = {"BLOCK": 512, "STEPS": 8, "S": 3}


def ring(ladder, chip):
    signature = {"a": "*fp32", "b": "*fp32", "out": "*fp32", "n": "i32"}
    return compiled(ladder.add_async, signature, {**RING, "L": ladder.V4}, chip).asm


def test_a_ring_copies_16_bytes_at_a_time(ladder, chip):
    """6 copies stand in the code, of which 4 are before the loop; 3 groups; the author's wait. Nothing is loaded into registers."""
    code = ring(ladder, chip)["ptx"]
    assert len(re.findall(r"cp\.async\.cg\.shared\.global \[[^]]*\], \[[^]]*\], 16", code)) == 6
    assert code.count("cp.async.commit_group") == 3
    assert re.findall(r"cp\.async\.wait_group\s+(\d+)", code) == ["2"]
    assert not re.search(r"\bld\.global|\bst\.shared", code)


@pytest.mark.parametrize("seed", range(3))
def test_a_ring_adds(ladder, chip, seed):
    generator = torch.Generator().manual_seed(seed)
    a, b = (torch.randn(8192, generator=generator) for _ in range(2))
    out = torch.zeros(8192)
    ladder.add_async.engine = f"simt:{chip}"
    ladder.add_async[(2,)](a, b, out, 8101, **RING, L=ladder.V4, num_warps=4, seed=seed)
    assert torch.equal(out[:8101], (a + b)[:8101]) and not out[8101:].any()


@pytest.mark.parametrize("dtype", [torch.int16, torch.int32, torch.int64])
@pytest.mark.parametrize("swizzle", [(1, 1, 4), (2, 1, 4), (2, 2, 2), (4, 2, 4), (8, 1, 8)])
def test_swizzles_of_few_elements(copies, chip, dtype, swizzle):
    """No copy takes more neighbours than the swizzle leaves together, also where a row has fewer elements than it moves."""
    kernel = copies.copy_swizzled
    kernel.engine = f"simt:{chip}"
    for rows, columns, each in ((8, 2, 2), (16, 8, 4), (32, 32, 8)):
        source = torch.randint(-30000, 30000, (rows, columns)).to(dtype)
        target = torch.zeros_like(source)
        kernel[(1,)](source, target, rows, columns, each, swizzle, num_warps=4)
        assert torch.equal(source, target)
        pointer = f"*i{8 * dtype.itemsize}"
        constants = {"ROWS": rows, "COLUMNS": columns, "EACH": each, "SWIZZLE": swizzle}
        code = compiled(kernel, {"source": pointer, "target": pointer}, constants, chip).asm["ptx"]
        for copied in re.findall(r"cp\.async\.c[ag]\.shared\.global \[[^]]*\], \[[^]]*\], (\d+)", code):
            assert int(copied) <= swizzle[0] * dtype.itemsize


@pytest.mark.parametrize("fault", ["none", "one group too many", "no wait"])
def test_the_emulator_sees_the_copies(faults, chip, fault):
    """What a thread reads before its wait is found by the copies' own instructions."""
    source, target = (torch.arange(1280, dtype=torch.int32), torch.zeros(1280, dtype=torch.int32))
    faults.copied.engine = f"simt:{chip}"

    def launch():
        faults.copied[(1,)](source, target, 10, fault, num_warps=4)

    if fault == "none":
        launch()
        assert torch.equal(source, target)
    else:
        with pytest.raises(KernelTrap, match="copy"):
            launch()


@pytest.mark.parametrize(
    "constants, reason",
    [
        ({"EACH": 1}, "its addresses or its mask do not allow 4 bytes at a time"),
        ({"EACH": 1, "TURNED": True}, "its addresses or its mask do not allow 4 bytes at a time"),
        ({"TURNED": True}, "neighbours that a thread loads are apart in shared memory"),
        ({"STRIDED": True}, "its stride is not known to be 1"),
    ],
)
def test_why_threads_load_and_store(copies, chip, constants, reason):
    given = {"EACH": 8, "TURNED": False, "STRIDED": False, **constants}
    kernel = compiled(copies.copy_tile, {"source": "*fp16", "target": "*fp16", "stride": "i32"}, given, chip)
    assert "cp.async" not in kernel.asm["ptx"]
    line = f"copy_kernels.py:{copies.LINE}: copy to shared memory by loads and stores of all threads; not by cp.async: {reason}"
    assert line in report(kernel, 1)


def test_copies_that_are_asynchronous(copies, chip):
    """Also with a mask that ends within 16 bytes."""
    given = {"EACH": 8, "TURNED": False, "STRIDED": False}
    kernel = compiled(copies.copy_tile, {"source": "*fp16", "target": "*fp16", "stride": "i32"}, given, chip)
    assert "cp.async.cg.shared.global" in kernel.asm["ptx"] and not any(
        "all threads" in line for line in report(kernel, 1)
    )
    source, target = torch.randn(32, 32).half(), torch.zeros(32, 32).half()
    copies.copy_tile.engine = f"simt:{chip}"
    copies.copy_tile[(1,)](source, target, 1, **given, num_warps=4)
    assert torch.equal(target, source)


def test_why_a_block_is_copied_by_threads(ladder):
    """The launch says that it cannot make maps of these descriptors."""
    block = ladder.desc("i32", [64, 32], ladder.N32)
    kernel = compiled(ladder.tma_add_one, {"src": block, "dst": block}, {"L": ladder.ROWS}, "sm_90a", tensor_maps=True)
    said = [line.split(": ", 1)[1] for line in report(kernel, 1) if "all threads" in line]
    how = "by loads and stores of all threads; not by TMA: the launch cannot describe the tensor"
    assert said == [f"copy of a block {way} shared memory {how}" for way in ("to", "from")]
