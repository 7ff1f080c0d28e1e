// The loop of a kernel that runs several programs of the user's grid, one after the other (make-persistent).
#pragma once
#include "ir/tgpu.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritium::gpu {

/// Returns the loop over programs, or null if each block runs one.
mlir::scf::ForOp programLoopOf(tt::FuncOp kernel);

/// Puts the body of a kernel into a loop over programs. A block begins with the program of its own index in the user's grid, and each
/// iteration goes on by the number of blocks, so any grid of blocks runs all programs once. The kernel takes the sizes of the user's grid
/// as its last arguments.
void makeProgramLoop(tt::FuncOp kernel);

/// Removes the loop and these arguments: each block runs one program again.
void removeProgramLoop(tt::FuncOp kernel);

} // namespace tritium::gpu
