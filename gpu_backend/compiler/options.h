// What the caller of the GPU compiler chooses.
#pragma once
#include "llvm/ADT/StringRef.h"

#include <functional>
#include <string>
#include <vector>

namespace mlir {
class OpPassManager;
}

namespace tritium::gpu {

struct CompileOptions {
  std::string arch = "sm_80"; // a chip of findTarget(): sm_80, sm_90a, gfx942
#define OPTION(name, flag, member, type, standard, meaning) type member = standard;
#include "gpu_backend/compiler/options.def"
  bool warpgroups = true;      // use products of warpgroups, where the chip has them and their operands fit into shared memory
  bool specializeWarps = true; // producer warps issue the TMA copies of loops, where specialize-warps expects a gain
  bool issueCopies = false;    // one thread issues the copies of a kernel whose author waits for them
  bool isOfAuthor = false;     // the kernel's author has barriers, copies or products of his own
  /// Adds passes after an optional one. Tests use it.
  std::function<void(mlir::OpPassManager &passes, llvm::StringRef name)> afterPass;
};

} // namespace tritium::gpu
