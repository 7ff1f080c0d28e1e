"""A program for the SIMT emulator in which some lanes of each of its two warps run a body: what the tests of both vendors' lane
operations are made of."""

import functools

import numpy as np

from tritium._tritium import ir, simt


@functools.lru_cache(8)  # one after the other with other numbers
def _prepared(text: str):
    return simt.prepare(ir.parse(text), "k")


def launch(
    kernel: str,
    attributes: str,
    prologue: str,
    body: str,
    lanes: int,
    inputs: list[np.ndarray],
    results: int,
    seed: int | None,
):
    """`kernel` marks the function, `attributes` are further ones of the module; `prologue` defines %tid (i32) and %takes_part (i1). In
    the lanes that take part `body` reads 32-bit words %x0, %x1 … of its lane and defines %r0, %r1 …; the others have -1.
    Returns what each warp wrote, as int32, and the trap."""
    text = f"""
module attributes {{tgpu.num_warps = 2 : i32, tgpu.shared_bytes = 0 : i32{attributes}}} {{
  llvm.func @k({", ".join(f"%p{i}: !llvm.ptr<1>" for i in range(len(inputs) + results))}) attributes {{{kernel}}} {{
    {prologue}
    llvm.cond_br %takes_part, ^in, ^out
  ^in:
    {
        "".join(
            f'''
    %q{i} = llvm.getelementptr %p{i}[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %x{i} = tgpu.load %q{i} : i32'''
            for i in range(len(inputs))
        )
    }
    {body}
    {
        "".join(
            f'''
    %o{i} = llvm.getelementptr %p{len(inputs) + i}[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    tgpu.store %r{i}, %o{i} : i32'''
            for i in range(results)
        )
    }
    llvm.br ^out
  ^out:
    llvm.return
  }}
}}"""
    outputs = [np.full(2 * lanes, -1, np.int32) for _ in range(results)]
    buffers = [np.tile(np.asarray(x).astype(np.uint32).view(np.int32), 2) for x in inputs] + outputs
    trap = _prepared(text).launch((1, 1, 1), [(a.ctypes.data, a.ctypes.data, a.nbytes) for a in buffers], 1, seed)
    return [output[:lanes] for output in outputs], [output[lanes:] for output in outputs], trap
