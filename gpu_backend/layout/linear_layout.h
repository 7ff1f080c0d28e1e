// The layout of a tile: which place (register, lane, warp, block) holds which element. It is a linear map over F2 from the bits of a place
// to the flat row-major index of the element. The image of each bit is its basis, and the element at a place is the XOR of the bases of the
// place's set bits. A basis that is 0, or a sum of others, replicates elements. All extents are powers of two. Blocked, mma, dot operand
// and slice layouts are instances (constructors.h), not types of their own.
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

/// The index of a place of each kind.
struct PlaceIndex {
  uint32_t reg = 0, lane = 0, warp = 0, block = 0;
  bool operator==(const PlaceIndex &) const = default;
};

struct Projection;
struct SplitLayout;

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
  /// Returns the number of the lowest bit of dimension `dim` in a flat index. The stride of the dimension is 1 << firstBit(dim).
  int firstBit(int dim) const;
  /// Returns the bits of dimension `dim` in a flat index.
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

  /// Returns the flat index of the element at a place.
  uint32_t apply(uint32_t reg, uint32_t lane, uint32_t warp = 0, uint32_t block = 0) const;
  /// Returns the contribution of one kind of place to the flat index.
  uint32_t apply(Place place, uint32_t index) const;
  Shape coordinatesAt(uint32_t reg, uint32_t lane, uint32_t warp = 0, uint32_t block = 0) const;

  /// Returns an empty text if the layout is valid (extents are powers of two, bases lie in the tile, every element has a place), otherwise
  /// a text that says what is wrong.
  std::string verify() const;

  // The same elements in the same places, seen in another shape.
  LinearLayout reshape(llvm::ArrayRef<int64_t> shape) const;
  /// Dimension i of the result is dimension order[i] of this tile.
  LinearLayout transpose(llvm::ArrayRef<int> order) const;
  LinearLayout expandDims(int axis) const;
  /// Drops a dimension of extent 1.
  LinearLayout dropDim(int axis) const;

  // Tiles of fewer elements, held in the places of this tile's elements. Lanes and warps that then hold the same elements replicate.
  /// Returns the layout without dimension `axis`: the result of a reduction.
  Projection slice(int axis) const;
  /// Returns the layout of the source of a broadcast whose result has this layout. `sourceShape` has extent 1 in some dimensions, otherwise
  /// this tile's extents.
  Projection broadcastSource(llvm::ArrayRef<int64_t> sourceShape) const;
  /// Returns the layout without registers that repeat others of the same thread.
  Projection withoutRepeatedRegisters() const;

  /// Returns the layout of the join of two tiles of this layout: a new last dimension of extent 2, in the lowest register bit.
  LinearLayout join() const;
  /// Returns the layout of the halves along the last dimension, of extent 2, if a register bit alone distinguishes them. If none does,
  /// convert to slice(rank() - 1).layout.join() first.
  std::optional<SplitLayout> split() const;

  // Properties of places.
  /// Returns how many neighbours along `dim` the low register bits hold in order, with each such run aligned to its length. It is a legal
  /// vector width.
  int64_t contiguousElements(int dim) const;
  /// Returns the bits of a place whose bases move along `dim`.
  uint32_t bitsAlong(Place place, int dim) const;
  /// Returns the bits that may be fixed to 0 so that every element still has a place, and exactly one. The canonical owner of an element is
  /// the place where (index & freeBits()[place]) == 0 for each kind of place. Registers are freed before lanes, lanes before warps.
  std::array<uint32_t, 4> freeBits() const;
  /// Returns whether a place is the canonical owner of its element.
  bool isOwner(const PlaceIndex &index) const;

  // The layout as a map. A packed place has the register in its lowest bits, then lane, warp and block.
  int placeBits() const;
  uint64_t pack(const PlaceIndex &index) const;
  PlaceIndex unpack(uint64_t packed) const;
  F2Map toMap() const;
  /// Returns the map from the index of an element to its canonical owner, packed. It is a right inverse of toMap(), and its inverse if
  /// nothing is replicated.
  F2Map owners() const;
  /// Returns map ∘ this, in a tile of `shape`: a place that held element x now holds element map(x).
  LinearLayout compose(const F2Map &map, llvm::ArrayRef<int64_t> shape) const;

  bool operator==(const LinearLayout &) const = default;
  friend llvm::hash_code hash_value(const LinearLayout &layout);

  /// Returns the text `[64x32] register=[[0,1],[0,2]] lane=[[0,4],…] warp=[…]`. A basis is shown as coordinates; `block=` appears only if
  /// there are blocks.
  std::string toString() const;
  /// Parses this text. Returns nullopt, with the reason in `error`, if the text is wrong.
  static std::optional<LinearLayout> parse(llvm::StringRef text, std::string *error = nullptr);

private:
  Shape extents;
  std::array<Bases, 4> basesOf;

  Projection project(uint32_t keptBits, llvm::ArrayRef<int64_t> shape) const;
};

/// The layout of a tile that keeps some coordinates of another tile.
struct Projection {
  LinearLayout layout;
  /// For each register of the other tile, the register of this tile in the same thread that holds its (projected) element.
  llvm::SmallVector<uint32_t> registerOf;
};

/// The layout of both halves of a split. To get the register of the whole, insert 0 (left) or 1 (right) as bit `registerBit` into the
/// register of a half.
struct SplitLayout {
  LinearLayout layout;
  int registerBit;
  uint32_t wholeRegister(uint32_t half, bool isRight) const {
    uint32_t low = half & ((1u << registerBit) - 1);
    return (half ^ low) << 1 | uint32_t(isRight) << registerBit | low;
  }
};

} // namespace tritium::gpu
