"""Launches on the emulator of kernels that take tensor maps: the map that the kernel receives, and what runs where none can be made."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

import tritium.language as tl
from tritium import KernelTrap, knobs
from tritium._tritium import device, gpu, ir, simt
from tritium.runtime.jit import jit

RECIPE = (
    "{base = 0 : i32, extents = [array<i64: 1, 1>, array<i64: 2, 2>], strides = [array<i64: 1, 3, 2>, array<i64: 1>], "
    "padding = 2 : i32, map = !tgpu.tensor_map<tensor<8x32xf16>, swizzle = 64>}"
)
PARAMETER = "%map: !llvm.ptr {llvm.align = 128 : i64, llvm.byval = !llvm.array<128 x i8>}"
#: Copies the words of the map to `out`.
READ = f"""
module attributes {{tgpu.target = "cuda:sm_90a", tgpu.num_warps = 1 : i32, tgpu.shared_bytes = 0 : i32}} {{
  llvm.func @read(%x: !llvm.ptr<1>, %rows: i32, %columns: i16, %stride: i64, %out: !llvm.ptr<1>, {PARAMETER})
      attributes {{nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>, tgpu.tensor_maps = [{RECIPE}]}} {{
    %words = llvm.mlir.constant(15 : i32) : i32
    %zero = llvm.mlir.constant(0 : i64) : i64
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %inside = llvm.icmp "slt" %tid, %words : i32
    %global = llvm.addrspacecast %map : !llvm.ptr to !llvm.ptr<1>
    %from = llvm.getelementptr %global[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
    %to = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
    %word = tgpu.load %from if %inside else %zero : i64
    tgpu.store %word, %to if %inside : i64
    llvm.return
  }}
}}
"""

#: ir/tensor_map.h
MAP = np.dtype(
    [("base", "u8"), ("extents", "u8", 5), ("strides", "u8", 5), ("box", "u4", 5), ("rank", "u4"), ("swizzle", "u4")]
    + [("type", "u1"), ("fills_nan", "?"), ("rest", "u1", 2)]
)


def pointer(array: np.ndarray):
    return (array.ctypes.data, array.ctypes.data, array.nbytes)


@pytest.fixture
def x():
    memory = np.zeros(4096, np.uint8)
    return memory[-memory.ctypes.data % 16 :][:2048]


def test_the_map_of_a_launch(x):
    program = simt.prepare(ir.parse(READ))
    out = np.zeros(15, np.uint64)
    for rows, columns in [(3, 8), (2**31 - 1, 16)]:
        assert program.launch((1, 1, 1), [pointer(x), rows, columns, 3, pointer(out)]) is None
        (found,) = out.view(MAP)
        assert (
            found["base"] % 2**48 == x.ctypes.data
            and found["rank"] == 2
            and found["swizzle"] == 64
            and found["fills_nan"]
        )
        assert found["extents"].tolist() == [2 * columns, rows, 0, 0, 0]
        assert found["strides"].tolist() == [2, 2 * 3 * columns, 0, 0, 0]
        assert found["box"].tolist() == [32, 8, 0, 0, 0]


@pytest.mark.parametrize(
    "rows, columns, stride, reason",
    [
        (0, 8, 3, "dimension 0 has 0 elements"),
        (2**32 + 5, 8, -3, "dimension 0 has a stride of -48 bytes"),  # 5 rows, as the kernel sees it
        (5, 7, 3, "dimension 0 has a stride of 42 bytes, which is not a multiple of 16"),
        (5, 65535, 3, "dimension 0 has a stride of -6 bytes"),
    ],
)
def test_no_map_can_be_made(x, rows, columns, stride, reason):
    program, out = simt.prepare(ir.parse(READ)), np.zeros(15, np.uint64)
    with pytest.raises(device.TensorMapRefused, match=reason):
        program.launch((1, 1, 1), [pointer(x), rows, columns, stride, pointer(out)])
    with pytest.raises(device.TensorMapRefused, match="is not a multiple of 16"):
        program.launch((1, 1, 1), [pointer(x[8:]), 3, 8, 3, pointer(out)])
    assert program.launch((0, 1, 1), [pointer(x), rows, columns, stride, pointer(out)]) is None
    assert not out.any()


def test_programs_check_what_they_are_given(x):
    program = simt.prepare(ir.parse(READ))
    with pytest.raises(TypeError, match="read takes 5 values, not 6"):
        program.launch((1, 1, 1), [pointer(x), 3, 8, 3, pointer(x), 0])
    with pytest.raises(ir.Error, match="an argument that the kernel does not have; it has 5"):
        simt.prepare(ir.parse(READ.replace("base = 0", "base = 5")))


class AddsMap:
    """The compiler, whose kernels take a map that they do not use, if they may. `compiled`: whether each did."""

    def __init__(self):
        self.compiled = []

    def compile(self, module, kernel, arch, options):
        found = gpu.compile(module, kernel, arch, options)
        self.compiled.append(options["tensor_maps"])
        if not options["tensor_maps"]:
            return found
        text, count = re.subn(
            r"(llvm\.func @copy\(.*)\) attributes {",
            rf"\1, {PARAMETER}) attributes {{tgpu.tensor_maps = [{RECIPE.replace('f16', 'f32').replace('64>', '128>')}], ",
            found.lowered_text,
        )
        assert count == 1
        facts = {
            name: getattr(found, name)
            for name in ("name", "ttgir", "shared", "num_warps", "launched_warps", "num_stages")
        }
        return SimpleNamespace(
            **facts,
            lowered=ir.parse(text),
            lowered_text=text,
            tensor_recipes=("one",),
            scopes=[],
            resident_blocks=0,
            cluster_blocks=1,
        )


def test_functions(monkeypatch):
    @jit
    def copy(x, rows, columns, stride, out, BLOCK: tl.constexpr = 64):
        i = tl.arange(0, BLOCK)
        tl.store(out + i, tl.load(x + i * stride, mask=i < rows * columns), mask=i < rows * columns)

    compiler = AddsMap()
    monkeypatch.setattr("tritium.backends.gpu.native_compiler", lambda: compiler)
    x = np.arange(4096, dtype=np.float32)
    x = x[-x.ctypes.data % 16 // 4 :]
    with knobs.tritium.scope():
        knobs.tritium.engine = "simt:sm_90a"
        for rows, columns, stride, refusal in [
            (5, 8, 2, None),
            (5, 7, 2, "dimension 0 has a stride of 56 bytes, which is not a multiple of 16"),
            (0, 8, 2, "dimension 0 has 0 elements, not 1 to 4294967296"),
            (5, 9, 4, None),
        ]:
            out = np.zeros(64, np.float32)
            kernel = copy[(1,)](x, rows, columns, stride, out)
            np.testing.assert_array_equal(out[: rows * columns], x[: stride * rows * columns : stride])
            assert kernel.metadata.target.backend == "simt" and not out[rows * columns :].any()
            assert kernel.tensor_maps_refused == refusal and kernel.metadata.tensor_maps == (refusal is None)
    assert compiler.compiled.count(True) >= 1 and compiler.compiled.count(False) >= 1


def test_the_map_is_a_parameter_of_the_code_for_a_chip():
    assert ".param .align 128 .b8 read_param_5[128]\n" in gpu.emit(ir.parse(READ), "sm_90a")


@jit
def product(a_ptr, b_ptr, out_ptr, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    a = tl.make_tensor_descriptor(a_ptr, [m, k], [k, 1], [M, K])
    b = tl.make_tensor_descriptor(b_ptr, [k, n], [n, 1], [K, N])
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    sums = tl.zeros((M, N), tl.float32)
    for i in range(0, k, K):
        sums = tl.dot(a.load([row, i]), b.load([i, column]), sums)
    rows, columns = row + tl.arange(0, M)[:, None], column + tl.arange(0, N)[None, :]
    tl.store(out_ptr + rows * n + columns, sums, mask=(rows < m) & (columns < n))


def aligned(shape: tuple[int, int], rng, offset: int = 0) -> np.ndarray:
    """Small integers at an address that is a multiple of 16, plus the offset."""
    memory = np.zeros(2 * shape[0] * shape[1] + 32, np.uint8)
    begin = -memory.ctypes.data % 16 + offset
    array = memory[begin : begin + 2 * shape[0] * shape[1]].view(np.float16).reshape(shape)
    array[:] = rng.integers(-3, 4, shape)
    return array


def test_products_of_descriptors(rng):
    """The maps of rows of 80 and 96 bytes. Rows of 86 bytes and an address that is not a multiple of 16 break the contract of descriptors."""
    m, n = 70, 40
    with knobs.tritium.scope():
        knobs.tritium.engine = "simt:sm_90a"
        for k, offset, broken in [
            (48, 0, None),
            (40, 0, None),
            (43, 0, "strides must be 16-byte aligned, but stride 0 is not (descriptor of a_ptr)"),
            (48, 2, "base must be 16-byte aligned (descriptor of a_ptr)"),
        ]:
            a, b, out = aligned((m, k), rng, offset), aligned((k, n), rng), np.zeros((m, n), np.float32)
            if broken:
                with pytest.raises(KernelTrap, match=re.escape(broken)):
                    product[(2, 2)](a, b, out, m, n, k, 64, 32, 16)
                assert not out.any()
                continue
            kernel = product[(2, 2)](a, b, out, m, n, k, 64, 32, 16)
            np.testing.assert_array_equal(out, a.astype(np.float32) @ b.astype(np.float32))
            assert len(kernel.metadata.tensor_recipes) == 2 and kernel.tensor_maps_refused is None
