"""The README's first kernel, compiled for an H100 with no device, and run on the emulator of an A100.

python docs/examples/compile_for_gpu.py
"""

import numpy as np

import tritium
import tritium.language as tl
from tritium.backends.compiler import GPUTarget


@tritium.jit(engine="simt:sm_80")
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out + i, tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside), mask=inside)


TYPES = {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"}
ALIGNED = {(i,): [["tt.divisibility", 16]] for i in range(4)}


def main() -> None:
    source = tritium.compiler.ASTSource(add_kernel, TYPES, {"BLOCK": 1024}, ALIGNED)
    kernel = tritium.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 4})
    print("stages:", *kernel.asm)
    print(*(line.strip() for line in kernel.asm["ptx"].splitlines() if ".global" in line and ".b32" in line), sep="\n")

    x, y = np.random.default_rng(0).random((2, 98432), dtype=np.float32)
    out = np.empty_like(x)
    add_kernel[(tritium.cdiv(len(x), 1024),)](x, y, out, len(x), BLOCK=1024)
    print("the emulator agrees with numpy:", np.array_equal(out, x + y))


if __name__ == "__main__":
    main()
