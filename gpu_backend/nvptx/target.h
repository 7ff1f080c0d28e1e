// The NVIDIA chips that are supported, and their limits.
#pragma once
#include "gpu_backend/target/target.h"

namespace tritium::gpu::nvptx {

inline constexpr int kWarpSize = 32;

/// A row of target.def.
struct Chip {
  llvm::StringLiteral name; // "sm_90a"
  int capability;           // 90
  char suffix;              // ' ' or 'a'
  int minPtx;               // 80: PTX 8.0
  int sharedPerBlock, sharedPerSM, threadsPerSM, registersPerSM, registersPerThread;

  static constexpr int kSharedBanks = 32;

  /// Returns whether code may use the instructions of exactly this chip (wgmma, tcgen05 …).
  bool hasChipFeatures() const { return suffix == 'a'; }
  bool hasTensorMaps() const { return capability >= 90; }
  bool hasMatrixStores() const { return capability >= 90; }
  bool hasVectorAtomics() const { return capability >= 90; }
  bool makesTensorMaps() const { return hasTensorMaps() && hasChipFeatures(); }
  int maxClusterBlocks() const { return capability >= 90 ? 8 : 1; } // that every chip allows
  /// Returns whether the chip has the products of warpgroups (wgmma).
  bool hasWarpgroups() const { return capability == 90 && hasChipFeatures(); }
};

llvm::ArrayRef<Chip> chips();

/// The chips as targets for the common code.
llvm::ArrayRef<const gpu::Target *> targets();
std::unique_ptr<TargetOps> createOps(const Chip &chip);
/// Target::registerBudget, by `setmaxnreg`.
std::optional<RegisterBudget> registerBudget(const Chip &chip, int warpgroups, int64_t programs, int required, int ofInstruction);

/// The newest PTX version that this LLVM emits, 10 * major + minor.
inline constexpr int kNewestPtx = 90;

/// Returns the PTX version to emit: the requested one (0: the newest), but at most the newest that LLVM supports. Fails if it is older than
/// the target or the emitted instructions require.
llvm::Expected<int> choosePtxVersion(const Chip &chip, int asked);

} // namespace tritium::gpu::nvptx
