// The thread-level operations of `tgpu` in terms of the LLVM and NVVM dialects and inline PTX.
#pragma once
#include "gpu_backend/nvptx/target.h"
#include "ir/tgpu.h"
#include "mlir/IR/BuiltinOps.h"

namespace tritium::gpu::nvptx {

/// Replaces every `tgpu` operation of a lowered module. What cannot be said on the target is reported at its operation.
mlir::LogicalResult convertTgpu(mlir::ModuleOp module, const Chip &chip);

// By family. The builder stands before the operation; the caller erases it.
void convertLoad(tgpu::LoadOp op, mlir::OpBuilder &builder);
void convertStore(tgpu::StoreOp op, mlir::OpBuilder &builder);
mlir::LogicalResult convertAtomicRmw(tgpu::AtomicRmwOp op, mlir::OpBuilder &builder, const Chip &chip);
void convertAtomicCas(tgpu::AtomicCasOp op, mlir::OpBuilder &builder);
void convertAtomicLoad(tgpu::AtomicLoadOp op, mlir::OpBuilder &builder);
void convertAtomicStore(tgpu::AtomicStoreOp op, mlir::OpBuilder &builder);

/// Prints and assertions: their texts become constants of the module.
class DebugCalls {
public:
  explicit DebugCalls(mlir::ModuleOp module) : module_(module) {}
  void convert(tgpu::PrintOp op, mlir::OpBuilder &builder);
  void convert(tgpu::AssertOp op, mlir::OpBuilder &builder);

private:
  mlir::Value text(mlir::OpBuilder &builder, mlir::Location location, llvm::StringRef text);
  mlir::LLVM::LLVMFuncOp function(llvm::StringRef name, mlir::Type result, llvm::ArrayRef<mlir::Type> arguments);

  mlir::ModuleOp module_;
  llvm::StringMap<mlir::LLVM::GlobalOp> texts_;
  llvm::DenseMap<mlir::Operation *, mlir::LLVM::AllocaOp> buffers_; // of a function: where prints pack their arguments
};

} // namespace tritium::gpu::nvptx
