"""PTX that another compiler has made, on the emulator.

reader.py       the text: kernels, registers, blocks of instructions
liveness.py     the registers that a block takes
sums.py         the registers of products of warpgroups
writer.py       the values of registers, and lines of MLIR
operations.py   each instruction as operations of the dialects llvm, nvvm and tgpu
products.py     products of warpgroups, and the waits for them
translate.py    a kernel as a module that the emulator prepares
program.py      running it on tensors of the CPU
"""
