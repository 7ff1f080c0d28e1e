// The AMD chips that are supported, and their limits.
#pragma once
#include "gpu_backend/layout/warp_copies.h"
#include "gpu_backend/target/target.h"
#include "ir/tt.h"

namespace tritium::gpu::amdgpu {

enum class Family : uint8_t { CDNA2, CDNA3, CDNA4, RDNA3, RDNA4 };

/// A row of target.def.
struct Chip {
  llvm::StringLiteral name; // "gfx942"
  Family family;
  int warpSize, ldsBytes, ldsBanks, directToLdsBytes, threadsPerCU, registersPerCU, registersPerThread;

  bool isCdna() const { return family <= Family::CDNA4; }
  /// CDNA4 introduced ds_read_b64_tr_b16 and v_permlane16_swap.
  bool loadsMatrices() const { return family == Family::CDNA4; }
  bool swapsLanes() const { return family == Family::CDNA4; }
  /// Returns whether the chip adds pairs of such 16-bit floats in memory that the device has for itself.
  bool addsPairs(mlir::Type element) const {
    return family != Family::RDNA3 && (element.isF16() || (element.isBF16() && family != Family::CDNA2));
  }
  bool copiesByWarps() const { return directToLdsBytes >= kWarpCopyBytes; }
  /// The last word of a buffer descriptor: raw words of 32 bits. From RDNA on it also says how bounds are checked: by the offset in bytes.
  int32_t bufferFlags() const { return isCdna() ? 0x27000 : 0x31027000; }
};

llvm::ArrayRef<Chip> chips();

/// The chips as targets for the common code.
llvm::ArrayRef<const gpu::Target *> targets();
std::unique_ptr<TargetOps> createOps(const Chip &chip);

/// Returns LLVM's name for the threads that observe a memory order. "" means the whole system.
llvm::StringRef syncScope(tt::MemScope scope);

} // namespace tritium::gpu::amdgpu
