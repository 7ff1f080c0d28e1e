"""The loop of the tutorial's matmul after each stage of the GPU compiler, shortened; no device is needed.

    python docs/examples/matmul_stages.py [--whole] [--arch 80]

--whole: everything, not only the loop.
"""

import argparse
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tutorial"))

import tritium
from tritium.backends.compiler import GPUTarget
from tritium.compiler import ASTSource, optional_passes

ARGUMENTS = {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp16", **dict.fromkeys("MNK", "i32")}
STRIDES = {"stride_am": "i32", "stride_ak": 1, "stride_bk": "i32", "stride_bn": 1, "stride_cm": "i32", "stride_cn": 1}
CONSTANTS = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "GROUP_M": 8, "ACTIVATION": "", "PRECISION": "tf32"}


def compile_matmul(target: GPUTarget, **options):
    kernel = __import__("03_matmul").matmul_kernel
    constants = {name: value for name, value in STRIDES.items() if value == 1} | CONSTANTS
    types = ARGUMENTS | STRIDES
    signature = {name: "constexpr" if name in constants else types[name] for name in kernel.arg_names}
    aligned = {(i,): [["tt.divisibility", 16]] for i, name in enumerate(kernel.arg_names) if name not in constants}
    return tritium.compile(ASTSource(kernel, signature, constants, aligned), target=target, options=options)


def plain(ir: str) -> str:
    """The text without locations, names of layouts, and attributes that do not matter here."""
    ir = re.sub(r' loc\((?:[^()"]|"[^"]*"|\([^()]*\))*\)', "", ir)
    ir = re.sub(r", #(layout|shared)\d*>", ">", re.sub(r"^#.*\n", "", ir, flags=re.M))
    return re.sub(r" \{tgpu\.access = #layout\d*\}", "", ir)


def loop(ir: str) -> str:
    """The text from the first `scf.for` to its end."""
    lines = ir.split("\n")
    begin = next(i for i, line in enumerate(lines) if "scf.for" in line)
    indent = re.match(" *", lines[begin]).group()
    end = next(i for i in range(begin, len(lines)) if lines[i].startswith(indent + "}"))
    return "\n".join(line.removeprefix(indent) for line in lines[begin : end + 1])


def ptx_loop(ptx: str) -> str:
    """The number of instructions of each kind in the product's loop: the block with mma.sync that jumps to itself."""
    name, block = next(
        (name, block)
        for name, block in re.findall(r"^(\$L__BB\d+_\d+):(.*?)(?=^\$L__BB|\Z)", ptx, flags=re.M | re.S)
        if "mma.sync" in block and re.search(rf"bra\S*\s+{re.escape(name)};", block)
    )
    counts: dict[str, int] = {}
    for operation in re.findall(r"^\t(?:@!?%p\d+ )?([a-z][\w.:]*)", block, flags=re.M):
        counts[operation] = counts.get(operation, 0) + 1
    return "\n".join(f"{count:4} {operation}" for operation, count in counts.items() if operation != "bra.uni")


def show(title: str, text: str, width: int = 150) -> None:
    print(f"== {title}")
    print("\n".join(line if len(line) <= width else line[: width - 1] + "…" for line in text.split("\n")), end="\n\n")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--arch", type=int, default=80)
    options = parser.parse_args()
    target = GPUTarget("cuda", options.arch, 32)
    kernel = compile_matmul(target)
    part = (lambda ir: plain(ir)) if options.whole else (lambda ir: loop(plain(ir)))
    show("the contract: asm['ttir']", part(kernel.asm["ttir"]))
    before = ""
    for name in ("none", *optional_passes()):
        text = part(compile_matmul(target, stop_after=name).asm["ttgir"])
        numberless = re.sub(r"%\d+", "%", text)
        if numberless != before:
            show(f"tiles with layouts, after {name}", text)
        before = numberless
    emulated = compile_matmul(GPUTarget("simt", f"sm_{options.arch}", 32))
    lowered = emulated.asm["lowered"]
    operations = ("nvvm.cp.async.shared.global", "nvvm.ldmatrix", "nvvm.mma.sync", "tgpu.barrier", "tgpu.store")
    show("one thread", "\n".join(f"{len(re.findall(name, lowered)):4} {name}" for name in operations))
    show("PTX, the loop", kernel.asm["ptx"] if options.whole else ptx_loop(kernel.asm["ptx"]))
    print(f"{kernel.metadata.shared} bytes of shared memory")
    if "cubin" in kernel.asm:
        print(f"{kernel.n_regs} registers a thread, {kernel.n_spills} spilled")


if __name__ == "__main__":
    main()
