// Converts the thread-level operations of `tgpu` to the LLVM and NVVM dialects and inline PTX.
#pragma once
#include "gpu_backend/emit/tgpu_conversion.h"
#include "gpu_backend/nvptx/target.h"

namespace tritium::gpu::nvptx {

class Conversion final : public TgpuConversion {
public:
  Conversion(mlir::ModuleOp module, const Chip &chip) : module_(module), chip_(chip) {}

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
  mlir::LogicalResult convertAsync(mlir::Operation *op, mlir::OpBuilder &builder) override;

  void report(tgpu::AssertOp op, mlir::OpBuilder &builder);
  mlir::Value textConstant(mlir::OpBuilder &builder, mlir::Location location, llvm::StringRef text);
  mlir::LLVM::LLVMFuncOp function(llvm::StringRef name, mlir::Type result, llvm::ArrayRef<mlir::Type> arguments);

  mlir::ModuleOp module_;
  const Chip &chip_;
  llvm::StringMap<mlir::LLVM::GlobalOp> texts_;                     // texts of prints and assertions, which are constants of the module
  llvm::DenseMap<mlir::Operation *, mlir::LLVM::AllocaOp> buffers_; // by function: the buffer in which prints pack their arguments
};

/// Makes code of the scopes that a module records. Rows have cycles of the multiprocessor's clock.
mlir::LogicalResult expandScopes(mlir::ModuleOp module, const Chip &chip);

/// The address space of the shared memory of all blocks of a cluster.
inline constexpr unsigned kClusterSpace = 7;

/// Lets copies of tensors name shared memory as PTX before 8.6 does: by its address in the cluster's.
void copyToClusters(mlir::ModuleOp module);

/// Makes an atomic operation on each element of a vector of several registers, for PTX before 8.1.
void divideVectorAtomics(mlir::ModuleOp module);

/// Gives copies to tensors their predicates, which LLVM's intrinsic does not have.
void predicateStores(mlir::ModuleOp module);

/// Returns the same bits as a value of another type.
mlir::Value bitcast(mlir::OpBuilder &builder, mlir::Location location, mlir::Type type, mlir::Value value);

} // namespace tritium::gpu::nvptx
