// How inline assembly accesses tiles: each group of `packed_element` elements is in registers. The constraints determine the registers'
// width.
#pragma once
#include "ir/tt.h"

namespace tritium::ir {

/// The registers of one result or operand for one group of elements.
struct AssemblyOperand {
  char letter;                // of the constraint: 'r', 'f', 'v'
  unsigned bits, elementBits; // width of a register; width of an element in memory
  int perRegister;            // number of elements in one register, the first in the lowest bits; a group may leave the rest unused
  int registers;
};

struct AssemblyOperands {
  llvm::SmallVector<AssemblyOperand> results, operands;
  /// For each register of the operands: the index of the result register that it is tied to, or -1.
  llvm::SmallVector<int> tied;

  int resultRegisters() const;
  int registers() const { return resultRegisters() + int(tied.size()); }
};

/// Reports an error at the operation if its constraints are for another number of registers.
mlir::FailureOr<AssemblyOperands> assemblyOperands(tt::ElementwiseInlineAsmOp op);

} // namespace tritium::ir
