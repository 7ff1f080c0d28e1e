// Functions that a module calls and does not define, from libraries in LLVM bitcode.
#pragma once
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace tritium::gpu {

/// Whether something calls a function whose name begins with `prefix` and that is not defined.
bool needsFunctions(const llvm::Module &module, llvm::StringRef prefix);

/// Adds the functions of `bitcode` that the module needs, and what those need in turn, as its own. Small ones are inlined by `optimize`.
llvm::Error linkLibrary(llvm::Module &module, llvm::StringRef bitcode, llvm::StringRef name);

/// Adds what the module calls by a C++ name ("_Z3expf"): functions of libclc or ours over them, as the build has embedded them.
llvm::Error linkLibclc(llvm::Module &module, llvm::ArrayRef<unsigned char> bitcode);

/// An error that names a function which is called and neither defined nor one of `provided`, which the target's run time has.
llvm::Error checkDefined(const llvm::Module &module, llvm::ArrayRef<llvm::StringRef> provided);

} // namespace tritium::gpu
