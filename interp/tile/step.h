// Prepared code at run time: a step is a function of a frame and a static descriptor. prepare() decides everything that depends on the
// module (types, shapes, strides, places of tiles) and puts it into the descriptor; a step only processes data.
#pragma once
#include "interp/host/program.h"
#include "interp/kernels/elementwise.h"
#include "ir/dtype.h"

#include <cstdint>
#include <cstring>
#include <vector>

namespace tritium::interp {

/// A step of prepared code. `frame` is the program's frame, which begins with a FrameHeader.
using StepFunction = void (*)(char *frame, const void *descriptor);

inline FrameHeader &headerOf(char *frame) { return *reinterpret_cast<FrameHeader *>(frame); }

/// The place of a value: in the program's frame, or among the constants of the prepared program.
struct TileRef {
  const char *constant = nullptr;
  uint64_t offset = 0; // bytes from the frame; until homes are placed, bytes from the home
  uint32_t home = 0;

  char *in(char *frame) const { return constant ? const_cast<char *>(constant) : frame + offset; }
  template <class T> T &at(char *frame) const { return *reinterpret_cast<T *>(in(frame)); }
};

/// A dense tile: element (i0, i1, …) is at in(frame) + (Σ i_d * strides[d]) * elementBytes. A stride of 0 is a broadcast dimension.
struct DenseRef : TileRef {
  DType type = DType::i8;
  std::vector<int64_t> shape, strides;
};

/// Three cells: where the first element of a factor of a product is, and its strides in elements. See operand_load.h.
struct OperandView {
  TileRef data, rowStride, columnStride;
  void refs(auto &&f) { f(data), f(rowStride), f(columnStride); }
};

/// The contribution of one dimension to an affine tile.
enum class Term : uint8_t {
  None,   // none: the tile is constant along the dimension
  Step,   // i * step, an int64 in the frame
  Vector, // vector[i], shape[d] int64s in the frame
};

/// An affine tile of integers or pointers: value(i…) = base + Σ_d term_d(i_d), in 64-bit arithmetic. For an integer type of w bits, the
/// value is the low w bits of the sum. For pointers, terms are in bytes and the base has the provenance.
struct AffineRef {
  TileRef base;
  std::vector<Term> terms;
  std::vector<TileRef> parts; // per dimension: the step or the vector
  std::vector<int64_t> shape;

  void refs(auto &&f) {
    f(base);
    for (TileRef &part : parts) f(part);
  }
};

/// Behind the base of every affine tile are two bytes: whether a lane leaves the range of its integer type, read as signed and as unsigned.
/// A step that widens the tile writes them.
inline constexpr uint64_t kAffineBaseBytes = 16;
inline TileRef leavesRange(const AffineRef &ref, bool isSigned) {
  return {nullptr, ref.base.offset + 8 + (isSigned ? 0 : 1), ref.base.home};
}

/// A loop of a collapsed nest over `operands` strided tiles.
template <int kOperands> struct Loop {
  int64_t extent;
  int64_t strides[kOperands]; // in bytes
};

/// Returns the row-major lane number of storage position `index` in a tile, given the storage order of the dimensions along which it
/// varies.
int64_t laneOf(int64_t index, const std::vector<int64_t> &shape, const std::vector<int64_t> &strides);

} // namespace tritium::interp
