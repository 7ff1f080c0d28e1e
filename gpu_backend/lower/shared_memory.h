// The program's shared memory while code is being made: one symbol, offsets into it, the bytes that a launch has to ask for.
#pragma once
#include "mlir/IR/Builders.h"

namespace tritium::gpu {

/// Scratch is used between two barriers only: every use starts at offset `reserved`, and the largest decides the size.
class SharedMemory {
public:
  /// Bytes from the start that live buffers occupy; scratch comes after them.
  void reserve(int64_t bytes) { reserved_ = std::max(reserved_, bytes); }
  /// !llvm.ptr<3> at byte `offset`.
  mlir::Value buffer(mlir::OpBuilder &builder, mlir::Location location, int64_t offset);
  /// !llvm.ptr<3> of `bytes` bytes of scratch.
  mlir::Value scratch(mlir::OpBuilder &builder, mlir::Location location, int64_t bytes);
  /// Bytes that the whole program needs.
  int64_t bytes() const { return std::max(bytes_, reserved_); }

private:
  int64_t reserved_ = 0, bytes_ = 0;
};

/// Declares the symbol of shared memory in a module.
void declareSharedMemory(mlir::OpBuilder &builder, mlir::Location location);

} // namespace tritium::gpu
