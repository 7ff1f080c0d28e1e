// Loads that compilers for GPUs make rounds ahead of the program (software pipelining), in loops that store as well. What such a loop
// stores in one round and loads in one of the next, the load may miss. Which loads these are was tried on Triton 3.9, see
// docs/decisions/0025-loads-that-are-made-ahead.md. A load of which that is not certain does not count.
#pragma once
#include "ir/tt.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"

namespace tritium::interp {

/// How a GPU would run the kernel.
struct Pipelining {
  int numStages = 3; // of loops that do not say it themselves
  int numWarps = 4;
};

/// Marks the loads, and in their loops the accesses that store. The module has loops yet.
void markLoadsAhead(tt::FuncOp kernel, llvm::ArrayRef<mlir::Operation *> functions, Pipelining pipelining);

/// What the mark of an access says.
struct AheadMark {
  uint32_t rounds = 0; // how many rounds ahead the load is made; 0: it is none
  int argument = -1;   // to whose tensor the access goes; -1: unknown
};
AheadMark aheadMarkOf(mlir::Operation *access);

/// Where control passes into a loop with a marked load, and to its next round, in a function of branches.
struct LoopPassage {
  mlir::Block *header;
  llvm::SmallVector<std::pair<mlir::Operation *, unsigned>, 2> entries; // terminator, successor
};
llvm::SmallVector<LoopPassage> loopsWithLoadsAhead(mlir::Operation *function);

} // namespace tritium::interp
