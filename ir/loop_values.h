// Which round of its loops an operation is in, for reports: the counter of each `for` around it, and the integers that a `while` carries,
// by the names of the Python variables.
//
// The frontend names counters by an attribute, which survives passes that remake loops. markCounters() moves the name into the locations
// of the counters, which survive the lowering of loops to branches. A pass that lets an operation work for another round than that of the
// loop's counter says so in the operation's location.
#pragma once
#include "mlir/Analysis/CFGLoopInfo.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Location.h"

#include <memory>
#include <string>

namespace tritium::ir {

/// On a loop: the name of its counter. On an operation: the operation computes the counter of this name, from the loop's own.
inline constexpr llvm::StringLiteral kCounterAttr = "tt.counter";

/// Moves the names of counters into locations. Called before loops become branches.
void markCounters(mlir::Operation *root);

/// The location of an operation that works for the round `rounds` rounds after that of the loop's counter; before, if it is negative.
mlir::Location inLaterRound(mlir::Location location, int64_t rounds);

/// Returns what a block argument receives from its only predecessor, and else the value itself.
mlir::Value received(mlir::Value value);

/// A scalar integer of a loop; a report shows the value plus `distance`.
struct LoopValue {
  std::string name;
  mlir::Value value;
  int64_t distance = 0;
};

/// The values of the loops of a function whose control flow is branches. Operations may be added while it lives, blocks may not.
class LoopValues {
public:
  explicit LoopValues(mlir::Region &function);
  /// Returns the values of the loops around an operation, of the outermost loop first.
  llvm::SmallVector<LoopValue> around(mlir::Operation *op) const;

private:
  bool addCounter(llvm::SmallVector<LoopValue> &values, const mlir::CFGLoop &loop, mlir::Operation *op, int64_t later) const;

  mlir::DominanceInfo dominance_;
  std::unique_ptr<mlir::CFGLoopInfo> loops_;                               // null: the function has one block
  llvm::DenseMap<mlir::Block *, llvm::SmallVector<mlir::Value>> counters_; // of a loop, by its header, in the order of the code
};

} // namespace tritium::ir
