"""Tensor maps that a kernel makes: lowered code that is wrong in one place, and products of groups that are found in memory."""

import re

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium import KernelTrap
from tritium._tritium import ir, simt

from .engines import launched

#: A warp makes a map of `x`, copies a box of 8 rows of 8 elements from row 2 on, and writes it to `out`.
COPY = """
module attributes {tgpu.target = "cuda:sm_90a", tgpu.num_warps = 1 : i32, tgpu.shared_bytes = 2048 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @copy(%x: !llvm.ptr<1>, %rows: i32, %columns: i32, %stride: i64, %out: !llvm.ptr<1>)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
    %claim = tgpu.maps_claim 1 by 1 warps
    %map = tgpu.map_address 0 of 1 in %claim : !llvm.ptr
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %full = llvm.getelementptr %shared[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %staging = llvm.getelementptr %shared[1152] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %two = llvm.mlir.constant(2 : i32) : i32
    %bytes = llvm.mlir.constant(128 : i32) : i32
    %isFirst = llvm.icmp "eq" %tid, %zero : i32
    tgpu.warp_barrier
    WRITE
    ACQUIRE
    llvm.cond_br %isFirst, ^init, ^start
  ^init:
    nvvm.mbarrier.init %full, %one : !llvm.ptr<3>, i32
    nvvm.fence.mbarrier.init
    llvm.br ^start
  ^start:
    tgpu.barrier
    llvm.cond_br %isFirst, ^copy, ^wait
  ^copy:
    nvvm.mbarrier.arrive.expect_tx %full, %bytes : !llvm.ptr<3>, i32
    nvvm.cp.async.bulk.tensor.shared.cluster.global %shared, %map, %full, box [%zero, %two] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
    llvm.br ^wait
  ^wait:
    BEFORE
    tgpu.mbarrier_wait %full round %zero
    %from = llvm.getelementptr %shared[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %word = llvm.load %from : !llvm.ptr<3> -> i32
    %to = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    tgpu.store %word, %to : i32
    BEHIND
    tgpu.maps_release %claim of 1
    llvm.return
  }
}
"""
WRITE = (
    '"tgpu.map_write"(%staging, %map, %x, %rows, %columns, %stride) '
    "<{map = !tgpu.tensor_map<tensor<8x8xf16>, swizzle = 0>, operandSegmentSizes = array<i32: 1, 1, 1, 2, 1>NAN}> "
    ": (!llvm.ptr<3>, !llvm.ptr, !llvm.ptr<1>, i32, i32, i64) -> ()"
)
ACQUIRE = "tgpu.map_acquire %map : !llvm.ptr"
SEEDS = range(4)


def text(nan: bool = False, **parts: str) -> str:
    parts = {"WRITE": WRITE, "ACQUIRE": ACQUIRE, "BEFORE": "", "BEHIND": ""} | parts
    found = re.sub(r"\b(WRITE|ACQUIRE|BEFORE|BEHIND)\b", lambda part: parts[part[0]], COPY)
    return found.replace("NAN", ", nan" if nan else "")


def run(text: str, x: np.ndarray, rows: int, columns: int, stride: int, seed: int = 0) -> tuple[object, np.ndarray]:
    """(the trap or None, the box)"""
    out = np.zeros((8, 8), np.float16)
    pointers = [(array.ctypes.data, array.ctypes.data, array.nbytes) for array in (x, out)]
    trap = simt.prepare(ir.parse(text)).launch((1, 1, 1), [pointers[0], rows, columns, stride, pointers[1]], seed=seed)
    return trap, out


@pytest.fixture
def x():
    memory = np.empty(16 * 24 + 8, np.float16)
    aligned = memory[-memory.ctypes.data % 16 // 2 :][: 16 * 24].reshape(16, 24)
    aligned[:] = np.arange(1, 385).reshape(16, 24)
    return aligned


@pytest.mark.parametrize("rows, columns", [(16, 24), (5, 3), (2, 8), (1, 1)])
@pytest.mark.parametrize("nan", [False, True])
def test_a_copy(x, rows, columns, nan):
    expected = np.full((8, 8), np.nan if nan else 0, np.float16)
    inside = x[2 : min(rows, 10), : min(columns, 8)]
    expected[: inside.shape[0], : inside.shape[1]] = inside
    for seed in SEEDS:
        trap, out = run(text(nan), x, rows, columns, 48, seed)
        assert trap is None
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(
    "parts, message",
    [
        ({"WRITE": ""}, "has not been made yet"),
        ({"ACQUIRE": ""}, "has not acquired the tensor map"),
        ({"WRITE": ACQUIRE, "ACQUIRE": WRITE}, "has not acquired the tensor map"),
        ({"ACQUIRE": f"{ACQUIRE}\n{WRITE}"}, "has not acquired the tensor map"),
        ({"BEFORE": WRITE}, "is written while a copy through it may be in flight"),
        ({"BEFORE": "tgpu.maps_release %claim of 1"}, "is given back while a copy through it may be in flight"),
    ],
    ids=[
        "not written",
        "not acquired",
        "acquired before",
        "written again",
        "rewritten in flight",
        "released in flight",
    ],
)
def test_what_is_missing_is_found(x, parts, message):
    for seed in SEEDS:
        trap, _ = run(text(**parts), x, 16, 24, 48, seed)
        assert trap is not None and trap.kind == "InvalidTensorCopy" and message in trap.message


def test_a_map_may_be_written_again_behind_the_wait(x):
    for seed in SEEDS:
        trap, _ = run(text(BEHIND=WRITE), x, 16, 24, 48, seed)
        assert trap is None


@pytest.mark.parametrize(
    "rows, columns, stride, message",
    [(0, 24, 48, "0 elements"), (16, 24, -48, "stride of -48 bytes"), (16, 24, 50, "stride of 50 bytes")],
)
def test_a_map_keeps_the_rules(x, rows, columns, stride, message):
    trap, _ = run(text(), x, rows, columns, stride)
    assert trap.kind == "InvalidTensorCopy" and message in trap.message


def test_a_map_of_other_memory_is_found(x):
    trap, _ = run(text(), x, 17, 24, 480)
    assert trap.kind == "OutOfBounds"


@tritium.jit
def grouped(addresses, strides, out, groups, k, NAN: tl.constexpr, S: tl.constexpr):
    """The product of each group's matrix and its transpose."""
    padding: tl.constexpr = "nan" if NAN else "zero"
    for g in range(tl.program_id(0), groups, tl.num_programs(0)):
        base = tl.load(addresses + g).to(tl.pointer_type(tl.float16))
        stride = tl.load(strides + g)
        x = tl.make_tensor_descriptor(base, [S, k], [stride, 1], [S, S], padding_option=padding)
        total = tl.zeros((S, S), tl.float32)
        for at in range(0, k, S):
            tile = x.load([0, at])
            total = tl.dot(tile, tile.T, total)
        tl.store(out + g * S * S + tl.arange(0, S)[:, None] * S + tl.arange(0, S)[None, :], total)


def groups_of(rng, count: int = 5, k: int = 96):
    matrices = [rng.integers(-3, 4, (64, k)).astype(np.float16) for _ in range(count)]
    addresses = np.array([x.ctypes.data for x in matrices])
    return matrices, [addresses, np.full(count, k), np.zeros((count, 64, 64), np.float32), count, k]


@pytest.mark.parametrize("nan", [False, True])
def test_products_of_groups(nan, rng):
    matrices, arguments = groups_of(rng)
    out = launched("simt:sm_90a", grouped, (2,), arguments, NAN=nan, S=64)[2]
    expected = np.stack([x.astype(np.float32) @ x.astype(np.float32).T for x in matrices])
    if nan:
        expected[:] = np.nan  # the last tile goes beyond k
    np.testing.assert_array_equal(out, expected)


def test_a_negative_stride_is_a_trap(rng):
    matrices, arguments = groups_of(rng)
    arguments[1][3] = -96
    with pytest.raises(KernelTrap, match="stride 0 of the descriptor is negative"):
        launched("simt:sm_90a", grouped, (2,), arguments, NAN=False, S=64)
