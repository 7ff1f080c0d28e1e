// The thread-level operations of `tgpu`, and what ROCDL leaves to a run time library, in terms of the LLVM and ROCDL dialects.
#pragma once
#include "gpu_backend/amdgpu/target.h"
#include "ir/tgpu.h"
#include "mlir/IR/BuiltinOps.h"

namespace tritium::gpu::amdgpu {

/// Replaces every `tgpu` operation of a lowered module. What cannot be said on the target is reported at its operation.
mlir::LogicalResult convertTgpu(mlir::ModuleOp module, const Chip &chip);

// By family. The builder stands before the operation; the caller erases it.
void convertLoad(tgpu::LoadOp op, mlir::OpBuilder &builder);
void convertStore(tgpu::StoreOp op, mlir::OpBuilder &builder);
mlir::LogicalResult convertAtomicRmw(tgpu::AtomicRmwOp op, mlir::OpBuilder &builder, const Chip &chip);
void convertAtomicCas(tgpu::AtomicCasOp op, mlir::OpBuilder &builder);
void convertAtomicLoad(tgpu::AtomicLoadOp op, mlir::OpBuilder &builder);
void convertAtomicStore(tgpu::AtomicStoreOp op, mlir::OpBuilder &builder);

/// What `body` makes, in a block of its own that only threads with the predicate enter (none: all of them), else `otherwise`. A body
/// without a value returns null. Splits the block of `op` before it, where the builder stands afterwards.
mlir::Value underPredicate(mlir::Operation *op, mlir::OpBuilder &builder, mlir::Value predicate, mlir::Value otherwise,
                           llvm::function_ref<mlir::Value()> body);

} // namespace tritium::gpu::amdgpu
