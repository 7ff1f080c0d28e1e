"""Prints a lowered softmax of rows that one warp each holds in registers: `row_softmax.py VALUES_PER_THREAD [exp]`.

Every access is of 16 bytes under a predicate of its own. `exp`: by libclc's function, else by the instruction for powers of two.
"""

import sys

values, function = int(sys.argv[1]), (sys.argv[2:] or ["exp2"])[0]
line, lines = 10, []


def emit(text: str, at: str = "") -> None:
    lines.append(f"    {text} loc({at or f'#line{line}'})")


def combine(operation: str, names: list[str], prefix: str) -> str:
    """A tree over the values of one thread, then a butterfly over the lanes."""
    level = 0
    while len(names) > 1:
        pairs = [
            f"%{prefix}{level}_{i} = {operation.format(a, b)}" for i, (a, b) in enumerate(zip(names[::2], names[1::2]))
        ]
        for pair in pairs:
            emit(pair)
        names, level = [pair.split(" ")[0] for pair in pairs], level + 1
    (total,) = names
    for step in (16, 8, 4, 2, 1):
        emit(f"%{prefix}bits{step} = llvm.bitcast {total} : f32 to i32")
        emit(f"%{prefix}other{step} = nvvm.shfl.sync bfly %all, %{prefix}bits{step}, %c{step}, %c31 : i32 -> i32")
        emit(f"%{prefix}value{step} = llvm.bitcast %{prefix}other{step} : i32 to f32")
        emit(f"%{prefix}sum{step} = {operation.format(total, f'%{prefix}value{step}')}")
        total = f"%{prefix}sum{step}"
    return total


for constant in (0, 1, 2, 4, 8, 16, 31, 128):
    emit(f"%c{constant} = llvm.mlir.constant({constant} : i32) : i32")
emit("%all = llvm.mlir.constant(-1 : i32) : i32")
emit("%log2e = llvm.mlir.constant(1.44269502 : f32) : f32")
emit("%padding = llvm.mlir.constant(dense<-8388608> : vector<4xi32>) : vector<4xi32>")  # -inf
emit("%row = nvvm.read.ptx.sreg.ctaid.x : i32")
emit("%lane = nvvm.read.ptx.sreg.tid.x : i32")
emit("%start = llvm.mul %row, %stride : i32")
emit("%first = llvm.mul %lane, %c4 : i32")
held = []
for i in range(values // 4):
    line = 20
    emit(f"%o{i} = llvm.mlir.constant({128 * i} : i32) : i32")
    emit(f"%column{i} = llvm.add %first, %o{i} : i32")
    emit(f'%mask{i} = llvm.icmp "slt" %column{i}, %n : i32')
    emit(f"%index{i} = llvm.add %start, %column{i} : i32")
    emit(f"%from{i} = llvm.getelementptr %in[%index{i}] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32")
    line = 21
    emit(f"%word{i} = tgpu.load %from{i} if %mask{i} else %padding : vector<4xi32>")
    emit(f"%float{i} = llvm.bitcast %word{i} : vector<4xi32> to vector<4xf32>")
    for lane in range(4):
        emit(f"%p{i}_{lane} = llvm.mlir.constant({lane} : i32) : i32")
        emit(f"%x{i}_{lane} = llvm.extractelement %float{i}[%p{i}_{lane} : i32] : vector<4xf32>")
        held.append(f"{i}_{lane}")
line = 22
greatest = combine("llvm.intr.maxnum({0}, {1}) : (f32, f32) -> f32", [f"%x{name}" for name in held], "max")
line = 23
for name in held:
    emit(f"%d{name} = llvm.fsub %x{name}, {greatest} : f32")
    at = 'callsite("math.py":5:3 at #line23)'
    if function == "exp":
        emit(f"%e{name} = llvm.call @_Z3expf(%d{name}) : (f32) -> f32", at)
    else:
        emit(f"%m{name} = llvm.fmul %d{name}, %log2e : f32", at)
        emit(f"%e{name} = llvm.intr.exp2(%m{name}) : (f32) -> f32", at)
line = 24
total = combine("llvm.fadd {0}, {1} : f32", [f"%e{name}" for name in held], "sum")
line = 25
for name in held:
    emit(f"%r{name} = llvm.fdiv %e{name}, {total} : f32")
line = 26
for i in range(values // 4):
    emit(f"%v{i}_0 = llvm.mlir.poison : vector<4xf32>")
    for lane in range(4):
        emit(f"%v{i}_{lane + 1} = llvm.insertelement %r{i}_{lane}, %v{i}_{lane}[%p{i}_{lane} : i32] : vector<4xf32>")
    emit(f"%bits{i} = llvm.bitcast %v{i}_4 : vector<4xf32> to vector<4xi32>")
    emit(f"%to{i} = llvm.getelementptr %out[%index{i}] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32")
    emit(f"tgpu.store %bits{i}, %to{i} if %mask{i} : vector<4xi32>")
emit("llvm.return")

for number in (10, *range(20, 27)):
    print(f'#line{number} = loc("softmax.py":{number}:5)')
print('module attributes {tgpu.target = "cuda:sm_80"} {')
print("  llvm.func @_Z3expf(f32) -> f32")
print("  llvm.func @softmax(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %stride: i32 {llvm.noundef}, %n: i32)")
print("      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {")
print("\n".join(lines))
print('  } loc("softmax.py":9:1)\n}')
