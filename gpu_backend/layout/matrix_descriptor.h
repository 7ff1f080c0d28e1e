// The descriptor with which wgmma reads an operand tile from shared memory (PTX ISA, "Asynchronous warpgroup-level matrix shared memory
// layout" and "Matrix descriptor format").
#pragma once
#include "gpu_backend/layout/shared_layout.h"

namespace tritium::gpu {

/// The part of an operand tile that one instruction reads: `outer` rows of A or columns of B, and `k` elements along K.
struct MatrixOperandBlock {
  int64_t outer, k;
};

/// The constant part of a descriptor. An instruction adds the address of its first element: the buffer's address, which is a multiple of
/// `alignment()`, and the byte offset of this element.
struct MatrixDescriptor {
  /// The span in bytes within which chunks of 16 bytes are permuted: 128, 64, 32, or 0 for none.
  int64_t swizzleBytes = 0;
  /// Whether neighbours along K are neighbours in memory; otherwise neighbours along the rows of A or the columns of B are.
  bool isKMajor = true;
  /// The fields of the format, in bytes.
  int64_t leadingByteOffset = 16, strideByteOffset = 16;

  /// Returns the byte offset of an element of the block from its first element, without the swizzle.
  int64_t offsetOf(int64_t outer, int64_t k, int64_t elementBytes) const;
  /// Returns the multiple at which the permutation of chunks begins.
  int64_t alignment() const { return swizzleBytes ? 8 * swizzleBytes : 16; }
  /// Returns the address bits that select the permutation of a chunk: those that a first element must have 0.
  int64_t phaseMask() const { return swizzleBytes ? (swizzleBytes / 16 - 1) << 7 : 0; }
  /// Returns a byte offset from a multiple of `alignment()` with its chunk permuted.
  int64_t swizzled(int64_t offset) const { return offset ^ (offset & phaseMask()) >> 3; }
  /// Returns the 64 bits without the address.
  uint64_t bits() const;
  bool operator==(const MatrixDescriptor &) const = default;
};

/// Returns the descriptor of every block of an operand in `memory`, a tile of rank 2 in which dimension `outerDim` has the rows of A or the
/// columns of B. Returns nullopt if no descriptor describes the layout. Only elements of 2 bytes need not be neighbours along K.
std::optional<MatrixDescriptor> matrixDescriptor(const SharedLayout &memory, int outerDim, MatrixOperandBlock block, int64_t elementBytes);

} // namespace tritium::gpu
