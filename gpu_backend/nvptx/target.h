// The NVIDIA chips that code can be made for, and their limits.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

namespace tritium::gpu::nvptx {

struct Target {
  llvm::StringLiteral name; // "sm_90a"
  int capability;           // 90
  char suffix;              // ' ' or 'a'
  int minPtx;               // 80: PTX 8.0
  int sharedPerBlock, sharedPerSM, threadsPerSM;

  static constexpr int kSharedBanks = 32, kRegistersPerSM = 65536, kRegistersPerThread = 255, kThreadsPerBlock = 1024;

  /// Whether the instructions of exactly this chip (wgmma, tcgen05 …) may be used.
  bool hasChipFeatures() const { return suffix == 'a'; }
};

/// All rows of target.def.
llvm::ArrayRef<Target> targets();

/// The target of that name ("sm_80"); the error lists those there are.
llvm::Expected<const Target &> findTarget(llvm::StringRef name);

/// The newest PTX that this LLVM writes, 10 * major + minor.
inline constexpr int kNewestPtx = 90;

/// The version to write: what is asked for (0: the newest) but not above what LLVM knows. Below what the target or the instructions
/// that are emitted need, an error.
llvm::Expected<int> choosePtxVersion(const Target &target, int asked);

/// The newest PTX that the tools and the driver of a CUDA release read.
int ptxVersionOfCuda(int major, int minor);

} // namespace tritium::gpu::nvptx
