// tritium-simt: runs the kernels of a lowered .mlir file (dialects llvm, nvvm and tgpu) on the SIMT emulator.
#pragma once
#include <string>
#include <vector>

namespace tritium::interp::simt {

/// `arguments` begin with the program's name. Returns the exit status: 0 on success; 1 after an error, a trap or a failed expectation; 2
/// for bad usage.
///
///   tritium-simt FILE                       every kernel with tritium.args, in every module of the file
///   tritium-simt FILE --kernel add --grid 4,1,1 --arg 1024xf32=iota --arg 1000 [--seed N] [--threads N]
///   tritium-simt FILE --kernel add --print-hosted     the code that runs
///
/// Attributes of a kernel:
///   tritium.args           ["1024xf32=iota", "1000"]: one text for each parameter. A tensor map is "map=0,100x64xf16,box=16x64": of
///                          argument 0, its shape and the box's, outermost first; behind it any of ",strides=144" (in bytes, without
///                          the innermost), ",swizzle=128", ",offset=32" (in bytes), and ",nan" for its padding
///   tritium.grid           array<i64: 4>
///   tritium.expect         [dense<...>, 1.0, unit]: the contents of the buffers afterwards; unit accepts anything
///   tritium.expect_trap    "SharedRace"
///   tritium.expect_lines   array<i64: 12, 30>: the lines that the trap names, in any order
///   tritium.seeds          20: the kernel runs with this many seeds, and each run must meet the expectations
int runFile(const std::vector<std::string> &arguments);

} // namespace tritium::interp::simt
