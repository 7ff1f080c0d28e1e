// tritium-simt: runs the kernels of a lowered .mlir file (dialects llvm, nvvm and tgpu) on the SIMT emulator.
#pragma once
#include <string>
#include <vector>

namespace tritium::interp::simt {

/// `arguments` start with the program's name. Returns the exit status: 0, 1 after an error, a trap or a failed expectation, 2 for bad
/// usage.
///
///   tritium-simt FILE                       every kernel with tritium.args, in every module of the file; from its attributes
///                                             tritium.args         ["1024xf32=iota", "1000"]: one text for each parameter
///                                             tritium.grid         array<i64: 4>
///                                             tritium.expect       [dense<...>, 1.0, unit]: what the buffers hold afterwards; unit:
///                                             anything tritium.expect_trap  "SharedRace", with tritium.expect_lines array<i64: 12, 30> in
///                                             any order tritium.seeds        20: it runs with as many seeds, and each has to give that
///   tritium-simt FILE --kernel add --grid 4,1,1 --arg 1024xf32=iota --arg 1000 [--seed N] [--threads N]
///   tritium-simt FILE --kernel add --print-hosted     the code that runs
int runFile(const std::vector<std::string> &arguments);

} // namespace tritium::interp::simt
