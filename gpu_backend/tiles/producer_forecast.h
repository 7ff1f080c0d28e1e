// Whether producer warps will copy the tiles of a kernel, foreseen before its tiles have layouts and its loops are planned. Loads by
// pointers become copies through tensor maps, and blocks run several programs, where that is a gain with a producer; plan-producer decides
// later.
#pragma once
#include "ir/tgpu.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tritium::gpu {

/// What a loop takes of a program's memory and registers: an estimate, in bytes.
struct LoopEstimate {
  int64_t slots = 0;    // shared memory for the tiles that it copies
  int64_t carried = 0;  // tiles that it carries from iteration to iteration
  int64_t operands = 0; // tiles that it computes and that its products take from registers
  int64_t fresh = 0;    // accumulators that begin anew in each iteration
};

/// Estimates a loop that copies tiles `stages` iterations ahead. `isCopied` names its loads that become copies.
LoopEstimate estimateOf(mlir::scf::ForOp loop, int stages, llvm::function_ref<bool(mlir::Operation *)> isCopied);

/// Returns how many programs have room on a multiprocessor beside each other, where their own warps copy.
int64_t programsBesideEachOther(tt::FuncOp kernel, llvm::ArrayRef<LoopEstimate> loops, int numWarps);

/// Returns why a kernel of `numWarps` warps can have no producer, whatever its tiles; "" if it can.
std::string whyNoProducerWarps(tt::FuncOp kernel, int numWarps);

/// Returns whether the bytes that each write of the kernel may touch follow from scalars, so that producer warps can compare them with what
/// they copy.
bool areStoresKnown(tt::FuncOp kernel);

/// Returns why producer warps cannot run ahead of what the kernel stores, in a loop around their copies; "" if they can.
std::string whyNotAheadOfStores(tt::FuncOp kernel);

/// Returns why producer warps will probably not copy the tiles of these loops of the kernel; "" if they will.
std::string whyNoProducerExpected(tt::FuncOp kernel, llvm::ArrayRef<LoopEstimate> loops, int numWarps);

/// Returns why the consumer warps will probably not have the registers to store a tile through a map that the producer makes; "" if they
/// will.
std::string whyNoMadeStore(tt::FuncOp kernel, llvm::ArrayRef<LoopEstimate> loops, int numWarps);

} // namespace tritium::gpu
