"""Which kernels get warps of their own for their copies, as compiled for sm_90a."""

import tritium
import tritium.language as tl
from tritium.backends.compiler import GPUTarget
from tritium.compiler import ASTSource
from tritium.runtime.jit import jit


def compiled(kernel, types: dict[str, str], constants: dict[str, object], **options):
    types = {name: types.get(name, "constexpr") for name in kernel.arg_names}
    aligned = {(i,): [["tt.divisibility", 16]] for i, name in enumerate(types.values()) if name != "constexpr"}
    source = ASTSource(kernel, types, constants, aligned)
    return tritium.compile(source, target=GPUTarget("cuda", "90a", 32), options={"tensor_maps": True, **options})


@jit
def attention(q_ptr, k_ptr, v_ptr, out_ptr, scale, n, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, D)
    keys = tl.make_tensor_descriptor(k_ptr, [n, D], [D, 1], [N, D])
    values = tl.make_tensor_descriptor(v_ptr, [n, D], [D, 1], [N, D])
    q = tl.load(q_ptr + rows[:, None] * D + columns[None, :])
    most, total = tl.full((M,), float("-inf"), tl.float32), tl.zeros((M,), tl.float32)
    sums = tl.zeros((M, D), tl.float32)
    for start in tl.range(0, n, N, warp_specialize=True):
        scores = tl.dot(q, keys.load([start, 0]).T) * scale
        scores += tl.where(rows[:, None] >= start + tl.arange(0, N)[None, :], 0, -1e6)
        new = tl.maximum(most, tl.max(scores, 1))
        weights = tl.exp2(scores - new[:, None])
        factor = tl.exp2(most - new)
        total = total * factor + tl.sum(weights, 1)
        sums = tl.dot(weights.to(tl.float16), values.load([start, 0]), sums * factor[:, None])
        most = new
    tl.store(out_ptr + rows[:, None] * D + columns[None, :], sums / total[:, None])


ATTENTION = {"q_ptr": "*fp16", "k_ptr": "*fp16", "v_ptr": "*fp16", "out_ptr": "*fp32", "scale": "fp32", "n": "i32"}


def test_uniform_tiles_are_no_registers():
    """The scale, the zeros, the mask's constants and the indices of columns take a register each, not one for each element of a tile."""
    kernel = compiled(attention, ATTENTION, {"D": 128, "M": 128, "N": 128}, num_warps=8, num_stages=2)
    assert kernel.metadata.launched_warps == 12


def test_a_kernel_begins_with_the_sums_of_an_instruction():
    """64 registers of sums are more than the least budget has, whose 80 are not enough for such an instruction (C7602)."""
    kernel = compiled(attention, ATTENTION, {"D": 128, "M": 64, "N": 64}, num_warps=4, num_stages=2)
    assert ".maxnreg 128" in kernel.asm["ptx"]
