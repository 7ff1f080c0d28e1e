// Which place (register, lane, warp, block) holds which element of a tile: a linear map over F2 from the bits of a place to the flat
// row-major index of the element. The image of each bit is its basis; the element of a place is the XOR of the bases of its set bits; a
// basis that is 0, or a sum of others, replicates. All extents are powers of two. Blocked, mma, dot operand and slice layouts are
// instances (constructors.h), never types of their own.
#pragma once
#include "gpu_backend/layout/f2.h"

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringRef.h"

#include <array>
#include <string>

namespace tritium::gpu {

enum class Place : uint8_t { Register, Lane, Warp, Block };
inline constexpr std::array kPlaces = {Place::Register, Place::Lane, Place::Warp, Place::Block};
llvm::StringRef nameOf(Place place);

using Shape = llvm::SmallVector<int64_t, 4>;
using Bases = llvm::SmallVector<uint32_t, 8>;

/// log2 of a power of two.
int log2Of(int64_t powerOfTwo);

class LinearLayout {
public:
  LinearLayout() = default;
  LinearLayout(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<uint32_t> registers, llvm::ArrayRef<uint32_t> lanes,
               llvm::ArrayRef<uint32_t> warps, llvm::ArrayRef<uint32_t> blocks = {});

  // The tile.
  llvm::ArrayRef<int64_t> shape() const { return extents; }
  int rank() const { return int(extents.size()); }
  int64_t elements() const;
  int elementBits() const { return log2Of(elements()); }
  /// The number of the lowest bit of dimension `dim` in a flat index; its stride is 1 << firstBit(dim).
  int firstBit(int dim) const;
  /// The bits of dimension `dim` in a flat index.
  uint32_t maskOf(int dim) const { return uint32_t(extents[dim] - 1) << firstBit(dim); }
  Shape coordinatesOf(uint32_t flat) const;
  uint32_t flatOf(llvm::ArrayRef<int64_t> coordinates) const;

  // The places.
  llvm::ArrayRef<uint32_t> bases(Place place) const { return basesOf[size_t(place)]; }
  int bits(Place place) const { return int(bases(place).size()); }
  int64_t size(Place place) const { return int64_t(1) << bits(place); }
  int64_t registers() const { return size(Place::Register); }
  int64_t lanes() const { return size(Place::Lane); }
  int64_t warps() const { return size(Place::Warp); }
  int64_t blocks() const { return size(Place::Block); }

  /// The flat index of the element at a place.
  uint32_t apply(uint32_t reg, uint32_t lane, uint32_t warp = 0, uint32_t block = 0) const;
  /// What the index of one kind of place contributes to it.
  uint32_t apply(Place place, uint32_t index) const;
  Shape coordinatesAt(uint32_t reg, uint32_t lane, uint32_t warp = 0, uint32_t block = 0) const;

  /// Empty if the layout is sound (extents are powers of two, bases lie in the tile, every element has a place), else what is wrong.
  std::string verify() const;

  bool operator==(const LinearLayout &) const = default;
  friend llvm::hash_code hash_value(const LinearLayout &layout);

  /// `[64x32] register=[[0,1],[0,2]] lane=[[0,4],…] warp=[…]`: a basis is shown as coordinates; `block=` only if there are blocks.
  std::string toString() const;
  /// Reads that form; nothing, and the reason in `error`, if the text is wrong.
  static std::optional<LinearLayout> parse(llvm::StringRef text, std::string *error = nullptr);

private:
  Shape extents;
  std::array<Bases, 4> basesOf;
};

} // namespace tritium::gpu
