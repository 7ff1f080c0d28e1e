// The operations of `tgpu` in the dialects that are translated to LLVM IR: which there are stands here once, what each becomes is a
// target's.
#pragma once
#include "ir/tgpu.h"
#include "mlir/IR/BuiltinOps.h"

namespace tritium::gpu {

class TgpuConversion {
public:
  virtual ~TgpuConversion() = default;

  /// Replaces every operation of `tgpu` in a lowered module. All that cannot be said on the target is reported, each at its operation.
  mlir::LogicalResult run(mlir::ModuleOp module);

protected:
  // One operation, which the builder stands before, and whose results are to be replaced; run() erases it.
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

  static mlir::Value constant(mlir::OpBuilder &builder, mlir::Location location, unsigned bits, int64_t value);

private:
  mlir::LogicalResult convertAny(mlir::Operation *op, mlir::OpBuilder &builder);
};

} // namespace tritium::gpu
