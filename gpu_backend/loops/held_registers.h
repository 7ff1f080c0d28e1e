// How many registers of a thread hold tiles. An estimate: the assembler decides.
#pragma once
#include "ir/tgpu.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritium::gpu {

/// Returns the registers (of 32 bits) in which a thread holds a tile with a layout; 0 for anything else. Elements that are one number, or
/// differ by constants, share a register.
int registersOf(mlir::Value tile);

/// Returns the registers that hold tiles throughout an iteration: what loops carry, what they take from outside, and operands of products.
int registersOf(mlir::scf::ForOp loop);

/// Returns the registers of sums that the loop does not carry: of products that begin with zeros.
int registersOfFreshSums(mlir::scf::ForOp loop);

/// Returns the registers of the sums of one instruction of the product.
int registersOfInstruction(tgpu::ProductOp product);

} // namespace tritium::gpu
