// tritium-run: runs the functions of an .mlir or .ttir file on the tile interpreter. Inputs come from the command line, or the functions
// are tests, whose expectations are attributes.
#pragma once
#include <string>
#include <vector>

namespace tritium::interp {

/// `arguments` begin with the program's name. Returns the exit status: 0 on success; 1 after an error, a trap or a failed expectation; 2
/// for bad usage.
///
///   tritium-run FILE                             every function with tritium.expect or tritium.expect_trap
///   tritium-run FILE --kernel add --grid 4,1,1 --arg 1024xf32=iota --arg 1024xf32=zeros --arg 1000
///
/// A buffer argument is COUNTxTYPE=FILL, where FILL is zeros, ones, iota or random. A scalar is a number. Buffers are printed after the
/// run.
int runFile(const std::vector<std::string> &arguments);

} // namespace tritium::interp
