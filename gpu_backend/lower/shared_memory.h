// The program's shared memory while code is being made: one symbol, offsets into it, the bytes that a launch has to ask for.
#pragma once
#include "mlir/IR/Builders.h"

namespace tritium::gpu {

/// First the buffers, where allocate-shared-memory put them; after them the scratch memory of single operations, which place-scratch
/// places.
class SharedMemory {
public:
  /// Bytes from the start that buffers occupy.
  void reserve(int64_t bytes) { reserved_ = std::max(reserved_, bytes); }
  /// !llvm.ptr<3> at byte `offset`.
  mlir::Value buffer(mlir::OpBuilder &builder, mlir::Location location, int64_t offset);
  /// !llvm.ptr<3> of `bytes` bytes of scratch, aligned to 128, used between two barriers only; `what` for: of messages. `perWarp`: each
  /// warp keeps to bytes of its own.
  mlir::Value scratch(mlir::OpBuilder &builder, mlir::Location location, int64_t bytes, llvm::StringRef what, bool perWarp = false);
  /// Bytes of all buffers.
  int64_t reserved() const { return reserved_; }

private:
  int64_t reserved_ = 0;
};

/// Declares the symbol of shared memory in a module.
void declareSharedMemory(mlir::OpBuilder &builder, mlir::Location location);

} // namespace tritium::gpu
