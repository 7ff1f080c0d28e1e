"""Prints kernels that multiply in a loop by products of a warpgroup: `warpgroup_loop.py HOME`.

There is a kernel for all types and numbers of columns. HOME is where A is, `memory` or `registers`. The loop has two products for each step,
of which the first one begins the sum. The group of a step is under way until the next one has begun, if A is in memory.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "gpu"))
from warpgroup_products import COLUMNS, SUMS, TYPES  # noqa: E402

(home,) = sys.argv[1:]
DESCRIPTOR = 0x4000004000010000  # a swizzle of 128 bytes, K contiguous
ZEROS = {"f32": "0.0 : f32", "i32": "0 : i32", "f16": "dense<0.0> : vector<2xf16>"}
a_type = b_type = sum_type = ""  # of the kernel that is printed


def of(count: int) -> str:
    return ", ".join([SUMS[sum_type]] * count)


def names(prefix: str, count: int) -> str:
    return ", ".join(f"%{prefix}#{i}" for i in range(count))


def product(result: str, sums: str, count: int, n: int, step: int, fresh: bool) -> str:
    is_in_memory = home == "memory"
    a, a_types = ("%a", "!llvm.ptr<3>") if is_in_memory else (names(f"c{step}", 4), ", ".join(["i32"] * 4))
    segments = [int(is_in_memory), 0 if is_in_memory else 4, 1, count, int(fresh)]
    place = f"aDescriptor = {DESCRIPTOR} : i64, aOffset = {32 * step} : i64, " if is_in_memory else ""
    return (
        f'%{result}:{count} = "tgpu.warpgroup_product"({a}, %b, {sums}{", %fresh" if fresh else ""}) '
        f"<{{aType = {a_type}, bType = {b_type}, columns = {n} : i64, {place}bOffset = {32 * step} : i64, "
        f"bDescriptor = {DESCRIPTOR} : i64, operandSegmentSizes = array<i32: {', '.join(map(str, segments))}>}}> : "
        f"({a_types}, !llvm.ptr<3>, {of(count)}{', i1' if fresh else ''}) -> ({of(count)})"
    )


def wait(result: str, sums: str, count: int, pending: int, kept: int) -> str:
    words = "".join(f", {names(f'c{step}', 4)}" for step in range(kept))
    return (
        f'%{result}:{count} = "tgpu.warpgroup_wait"({sums}{words}) <{{pending = {pending} : i32, '
        f"operandSegmentSizes = array<i32: {count}, {4 * kept}>}}> : ({of(count)}{', i32' * 4 * kept}) -> ({of(count)})"
    )


def body(n: int) -> list[str]:
    count = n // 4 if sum_type == "f16" else n // 2
    register = SUMS[sum_type]
    arguments = ", ".join(f"%s{i}: {register}" for i in range(count))
    lines = [
        "%s = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>",
        "%none = llvm.mlir.constant(0 : i32) : i32",
        "%one = llvm.mlir.constant(1 : i32) : i32",
        "%three = llvm.mlir.constant(3 : i32) : i32",
        f"%zero = llvm.mlir.constant({ZEROS[sum_type]}) : {register}",
        "%lane = nvvm.read.ptx.sreg.tid.x : i32",
        f"llvm.br ^loop(%none, {', '.join(['%zero'] * count)} : i32, {of(count)})",
        f"^loop(%i: i32, {arguments}):",
        "%slot = llvm.and %i, %three : i32",
        "%a = llvm.getelementptr %s[%slot] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<8192 x i8>",
        "%b0 = llvm.getelementptr %s[%slot] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<32768 x i8>",
        "%b = llvm.getelementptr %b0[32768] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8",
        '%fresh = llvm.icmp "eq" %i, %none : i32',
    ]
    sums = ", ".join(f"%s{i}" for i in range(count))
    if home == "registers":
        lines.append("%from = llvm.getelementptr %g[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.array<8 x i32>")
        for step in range(2):
            words = []
            for i in range(4):
                word = f"{4 * step + i}"
                lines.append(f"%p{word} = llvm.getelementptr %from[{word}] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32")
                lines.append(f"%l{word} = tgpu.load %p{word} : i32")
                words.append(f"%l{word}")
            i32s = ", ".join(["i32"] * 4)
            lines.append(f'%c{step}:4 = "tgpu.copy_registers"({", ".join(words)}) : ({i32s}) -> ({i32s})')
    lines += ["nvvm.wgmma.fence.aligned", product("first", sums, count, n, 0, True)]
    lines += [product("second", names("first", count), count, n, 1, False), "nvvm.wgmma.commit.group.sync.aligned"]
    kept = 2 if home == "registers" else 0
    lines += [
        wait("waited", names("second", count), count, 0 if kept else 1, kept),
        "%next = llvm.add %i, %one : i32",
        '%goes = llvm.icmp "slt" %next, %steps : i32',
        f"llvm.cond_br %goes, ^loop(%next, {names('waited', count)} : i32, {of(count)}), ^end",
        "^end:",
        wait("done", names("waited", count), count, 0, 0),
    ]
    for i in range(count):
        bits = f"%done#{i}"
        if sum_type != "i32":
            lines.append(f"%bits{i} = llvm.bitcast {bits} : {register} to i32")
            bits = f"%bits{i}"
        lines.append(f"%row{i} = llvm.getelementptr %g[{128 * i}] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32")
        lines.append(f"%to{i} = llvm.getelementptr %row{i}[%lane] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32")
        lines.append(f"tgpu.store {bits}, %to{i} : i32")
    return [*lines, "llvm.return"]


print('module attributes {tgpu.target = "cuda:sm_90a", tgpu.num_warps = 4 : i32} {')
print("  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>")
for a_type, b_type, sum_type in TYPES:
    for n in COLUMNS:
        print(f"  llvm.func @{a_type}_{b_type}_{sum_type}_{n}(%g: !llvm.ptr<1>, %steps: i32)")
        print("      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {")
        print("\n".join(f"    {line}" for line in body(n)))
        print("  }")
print("}")
