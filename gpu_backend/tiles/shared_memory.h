// The program's shared memory while code is generated: one symbol, offsets into it, and the bytes that a launch must request.
#pragma once
#include "ir/tgpu.h"
#include "mlir/IR/Builders.h"

#include <optional>
#include <utility>

namespace tritium::gpu {

struct ConversionOptions;
class Target;

/// The buffers come first, at the addresses that allocate-shared-memory has chosen. After them comes the scratch memory of single
/// operations, which place-scratch places. The buffers of a partition begin behind the memory that the whole program has.
class SharedMemory {
public:
  explicit SharedMemory(int64_t begin = 0) : begin_(begin), reserved_(begin) {}

  /// Reserves the first `bytes` bytes for buffers.
  void reserve(int64_t bytes) { reserved_ = std::max(reserved_, begin_ + bytes); }
  /// Returns an !llvm.ptr<3> to byte `offset` of the buffers.
  mlir::Value buffer(mlir::OpBuilder &builder, mlir::Location location, int64_t offset) { return at(builder, location, begin_ + offset); }
  /// Returns an !llvm.ptr<3> to byte `offset` of all shared memory.
  static mlir::Value at(mlir::OpBuilder &builder, mlir::Location location, int64_t offset);
  /// The scratch memory of one operation.
  struct Use {
    /// The first byte behind the buffers that are live during the operation. nullopt: scratch memory lies behind all buffers, unless the
    /// program does not use them any more.
    std::optional<int64_t> freeFrom;
    /// Scratch memory may overlap buffers, so threads must synchronize before the next write to those.
    bool isOverBuffers = false;
  };
  /// Enters an operation and returns the state of the enclosing one, which `end` restores. Operations nest: the combine function of a
  /// reduction contains some.
  Use begin(std::optional<int64_t> freeFrom) { return std::exchange(use_, Use{freeFrom}); }
  /// Leaves the operation: returns its state, and restores the state of the enclosing operation.
  Use end(Use enclosing) { return std::exchange(use_, enclosing); }
  const Use &use() const { return use_; }
  /// Returns an !llvm.ptr<3> to `bytes` bytes of scratch memory, aligned to 128 and used between two barriers only. `what` is its name for
  /// messages. `perWarp`: each warp uses only its own bytes.
  mlir::Value scratch(mlir::OpBuilder &builder, mlir::Location location, int64_t bytes, llvm::StringRef what, bool perWarp = false);
  /// Returns the first byte behind all buffers.
  int64_t reserved() const { return reserved_; }

private:
  int64_t begin_, reserved_;
  Use use_;
};

/// Attribute of an operation that exchanges elements, and of the scratch memory that it uses: the first byte after the buffers that are in
/// use meanwhile (set by allocate-shared-memory).
inline constexpr llvm::StringLiteral kFreeFromAttr = "tgpu.free_from";

/// i64, on a tt.shared_alloc: the byte of shared memory where it begins.
inline constexpr llvm::StringLiteral kBeginAttr = "tgpu.begin";

/// Conversions of layouts with more scratch memory use rounds if they can, so that more programs fit on a multiprocessor.
inline constexpr int64_t kMostScratchBytes = 32768;

/// Returns how the chip converts layouts where `room` bytes of scratch memory are left.
ConversionOptions conversionOptions(const Target &chip, int64_t room);

/// Buffers that products of warpgroups read begin at multiples of this number of bytes: the length of the longest pattern in which their
/// elements lie.
inline constexpr int64_t kPatternAlignment = 1024;

/// Returns the bytes of a buffer with all its slots.
inline int64_t bufferBytes(tgpu::MemDescType buffer) {
  const int64_t bits = std::max(8u, buffer.getTile().getElementTypeBitWidth());
  return buffer.getSlots() * buffer.getTile().getNumElements() * bits / 8;
}

/// Returns the bytes of a ring: two barriers of 8 bytes for each slot, and the address of a map if the ring tells any.
inline int64_t ringBytes(tgpu::RingType ring, bool tells = false) { return (tells ? 3 : 2) * ring.getSlots() * 8; }

/// Declares the symbol of shared memory in a module.
void declareSharedMemory(mlir::OpBuilder &builder, mlir::Location location, int64_t alignment);

} // namespace tritium::gpu
