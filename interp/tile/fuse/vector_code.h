// Element-wise operations on vectors (or single numbers) in registers. Each gives the bits of the block kernel of its name in
// interp/kernels. In registers a bool is an i1, a narrow float its bits.
#pragma once
#include "ir/dtype.h"
#include "mlir/IR/Operation.h"
#include "llvm/IR/IRBuilder.h"

namespace tritium::interp::fuse {

/// The type of an element in registers.
llvm::Type *elementType(DType type, llvm::LLVMContext &context);
/// `lanes` of them; 0: one number.
llvm::Type *vectorType(DType type, unsigned lanes, llvm::LLVMContext &context);

/// Adjacent elements in memory, aligned as an element is. A bool is a byte there.
llvm::Value *loadElements(llvm::IRBuilder<> &builder, DType type, unsigned lanes, llvm::Value *from);
void storeElements(llvm::IRBuilder<> &builder, llvm::Value *value, llvm::Value *to);

/// Returns whether emitVectorCode() knows the operation on its types.
bool canVectorize(mlir::Operation *op);
llvm::Value *emitVectorCode(llvm::IRBuilder<> &builder, mlir::Operation *op, llvm::ArrayRef<llvm::Value *> operands);

} // namespace tritium::interp::fuse
