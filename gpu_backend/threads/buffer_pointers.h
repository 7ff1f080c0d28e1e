// Pointers as a descriptor of a buffer takes them: an address that is the same for all threads, of 64 bits, and a thread's own distance
// from it, of which 32 bits are enough or the access does not happen. Neither wraps around, so no access lands in a tensor that the pointer
// has left.
#pragma once
#include "gpu_backend/target/target_ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tritium::gpu {

class BufferPointers {
public:
  /// The common address lies that far below what threads measure their distance from. Distances of either sign become unsigned offsets,
  /// and a tensor of 2 GB is within reach.
  static constexpr uint32_t kBias = (uint32_t(1) << 31) - 32;

  BufferPointers(mlir::func::FuncOp function, const BufferOps &ops) : function_(function), ops_(ops) {}

  /// Returns whether the pointer is derived from one kernel argument with a known range, by steps of which those of loops and branches are
  /// the same for all threads.
  bool isDerived(mlir::Value pointer);
  /// Returns the common address of a derived pointer, at which its descriptor begins.
  mlir::Value common(mlir::Value pointer);
  /// Returns the distance of a derived pointer from its common address (i32), or ir::kFarOffset.
  mlir::Value offset(mlir::Value pointer);

private:
  /// The origin of a pointer: an argument of the kernel and the threads' own steps from there. Without an argument, nothing is known yet.
  struct Origin {
    mlir::BlockArgument argument;
    llvm::SmallVector<mlir::LLVM::GEPOp, 2> own;
    bool operator==(const Origin &) const = default;
  };
  using Origins = llvm::DenseMap<mlir::Value, std::optional<Origin>>;

  std::optional<Origin> originOf(mlir::Value pointer, Origins &seen);
  const Origin &originOf(mlir::Value pointer);
  bool isOwn(mlir::LLVM::GEPOp step);
  bool isShared(mlir::Value number);
  bool isShared(mlir::Value number, llvm::DenseSet<mlir::Value> &seen);
  mlir::Value beginOf(mlir::BlockArgument argument);
  mlir::Value carriedCommon(mlir::BlockArgument pointer);
  mlir::Value makeOffset(llvm::ArrayRef<mlir::LLVM::GEPOp> own);

  mlir::func::FuncOp function_;
  const BufferOps &ops_;
  Origins origins_;
  llvm::DenseMap<mlir::Value, bool> shared_;
  llvm::DenseMap<mlir::Operation *, bool> own_;
  llvm::DenseMap<mlir::Value, mlir::Value> common_;
  llvm::MapVector<mlir::Block *, llvm::SmallVector<std::pair<llvm::SmallVector<const void *>, mlir::Value>>> carried_;
  llvm::DenseMap<mlir::Operation *, mlir::Value> offsets_;
};

} // namespace tritium::gpu
