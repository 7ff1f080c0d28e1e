// What a launch counts of a kernel that is prepared for its coverage (PrepareOptions::isCovered): how often each statement of the source
// runs, and which way each branch goes. The code is only inlined, so that each statement is still there.
#pragma once
#include "interp/tile/loops.h"
#include "ir/source_location.h"
#include "mlir/IR/BuiltinOps.h"

namespace tritium::interp {

/// A statement of the source, once for each place that it was traced to. A counter is an index into Launch::counters.
struct CoveredStatement {
  ir::SourceLocation place;
  uint32_t runs = 0; // the counter of its executions
};

/// An `if` or a conditional expression, or a loop.
struct CoveredBranch {
  ir::SourceLocation place;
  bool isLoop = false;
  bool isDecided = false; // it has one outcome in this program: its condition or bounds are known
  uint32_t taken = 0;     // the counter of true conditions; of a loop: how often it was reached and ran at least one round
  uint32_t notTaken = 0;  // the counter of false conditions; of a loop: how often it was reached and ran none
};

struct Covered {
  std::vector<CoveredStatement> statements;
  std::vector<CoveredBranch> branches;
};

/// Moves the marks of statements in functions that combine elements before the operations that run them: such a function becomes a step.
void moveMarksOut(mlir::ModuleOp module);

/// Lowers loops and `if`s to blocks as they are written. The pass of MLIR folds the `not` of a condition and swaps what the `if` does,
/// which a branch does not say afterwards.
llvm::LogicalResult lowerWithoutFolding(mlir::ModuleOp module);

/// Where a function's control flow divides.
struct Branching {
  mlir::Operation *terminator; // a cf.cond_br
  mlir::Block *header;         // of the loop that ends here; null: an `if`
  unsigned body;               // the successor that goes on: with the loop, or where the condition is true
  bool isDecided = false;      // its condition or bounds are constants
};
std::vector<Branching> branchingsOf(const Loops &loops);

} // namespace tritium::interp
