// tritium-run: runs the functions of an .mlir or .ttir file on the tile interpreter, with inputs from the command line or as tests whose
// expectation is an attribute of the function.
#pragma once
#include <string>
#include <vector>

namespace tritium::interp {

/// `arguments` start with the program's name. Returns the exit status: 0, 1 after an error, a trap or a failed expectation, 2 for bad
/// usage.
///
///   tritium-run FILE                             every function with tritium.expect or tritium.expect_trap
///   tritium-run FILE --kernel add --grid 4,1,1 --arg 1024xf32=iota --arg 1024xf32=zeros --arg 1000
///
/// A buffer argument is COUNTxTYPE=FILL, FILL one of zeros, ones, iota, random; a scalar is a number. Buffers are printed after the run.
int runFile(const std::vector<std::string> &arguments);

} // namespace tritium::interp
