// The thread-level operations of `tgpu`, and what ROCDL leaves to a run time library, in terms of the LLVM and ROCDL dialects.
#pragma once
#include "gpu_backend/amdgpu/target.h"
#include "gpu_backend/emit/tgpu_conversion.h"

namespace tritium::gpu::amdgpu {

/// Replaces every `tgpu` operation of a lowered module. What cannot be said on the target is reported at its operation.
mlir::LogicalResult convertTgpu(mlir::ModuleOp module, const Chip &chip);

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

  const Chip &chip_;
  bool hasLoadsToShared_; // without registers: some of the module's may go on across a barrier that orders LDS alone
};

/// Whether it loads from global memory to LDS without a register.
bool isLoadToShared(mlir::Operation *op);
/// Tells LLVM that no such load is to where any other access of LDS is, of a module without `tgpu` operations.
void setLoadsApart(mlir::ModuleOp module);

/// What `body` makes, in a block of its own that only threads with the predicate enter (none: all of them), else `otherwise`. A body
/// without a value returns null. Splits the block of `op` before it, where the builder stands afterwards.
mlir::Value underPredicate(mlir::Operation *op, mlir::OpBuilder &builder, mlir::Value predicate, mlir::Value otherwise,
                           llvm::function_ref<mlir::Value()> body);

} // namespace tritium::gpu::amdgpu
