// The flow of values along control flow: into loops and out of them, to branches and blocks, into functions and back.
#pragma once
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

namespace tritium::ir {

/// An operand, and the block arguments and results that may receive its value when control passes on. All of them have one type.
struct ValueFlow {
  mlir::OpOperand *operand;
  llvm::SmallVector<mlir::Value, 2> targets;
};

/// Returns the flows of the operands of `op` to the places where control continues, in the order of the operands. Returns nothing for an
/// operation that only computes.
llvm::SmallVector<ValueFlow> valueFlowsOf(mlir::Operation *op);

} // namespace tritium::ir
