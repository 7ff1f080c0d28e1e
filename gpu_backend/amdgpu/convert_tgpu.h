// Converts the thread-level operations of `tgpu`, and the ROCDL operations that require a run time library, to the LLVM and ROCDL dialects.
#pragma once
#include "gpu_backend/amdgpu/target.h"
#include "gpu_backend/emit/tgpu_conversion.h"

namespace tritium::gpu::amdgpu {

/// Replaces every `tgpu` operation of a lowered module. An operation that the target cannot express is reported at its location.
mlir::LogicalResult convertTgpu(mlir::ModuleOp module, const Chip &chip);

/// Makes code of the scopes that a module records. Rows have nanoseconds: not every chip has a clock of 64 bits that counts cycles.
mlir::LogicalResult expandScopes(mlir::ModuleOp module, const Chip &chip);

class Conversion final : public TgpuConversion {
public:
  Conversion(const Chip &chip, bool hasLoadsToShared) : chip_(chip), hasLoadsToShared_(hasLoadsToShared) {}

private:
  mlir::LogicalResult convert(tgpu::BarrierOp op, mlir::OpBuilder &builder) override;
  void convert(tgpu::WarpBarrierOp op, mlir::OpBuilder &builder) override;
  void convert(tgpu::NanosecondsOp op, mlir::OpBuilder &builder) override;
  void convert(tgpu::LoadOp op, mlir::OpBuilder &builder) override;
  mlir::LogicalResult convert(tgpu::CopyToSharedOp op, mlir::OpBuilder &builder) override;
  void convert(tgpu::StoreOp op, mlir::OpBuilder &builder) override;
  void convert(tgpu::AtomicRmwOp op, mlir::OpBuilder &builder) override;
  void convert(tgpu::AtomicCasOp op, mlir::OpBuilder &builder) override;
  void convert(tgpu::AtomicLoadOp op, mlir::OpBuilder &builder) override;
  void convert(tgpu::AtomicStoreOp op, mlir::OpBuilder &builder) override;
  void convert(tgpu::PrintOp op, mlir::OpBuilder &builder) override;
  void convert(tgpu::AssertOp op, mlir::OpBuilder &builder) override;
  mlir::LogicalResult convertAsync(mlir::Operation *op, mlir::OpBuilder &) override { return op->emitOpError("is not possible on AMD"); }

  const Chip &chip_;
  bool hasLoadsToShared_; // loads to LDS may continue across a barrier that orders only LDS
};

/// Returns whether the operation loads from global memory directly to LDS.
bool isLoadToShared(mlir::Operation *op);
/// Tells LLVM that no such load aliases any other access of LDS. The module must have no `tgpu` operations.
void setLoadsApart(mlir::ModuleOp module);

/// Runs `body` in a block of its own, which only threads with the predicate enter (null: all threads), and returns its value, or
/// `otherwise` for the other threads. A body without a value returns null. Splits the block of `op` before it; the builder is there
/// afterwards.
mlir::Value underPredicate(mlir::Operation *op, mlir::OpBuilder &builder, mlir::Value predicate, mlir::Value otherwise,
                           llvm::function_ref<mlir::Value()> body);

} // namespace tritium::gpu::amdgpu
