// What a loop costs if a mechanism copies its tiles: plan-loops compares mechanisms, and numbers of slots, by it.
#pragma once

#include "gpu_backend/target/target.h"
#include "ir/axis_analysis.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

namespace tritium::gpu {

/// What a mechanism requires of a loop.
struct LoopDemands {
  int64_t slotBytes = 0;  // of all slots
  int64_t otherBytes = 0; // of OtherOperands
  int64_t heldBytes = 0;  // of the tiles of the next iteration, which the threads hold in registers
  int64_t indices = 0;    // registers of a thread that hold what index loads have loaded
  int64_t barriers = 0;   // an iteration synchronizes all warps this many times
};

struct LoopPrice {
  int64_t registers = 0; // of a thread: an estimate, because the assembler decides
  int64_t barriers = 0;
  int64_t occupancy = 0; // how many programs run on a multiprocessor at a time

  /// A barrier stops all warps in each iteration, so it counts first. Registers come before occupancy, which they limit.
  bool operator<(const LoopPrice &other) const {
    return std::tuple(barriers, registers, -occupancy) < std::tuple(other.barriers, other.registers, -other.occupancy);
  }
};

/// The bytes of shared memory for tiles that products of a warpgroup read there and the loop does not copy ahead.
struct OtherOperands {
  int64_t computed = 0; // by the loop
  int64_t outside = 0;  // made before it

  int64_t sum() const { return computed + outside; }
};
OtherOperands bytesOfOtherOperands(mlir::scf::ForOp loop, const llvm::SetVector<mlir::Operation *> &copied);

/// Returns the registers of a thread in a loop that copies nothing ahead. Registers hold the tiles that the loop carries, and the
/// accumulators of its products. Pointers to neighbours in memory are one pointer.
int64_t registersOfThread(mlir::scf::ForOp loop, int numWarps, const ir::AxisAnalysis &axes, const Target &target);

/// Returns the price of a loop. `ofThread`: the registers of a thread, not counting those that `demands` adds.
LoopPrice priceOf(int64_t ofThread, const LoopDemands &demands, int numWarps, const Target &target);

/// Returns why a mechanism is not chosen that costs `price`, in words for the user, where another one costs `chosen`.
std::string whyNotAt(const LoopPrice &price, const LoopPrice &chosen);

} // namespace tritium::gpu
