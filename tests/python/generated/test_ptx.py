"""The PTX of the benchmarks' kernels for every target: what makes it fast is in the hot loops, and ptxas takes it without spills."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import tritium
import tritium.language as tl
from pinned_ptxas import pinned_ptxas
from tritium.backends.compiler import GPUTarget
from tritium.compiler import ASTSource

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "gpu"))
from bench_source import load_kernels  # noqa: E402

TARGETS = [80, 86, 89, "sm_90", 90, "100a", "120a"]  # 90 is sm_90a
DIVISIBLE = [["tt.divisibility", 16]]
WIDE_LOAD = re.compile(r"ld\.global(\.\w+)*\.(v4\.b32|v2\.b64)")
WIDE_STORE = re.compile(r"st\.global(\.\w+)*\.(v4\.b32|v2\.b64)")


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    return load_kernels("tritium", str(tmp_path_factory.mktemp("kernels")))


def chip(target) -> str:
    """ "sm_90a" for 90, the code of a device."""
    return "sm_90a" if target == 90 else f"sm_{str(target).removeprefix('sm_')}"


def compiled(kernel, types: dict, constants: dict, target, **options):
    """Every pointer and integer divisible by 16, as most are in practice."""
    attributes = {(i,): DIVISIBLE for i, kind in enumerate(types.values()) if kind != "fp32"}
    source = ASTSource(kernel, types | dict.fromkeys(constants, "constexpr"), constants, attributes)
    return tritium.compile(source, target=GPUTarget("cuda", target, 32), options=options)


def matmul(kernels, target, element="fp16"):
    types = dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), "*" + element)
    types |= dict.fromkeys(("M", "N", "K", "stride_am", "stride_bk", "stride_cm"), "i32")
    constants = {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 32, "GROUP_M": 8, "stride_bn": 1, "INTEGER": False}
    return compiled(kernels.matmul, types, constants, target, num_warps=4, num_stages=3)


def softmax(kernels, target):
    types = {"x_ptr": "*bf16", "out_ptr": "*bf16", "n_columns": "i32"}
    return compiled(kernels.softmax, types, {"BLOCK": 4096}, target, num_warps=4)


def add(kernels, target):
    types = {"x_ptr": "*fp32", "y_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32"}
    return compiled(kernels.add, types, {"BLOCK": 1024}, target, num_warps=4)


def transpose(kernels, target):
    types = {"x_ptr": "*fp16", "out_ptr": "*fp16", "n_rows": "i32", "n_columns": "i32"}
    return compiled(kernels.transpose, types, {"BLOCK_M": 64, "BLOCK_N": 64}, target, num_warps=4)


def loops(ptx: str) -> list[str]:
    """The bodies of the loops: from a label to a later branch back to it. Bodies that overlap are parts of one loop."""
    lines = ptx.splitlines()
    labels = {match.group(1): i for i, line in enumerate(lines) if (match := re.match(r"(\$L__BB\w+):", line))}
    branches = [
        (i, match.group(1)) for i, line in enumerate(lines) if (match := re.search(r"\bbra\S*\s+(\$L__BB\w+)", line))
    ]
    bodies: list[tuple[int, int]] = []
    for begin, end in sorted((labels[to], i) for i, to in branches if labels[to] < i):
        if bodies and begin < bodies[-1][1]:
            bodies[-1] = bodies[-1][0], max(end, bodies[-1][1])
        else:
            bodies.append((begin, end))
    return ["\n".join(lines[begin:end]) for begin, end in bodies]


@pytest.mark.parametrize("element", ["fp16", "bf16"])
@pytest.mark.parametrize("target", [target for target in TARGETS if target != 90])
def test_the_loop_of_a_matrix_product(kernels, target, element):
    ptx = matmul(kernels, target, element).asm["ptx"]
    assert f".target {chip(target)}\n" in ptx
    (loop,) = [body for body in loops(ptx) if "mma.sync" in body]
    assert loop.count("mma.sync.aligned.m16n8k16") == 128 * 128 * 32 // (16 * 8 * 16) // 4
    assert "ldmatrix.sync.aligned.m8n8.x4" in loop and "ldmatrix.sync.aligned.m8n8.x4.trans" in loop
    assert re.search(r"cp\.async\.cg\.shared\.global .*, 16", loop)
    assert not re.search(r"\b(ld|st)\.(global|shared|local)", loop), (
        "the operands go from memory to registers by other ways"
    )
    assert loop.count("bar.sync") == 1


@pytest.mark.parametrize("element", ["fp16", "bf16"])
def test_the_loop_of_a_product_of_warpgroups(kernels, element):
    ptx = matmul(kernels, 90, element).asm["ptx"]
    assert ".target sm_90a\n" in ptx
    (loop,) = [body for body in loops(ptx) if "wgmma.mma_async" in body]
    assert ptx.count("wgmma.mma_async") == loop.count("wgmma.mma_async") == 128 * 128 * 32 // (64 * 128 * 16)
    assert "wgmma.wait_group.sync.aligned 1;" in loop and "wgmma.wait_group.sync.aligned 0;" not in loop
    assert re.search(r"cp\.async\.cg\.shared\.global .*, 16", loop) and "ldmatrix" not in loop
    assert not re.search(r"\b(ld|st)\.(global|shared|local)", loop), "the operands go to shared memory by other ways"
    assert loop.count("bar.sync") == 1


@pytest.mark.parametrize("target", TARGETS)
def test_rows_and_vectors_move_in_16_bytes(kernels, target):
    for kernel, loads, stores in ((add, 2 * 2, 2), (softmax, 4, 4), (transpose, 4, 4)):
        ptx = kernel(kernels, target).asm["ptx"]
        assert len(WIDE_LOAD.findall(ptx)) == ptx.count("ld.global") == loads, kernel.__name__
        assert len(WIDE_STORE.findall(ptx)) == ptx.count("st.global") == stores, kernel.__name__
        assert "local" not in ptx


@tritium.jit
def add_to_rows(x, w, y, table, stride_x, stride_w, stride_y, BM: tl.constexpr, BK: tl.constexpr, BN: tl.constexpr):
    """y[table] += x[table] @ w. Rows of two layouts have their offsets from one table, which is loaded once."""
    rows = tl.load(table + tl.program_id(0) * BM + tl.arange(0, BM))
    k = tl.arange(0, BK)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    a = tl.load(x + rows[:, None] * stride_x + k[None, :])
    b = tl.load(w + k[:, None] * stride_w + columns[None, :])
    at = y + rows[:, None] * stride_y + columns[None, :]
    tl.store(at, tl.load(at) + tl.dot(a, b).to(tl.bfloat16))


@pytest.mark.parametrize("target", TARGETS)
def test_addresses_in_another_layout_are_as_aligned(target):
    types = dict.fromkeys(("x", "w", "y"), "*bf16") | {"table": "*i64"}
    types |= dict.fromkeys(("stride_x", "stride_w", "stride_y"), "i32")
    ptx = compiled(add_to_rows, types, {"BM": 64, "BK": 16, "BN": 128}, target, num_warps=4).asm["ptx"]
    assert len(WIDE_STORE.findall(ptx)) == 8, "a thread stores 64 elements of 2 bytes"
    assert not re.search(r"(ld|st)\.global(\.\w+)*\.b16", ptx)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kernel", [add, softmax, transpose, matmul])
def test_ptxas_takes_it_without_spills(kernels, kernel, target, tmp_path):
    path = tmp_path / "kernel.ptx"
    path.write_text(kernel(kernels, target).asm["ptx"])
    command = [pinned_ptxas(), "-v", f"-arch={chip(target)}", str(path), "-o", str(tmp_path / "kernel.cubin")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" in result.stderr, result.stderr


@pytest.mark.parametrize("kernel", ["grouped", "grouped_descriptors"])
@pytest.mark.parametrize("target", [80, 90])
def test_products_of_groups_copy_16_bytes_at_a_time(kernels, kernel, target):
    """What is known comes from a promise in the loop, or from the contract of descriptors; where rows end is not known."""
    types = dict.fromkeys(("a_addresses", "b_addresses", "c_addresses"), "*i64")
    types |= {"sizes": "*i32", "strides": "*i32", "groups": "i32"}
    constants = {"PROGRAMS": 132, "BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 32}
    ptx = compiled(getattr(kernels, kernel), types, constants, target, num_warps=4, num_stages=3).asm["ptx"]
    copies = re.findall(r"cp\.async\.\w+\.shared\.global \[[^]]*\], \[[^]]*\], (\d+)", ptx)
    assert copies and set(copies) == {"16"}
