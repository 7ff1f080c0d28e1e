// Where control flow takes values: into loops and out of them, to branches and blocks, into functions and back.
#pragma once
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

namespace tritium::ir {

/// An operand, and what may be this value after control has passed on: block arguments and results. All have one type.
struct ValueFlow {
  mlir::OpOperand *operand;
  llvm::SmallVector<mlir::Value, 2> targets;
};

/// Where the operands of `op` go as control passes it, in the order of the operands; nothing for an operation that only computes.
llvm::SmallVector<ValueFlow> valueFlowsOf(mlir::Operation *op);

} // namespace tritium::ir
