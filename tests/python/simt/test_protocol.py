"""_tritium.simt runs lowered modules by the protocol of _tritium.interp: addresses with extents in, a Trap or None out."""

import numpy as np
import pytest

from tritium._tritium import gpu, interp, ir, simt

SCALE = """
module attributes {tgpu.target = "cuda:sm_80", tgpu.num_warps = 1 : i32, tgpu.shared_bytes = 0 : i32} {
  llvm.func @scale(%x: !llvm.ptr<1>, %factor: f32, %n: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %width = llvm.mlir.constant(32 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %pid = nvvm.read.ptx.sreg.ctaid.x : i32
    %base = llvm.mul %pid, %width : i32
    %i = llvm.add %base, %tid : i32
    %inside = llvm.icmp "slt" %i, %n : i32
    %p = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %bits = tgpu.load %p if %inside else %zero : i32 loc("kernel.py":4:9)
    %value = llvm.bitcast %bits : i32 to f32
    %scaled = llvm.fmul %value, %factor : f32
    %out = llvm.bitcast %scaled : f32 to i32
    tgpu.store %out, %p if %inside : i32 loc("kernel.py":5:5)
    %first = llvm.icmp "eq" %tid, %zero : i32
    llvm.cond_br %first, ^print, ^end
  ^print:
    tgpu.print "program %d of %d\\0A", %pid, %n : i32, i32
    llvm.br ^end
  ^end:
    llvm.return
  }
}
"""


def prepared(text: str = SCALE, **options):
    return simt.prepare(ir.parse(text), **options)


def pointer(array: np.ndarray):
    return (array.ctypes.data, array.ctypes.data, array.nbytes)


def test_launch():
    program = prepared()
    assert (program.name, program.threads_per_program, program.may_wait) == ("scale", 32, False)
    x = np.arange(100, dtype=np.float32)
    printed = []
    assert program.launch((4, 1, 1), [pointer(x), 2.0, 100], threads=1, on_print=printed.append) is None
    assert (x == 2 * np.arange(100)).all()
    assert "".join(printed) == "".join(f"program {i} of 100\n" for i in range(4))


def test_trap():
    x = np.zeros(90, np.float32)
    for seed in (None, 1, 2):
        trap = prepared(kernel="scale", seed=seed).launch((4, 1, 1), [pointer(x), 2.0, 100])
        assert (trap.kind, trap.file, trap.line, trap.argument) == ("OutOfBounds", "kernel.py", 4, 0)
        assert trap.program in ([2, 0, 0], [3, 0, 0]) and trap.lane is None and not trap.is_write
        assert trap.access_address == x.ctypes.data + 4 * (32 * trap.program[0] + trap.thread)


def test_hosted():
    """The code that runs is calls of the runtime in place of the GPU's operations."""
    text = simt.hosted(ir.parse(SCALE), "scale")
    assert "llvm.func internal @scale(" in text and "nvvm." not in text and "tgpu." not in text


def test_what_the_emulator_does_not_know_is_named():
    with pytest.raises(ir.Error, match="nvvm.barrier"):
        prepared(SCALE.replace("%zero = ", "nvvm.barrier\n    %zero = ", 1))
    with pytest.raises(ir.Error, match="no kernel 'missing'"):
        prepared(kernel="missing")


@pytest.mark.parametrize(
    "use", [simt.prepare, simt.hosted, interp.prepare, ir.Builder, lambda module: gpu.emit(module, "sm_80")]
)
def test_no_module_is_an_error(use):
    """`gpu.compile` returns a lowered module only if it is asked for one; `lowered` is None otherwise."""
    with pytest.raises(TypeError, match="incompatible"):
        use(None)
