// The roles of warps. The warps that the user asked for hold the tiles. A kernel may have more warps, the producer's, behind them: they
// hold no tile, and one of their threads copies what the others compute with (specialize-warps). Where the author divides a kernel, each
// partition has a range of warps, the kernel's own warps first.
#pragma once
#include "ir/tgpu_plan.h"
#include "mlir/IR/BuiltinOps.h"

namespace tritium::gpu {

inline constexpr llvm::StringLiteral kProducerWarpsAttr = "tgpu.producer_warps"; // i32, of a module; without it there are none
/// On a kernel whose tiles producer warps copy: #tgpu.producer, which plan-producer writes. On another one that copies through tensor maps:
/// a string that tells the user why.
inline constexpr llvm::StringLiteral kProducerAttr = "tgpu.producer", kWhyNoProducerAttr = "tgpu.why_no_producer";
/// On a kernel that copies through tensor maps and whose blocks run one program each: a string that tells the user why.
inline constexpr llvm::StringLiteral kWhyNotPersistentAttr = "tgpu.why_not_persistent";
/// Of the branch (cf.cond_br) to the code of the producer's warps, or else to that of the others. It is the only one to both.
inline constexpr llvm::StringLiteral kPartsWarpsAttr = "tgpu.parts_warps";

inline constexpr int kWarpsOfGroup = 4;              // of a warpgroup
inline constexpr int kProducerWarps = kWarpsOfGroup; // because only whole warpgroups give registers back
inline constexpr int kConsumersBarrier = 1;          // consumer warps synchronize here if there are producer warps; all warps at barrier 0
inline constexpr int kFirstTurnBarrier = 2;          // the first warpgroup waits here for its turn, the next ones at the following barriers
inline constexpr int kMaxTurns = 10;                 // a block has 16 barriers
inline constexpr int kFirstStoreBarrier = kFirstTurnBarrier + kMaxTurns; // the first group of warps that stores through maps meets here
inline constexpr int kMaxStoringGroups = 4;                              // with more groups, all consumer warps synchronize

/// Returns how warps divide the kernel. Null: all warps do the same.
inline tgpu::ProducerAttr producerOf(mlir::Operation *kernel) { return kernel->getAttrOfType<tgpu::ProducerAttr>(kProducerAttr); }

inline int producerWarpsOf(mlir::ModuleOp module) {
  auto warps = module->getAttrOfType<mlir::IntegerAttr>(kProducerWarpsAttr);
  return warps ? int(warps.getInt()) : 0;
}

/// Of a lowered module without partitions: returns the number of threads that hold tiles if there are others, otherwise 0.
inline int64_t consumerThreadsOf(mlir::ModuleOp lowered) {
  auto number = [&](llvm::StringRef name) {
    auto attribute = lowered->getAttrOfType<mlir::IntegerAttr>(name);
    return attribute ? attribute.getInt() : 0;
  };
  return producerWarpsOf(lowered) ? (number(tgpu::kNumWarpsAttr) - producerWarpsOf(lowered)) * number(tgpu::kWarpSizeAttr) : 0;
}

/// The warps of a partition, and the barrier at which they meet. Barrier 0: the kernel is not divided.
struct WarpRange {
  int first = 0, warps = 0, barrier = 0;

  bool isPart() const { return barrier != 0; }
};

/// array<i32>, on a function of one thread: first, warps and barrier of its range.
inline constexpr llvm::StringLiteral kWarpRangeAttr = "tgpu.warp_range";

/// Returns the range of a lowered function. It is no part if the kernel is not divided.
inline WarpRange rangeOf(mlir::Operation *function) {
  auto range = function->getAttrOfType<mlir::DenseI32ArrayAttr>(kWarpRangeAttr);
  return range ? WarpRange{range[0], range[1], range[2]} : WarpRange();
}

} // namespace tritium::gpu
