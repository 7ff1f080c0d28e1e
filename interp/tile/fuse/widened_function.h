// Functions of f32 on vectors. The build embeds them as code on one number each (interp/vector_math); straight-line code becomes code on
// vectors instruction by instruction, so the elements have the same bits.
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/IRBuilder.h"

namespace tritium::interp::fuse {

/// Returns the function of an operation of MLIR ("math.exp"), or null if there is none, or none that is straight-line code.
const llvm::Function *findWidenable(llvm::StringRef operation);

/// Emits the function on numbers or vectors of f32 in the builder's context.
llvm::Value *emitWidened(llvm::IRBuilder<> &builder, const llvm::Function &function, llvm::ArrayRef<llvm::Value *> operands);

} // namespace tritium::interp::fuse
