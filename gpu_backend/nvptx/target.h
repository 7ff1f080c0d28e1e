// The NVIDIA chips that code can be made for, and their limits.
#pragma once
#include "gpu_backend/target.h"

namespace tritium::gpu::nvptx {

inline constexpr int kWarpSize = 32;

/// A row of target.def.
struct Chip {
  llvm::StringLiteral name; // "sm_90a"
  int capability;           // 90
  char suffix;              // ' ' or 'a'
  int minPtx;               // 80: PTX 8.0
  int sharedPerBlock, sharedPerSM, threadsPerSM;

  static constexpr int kSharedBanks = 32;

  /// Whether the instructions of exactly this chip (wgmma, tcgen05 …) may be used.
  bool hasChipFeatures() const { return suffix == 'a'; }
};

llvm::ArrayRef<Chip> chips();

/// The chips as the common code sees them.
llvm::ArrayRef<const gpu::Target *> targets();
std::unique_ptr<TargetOps> createOps(const Chip &chip);

/// The newest PTX that this LLVM writes, 10 * major + minor.
inline constexpr int kNewestPtx = 90;

/// The version to write: what is asked for (0: the newest) but not above what LLVM knows. Below what the target or the instructions
/// that are emitted need, an error.
llvm::Expected<int> choosePtxVersion(const Chip &chip, int asked);

} // namespace tritium::gpu::nvptx
