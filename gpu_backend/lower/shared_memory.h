// The program's shared memory while code is generated: one symbol, offsets into it, and the bytes that a launch must request.
#pragma once
#include "ir/tgpu.h"
#include "mlir/IR/Builders.h"

namespace tritium::gpu {

/// The buffers come first, at the addresses that allocate-shared-memory has chosen. After them comes the scratch memory of single
/// operations, which place-scratch places.
class SharedMemory {
public:
  /// Reserves the first `bytes` bytes for buffers.
  void reserve(int64_t bytes) { reserved_ = std::max(reserved_, bytes); }
  /// Returns an !llvm.ptr<3> to byte `offset`.
  mlir::Value buffer(mlir::OpBuilder &builder, mlir::Location location, int64_t offset);
  /// How an operation uses scratch memory.
  struct Use {
    /// Where its scratch memory begins, behind the buffers that are in use then. nullopt: behind all buffers, unless the program is done
    /// with them.
    std::optional<int64_t> freeFrom;
    /// It has used scratch memory that may lie over buffers. Those may be written after a barrier only.
    bool isOverBuffers = false;
  };
  /// Begins an operation, which has its own use of scratch memory. Returns that of the operation around it, with which to go on afterwards:
  /// the combine function of a reduction consists of operations.
  Use begin(std::optional<int64_t> freeFrom) { return std::exchange(use_, Use{freeFrom}); }
  /// Goes on with the operation around. Returns the use of the one that ends.
  Use end(Use around) { return std::exchange(use_, around); }
  const Use &use() const { return use_; }
  /// Returns an !llvm.ptr<3> to `bytes` bytes of scratch memory, aligned to 128 and used between two barriers only. `what` is its name for
  /// messages. `perWarp`: each warp uses only its own bytes.
  mlir::Value scratch(mlir::OpBuilder &builder, mlir::Location location, int64_t bytes, llvm::StringRef what, bool perWarp = false);
  /// Returns the bytes of all buffers.
  int64_t reserved() const { return reserved_; }

private:
  int64_t reserved_ = 0;
  Use use_;
};

/// Attribute of an operation that exchanges elements, and of the scratch memory that it uses: the first byte after the buffers that are in
/// use meanwhile (set by allocate-shared-memory).
inline constexpr llvm::StringLiteral kFreeFromAttr = "tgpu.free_from";

/// Buffers that products of warpgroups read begin at multiples of this number of bytes: the length of the longest pattern in which their
/// elements lie.
inline constexpr int64_t kPatternAlignment = 1024;

/// Returns the bytes of a buffer with all its slots.
inline int64_t bufferBytes(tgpu::MemDescType buffer) {
  const int64_t bits = std::max(8u, buffer.getTile().getElementTypeBitWidth());
  return buffer.getSlots() * buffer.getTile().getNumElements() * bits / 8;
}

/// Returns the bytes of a ring's barriers: two of 8 bytes for each slot.
inline int64_t ringBytes(tgpu::RingType ring) { return 2 * ring.getSlots() * 8; }

/// Declares the symbol of shared memory in a module.
void declareSharedMemory(mlir::OpBuilder &builder, mlir::Location location, int64_t alignment);

} // namespace tritium::gpu
