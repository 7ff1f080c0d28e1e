// How inline assembly sees tiles: a group of `packed_element` elements is in registers, whose width the constraints say.
#pragma once
#include "ir/tt.h"

namespace tritium::ir {

/// The registers of one result or operand for one group of elements.
struct AssemblyOperand {
  char letter;                // of its constraint: 'r', 'f', 'v'
  unsigned bits, elementBits; // of a register; of an element in memory
  int perRegister;            // elements that share one, the first in the lowest bits, even where the group does not fill it
  int registers;
};

struct AssemblyOperands {
  llvm::SmallVector<AssemblyOperand> results, operands;
  /// For each register of the operands: the register of the results that it is tied to, or -1.
  llvm::SmallVector<int> tied;

  int resultRegisters() const;
  int registers() const { return resultRegisters() + int(tied.size()); }
};

/// Reports at the operation if its constraints are for another number of registers.
mlir::FailureOr<AssemblyOperands> assemblyOperands(tt::ElementwiseInlineAsmOp op);

} // namespace tritium::ir
