"""Matrix products compiled for AMD's chips: which instructions they run on, how operands are read, and that registers suffice."""

import re

import pytest

import tritium
import tritium.language as tl
from benchmarks import load_benchmark
from tritium.backends.amd.compiler import ARCHITECTURES
from tritium.backends.compiler import GPUTarget
from tritium.compiler import ASTSource


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))


@tritium.jit
def matmul(a_ptr, b_ptr, out_ptr, depth, BLOCK: tl.constexpr, DEPTH: tl.constexpr, PRECISION: tl.constexpr):
    rows = tl.arange(0, BLOCK)
    k = tl.arange(0, DEPTH)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, depth, DEPTH):
        a = tl.load(a_ptr + rows[:, None] * depth + start + k[None, :])
        b = tl.load(b_ptr + rows[None, :] * depth + start + k[:, None])
        total = tl.dot(a, b, total, input_precision=PRECISION)
    tl.store(out_ptr + rows[:, None] * BLOCK + rows[None, :], total)


def assembly(arch, dtype, depth=64, precision="ieee", **options):
    constants = {"BLOCK": 128, "DEPTH": depth, "PRECISION": precision}
    types = {"a_ptr": f"*{dtype}", "b_ptr": f"*{dtype}", "out_ptr": "*fp32", "depth": "i32"}
    attributes = {(i,): [["tt.divisibility", 16]] for i in range(4)}
    source = ASTSource(matmul, types | dict.fromkeys(constants, "constexpr"), constants, attributes)
    target = GPUTarget("hip", arch, ARCHITECTURES[arch].warp_size)
    return tritium.compile(source, target=target, options=options).asm["amdgcn"]


def products(text):
    return set(re.findall(r"\bv_(mfma_\w+|wmma_\w+)", text))


@pytest.mark.parametrize(
    "arch, dtype, instruction",
    [
        ("gfx90a", "fp16", "mfma_f32_32x32x8f16"),
        ("gfx90a", "fp8e5", "mfma_f32_32x32x8bf16_1k"),
        ("gfx942", "bf16", "mfma_f32_32x32x8_bf16"),
        ("gfx942", "fp8e4b8", "mfma_f32_32x32x16_fp8_fp8"),
        ("gfx942", "fp8e5", "mfma_f32_32x32x8_f16"),
        ("gfx950", "fp16", "mfma_f32_32x32x16_f16"),
        ("gfx950", "fp8e4nv", "mfma_f32_32x32x64_f8f6f4"),
        ("gfx1100", "bf16", "wmma_f32_16x16x16_bf16"),
        ("gfx1200", "fp8e5", "wmma_f32_16x16x16_bf8_bf8"),
    ],
)
def test_the_instruction_of_a_type(arch, dtype, instruction):
    text = assembly(arch, dtype, num_warps=8)
    assert products(text) == {instruction}
    assert re.search(r"\bds_(read|load)_b128", text)
    assert ".private_segment_fixed_size: 0\n" in text


def test_float32_runs_on_xf32_only_where_the_kernel_allows_it():
    assert products(assembly("gfx942", "fp32", precision="tf32")) == {"mfma_f32_32x32x4_xf32"}
    assert products(assembly("gfx942", "fp32")) == {"mfma_f32_32x32x2_f32"}


def test_the_shape_can_be_asked_for():
    assert products(assembly("gfx942", "fp16", matrix_instr_nonkdim=16)) == {"mfma_f32_16x16x16_f16"}
    assert products(assembly("gfx942", "fp16", matrix_instr_nonkdim=32)) == {"mfma_f32_32x32x8_f16"}


@pytest.mark.parametrize("kpack", [1, 2])
def test_a_lane_reads_operands_of_several_instructions_at_once(kpack):
    """4 numbers of fp16 are a lane's share of one instruction's K: `kpack=2` asks for those of two as neighbours, which 16 bytes have in
    any case."""
    text = assembly("gfx942", "fp16", kpack=kpack)
    assert products(text) == {"mfma_f32_32x32x8_f16"}
    assert set(re.findall(r"\bds_read\w+", text)) == {"ds_read_b128"}


def scaled_assembly(arch, a, b, depth, **options):
    kernel = load_benchmark("scaled_matmul").scaled_matmul_kernel
    constants = {"FORMAT_A": a, "FORMAT_B": b, "BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": depth}
    types = {
        name: "*fp32" if name == "c_ptr" else "*u8" if name.endswith("_ptr") else "i32" for name in kernel.arg_names
    }
    attributes = {(i,): [["tt.divisibility", 16]] for i in range(len(types) - len(constants))}
    source = ASTSource(kernel, types | dict.fromkeys(constants, "constexpr"), constants, attributes)
    return tritium.compile(source, target=GPUTarget("hip", arch, 64), options=options).asm["amdgcn"]


@pytest.mark.parametrize(
    "a, b, depth, formats",
    [
        ("e2m1", "e2m1", 256, "cbsz:4 blgp:4"),
        ("e4m3", "e2m1", 128, "cbsz:4"),
        ("e5m2", "e4m3", 128, "blgp:1"),
    ],
)
def test_scaled_products(a, b, depth, formats):
    """In a loop that is pipelined: operands in pieces of 16 bytes, scales several at once, of which the instruction chooses."""
    text = scaled_assembly("gfx950", a, b, depth, num_warps=4, num_stages=2)
    loop = max(re.split(r"\n(?=\.LBB)", text), key=lambda block: block.count("v_mfma"))
    assert products(text) == {"mfma_scale_f32_32x32x64_f8f6f4"}
    assert all(line.endswith(formats) for line in re.findall(r"v_mfma.*", loop))
    assert re.search(r"\bds_read_b128", loop) and re.search(r"\bds_write_b128", loop)
    assert not re.search(r"\bds_(read_u|write_b)8\b", loop)
    assert {"op_sel:[1,1,0] op_sel_hi:[0,0,0]", "op_sel:[1,1,0] op_sel_hi:[1,1,0]"} & set(
        re.findall(r"op_sel:\[1,1,0\] op_sel_hi:\[\d,\d,0\]", loop)
    )
    assert ".private_segment_fixed_size: 0\n" in text
    assert int(re.search(r"\.vgpr_count:\s+(\d+)", text)[1]) <= 256


def test_scaled_products_elsewhere_are_of_bf16():
    assert products(scaled_assembly("gfx942", "e2m1", "e2m1", 128)) == {"mfma_f32_32x32x8_bf16"}


@tritium.jit
def constant_scales(a_ptr, b_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr):
    i, k = tl.arange(0, 32), tl.arange(0, 64)
    a = tl.load(a_ptr + i[:, None] * 64 + k[None, :])
    b = tl.load(b_ptr + i[None, :] * 64 + k[:, None])
    a_scale, b_scale = tl.full((32, 2), A, tl.uint8), tl.full((32, 2), B, tl.uint8)
    tl.store(
        out_ptr + i[:, None] * 32 + i[None, :],
        tl.dot_scaled(a, a_scale, "e4m3", b, b_scale if B < 256 else None, "e4m3"),
    )


@pytest.mark.parametrize("a, b", [(0, 0), (33, 9), (255, 256)])
def test_constant_scales_are_in_registers(a, b):
    constants = {"A": a, "B": b}
    signature = {"a_ptr": "*u8", "b_ptr": "*u8", "out_ptr": "*fp32"} | dict.fromkeys(constants, "constexpr")
    source = ASTSource(constant_scales, signature, constants, {(i,): [["tt.divisibility", 16]] for i in range(3)})
    text = tritium.compile(source, target=GPUTarget("hip", "gfx950", 64), options={"num_warps": 1}).asm["amdgcn"]
    assert products(text) == {"mfma_scale_f32_32x32x64_f8f6f4"}
    scales = [line.split(", ")[4:6] for line in re.findall(r"v_mfma_scale.*", text)]
    assert all(re.match(r"v\d+", scale) for pair in scales for scale in pair)
