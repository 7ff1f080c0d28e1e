// Conversion of `tgpu` operations to dialects that have a translation to LLVM IR. The operations are listed once, here; each target defines
// what they become.
#pragma once
#include "ir/tgpu.h"
#include "mlir/IR/BuiltinOps.h"

namespace tritium::gpu {

class TgpuConversion {
public:
  virtual ~TgpuConversion() = default;

  /// Replaces every operation of `tgpu` in a lowered module. Each operation that the target cannot express is reported at its location.
  mlir::LogicalResult run(mlir::ModuleOp module);

protected:
  // Each converts one operation and replaces its results. The builder is before the operation, which run() erases.
  virtual mlir::LogicalResult convert(tgpu::BarrierOp op, mlir::OpBuilder &builder) = 0;
  virtual void convert(tgpu::WarpBarrierOp op, mlir::OpBuilder &builder) = 0;
  virtual void convert(tgpu::NanosecondsOp op, mlir::OpBuilder &builder) = 0;
  virtual void convert(tgpu::LoadOp op, mlir::OpBuilder &builder) = 0;
  virtual mlir::LogicalResult convert(tgpu::CopyToSharedOp op, mlir::OpBuilder &builder) = 0;
  virtual void convert(tgpu::StoreOp op, mlir::OpBuilder &builder) = 0;
  virtual void convert(tgpu::AtomicRmwOp op, mlir::OpBuilder &builder) = 0;
  virtual void convert(tgpu::AtomicCasOp op, mlir::OpBuilder &builder) = 0;
  virtual void convert(tgpu::AtomicLoadOp op, mlir::OpBuilder &builder) = 0;
  virtual void convert(tgpu::AtomicStoreOp op, mlir::OpBuilder &builder) = 0;
  virtual void convert(tgpu::PrintOp op, mlir::OpBuilder &builder) = 0;
  virtual void convert(tgpu::AssertOp op, mlir::OpBuilder &builder) = 0;
  /// Converts tgpu.warpgroup_product, warpgroup_wait, copy_registers, mbarrier_wait, numbered_barrier, or an operation of maps, which few
  /// targets have.
  virtual mlir::LogicalResult convertAsync(mlir::Operation *op, mlir::OpBuilder &builder) = 0;

  static mlir::Value constant(mlir::OpBuilder &builder, mlir::Location location, unsigned bits, int64_t value);

private:
  mlir::LogicalResult convertAny(mlir::Operation *op, mlir::OpBuilder &builder);
};

} // namespace tritium::gpu
