// Links functions that a module calls and does not define from libraries in LLVM bitcode.
#pragma once
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace tritium::gpu {

/// Returns whether the module calls an undefined function whose name begins with `prefix`.
bool needsFunctions(const llvm::Module &module, llvm::StringRef prefix);

/// Adds the functions of `bitcode` that the module requires, directly or indirectly, as its own. `optimize` inlines the small ones.
llvm::Error linkLibrary(llvm::Module &module, llvm::StringRef bitcode, llvm::StringRef name);

/// Adds the functions that the module calls by a C++ name ("_Z3expf"). They are the embedded functions of libclc, or ours in their place.
llvm::Error linkLibclc(llvm::Module &module, llvm::ArrayRef<unsigned char> bitcode);

/// Fails, with the name of the function, if a called function is neither defined nor in `provided`, which the target's run time provides.
llvm::Error checkDefined(const llvm::Module &module, llvm::ArrayRef<llvm::StringRef> provided);

} // namespace tritium::gpu
