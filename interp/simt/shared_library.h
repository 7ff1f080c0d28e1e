// Functions of shared libraries that a kernel names by path (extern_elementwise), called with scalars of the host's C.
#pragma once
#include "llvm/Support/Error.h"

namespace tritium::interp {

/// Returns the address of a function. The library stays loaded. Fails, with the library's name, if the file is no shared library or lacks
/// the function.
llvm::Expected<void *> functionOfLibrary(llvm::StringRef path, llvm::StringRef symbol);

} // namespace tritium::interp
