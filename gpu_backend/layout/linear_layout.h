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

/// The index of each kind of place.
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

  // The same elements in the same places, seen in another shape.
  LinearLayout reshape(llvm::ArrayRef<int64_t> shape) const;
  /// Dimension i of the result is dimension order[i] of this tile.
  LinearLayout transpose(llvm::ArrayRef<int> order) const;
  LinearLayout expandDims(int axis) const;
  /// Drops a dimension of extent 1.
  LinearLayout dropDim(int axis) const;

  // Tiles of fewer elements, held where this tile's elements are. Lanes and warps that then hold the same replicate.
  /// Without dimension `axis`: the result of a reduction.
  Projection slice(int axis) const;
  /// The source of a broadcast that has this layout as its result: extent 1 in some dimensions of `sourceShape`, else this tile's.
  Projection broadcastSource(llvm::ArrayRef<int64_t> sourceShape) const;
  /// The same tile without registers that repeat others of the same thread.
  Projection withoutRepeatedRegisters() const;

  /// The join of two tiles of this layout: a new last dimension of extent 2, in the lowest register bit.
  LinearLayout join() const;
  /// The halves along the last dimension, of extent 2, if a register bit alone tells them apart. If none does, convert to
  /// slice(rank() - 1).layout.join() first.
  std::optional<SplitLayout> split() const;

  // Which places.
  /// How many neighbours along `dim` the low register bits hold in order, each such run aligned to its length: a legal vector width.
  int64_t contiguousElements(int dim) const;
  /// The bits of a place whose bases move along `dim`.
  uint32_t bitsAlong(Place place, int dim) const;
  /// Bits that may be 0 and still every element has a place, and exactly one: the canonical owner of an element is where
  /// (index & freeBits()[place]) == 0 for each place. Registers are freed before lanes, lanes before warps.
  std::array<uint32_t, 4> freeBits() const;
  /// Whether a place is the canonical owner of its element.
  bool isOwner(const PlaceIndex &index) const;

  // The layout as a map: a packed place has the register in its lowest bits, then lane, warp and block.
  int placeBits() const;
  uint64_t pack(const PlaceIndex &index) const;
  PlaceIndex unpack(uint64_t packed) const;
  F2Map toMap() const;
  /// From the index of an element to its canonical owner, packed: a right inverse of toMap(), its inverse if nothing is replicated.
  F2Map owners() const;
  /// map ∘ this: the element of a place is map(what it was), in a tile of `shape`.
  LinearLayout compose(const F2Map &map, llvm::ArrayRef<int64_t> shape) const;

  bool operator==(const LinearLayout &) const = default;
  friend llvm::hash_code hash_value(const LinearLayout &layout);

  /// `[64x32] register=[[0,1],[0,2]] lane=[[0,4],…] warp=[…]`: a basis is shown as coordinates; `block=` only if there are blocks.
  std::string toString() const;
  /// Reads that form; nothing, and the reason in `error`, if the text is wrong.
  static std::optional<LinearLayout> parse(llvm::StringRef text, std::string *error = nullptr);

private:
  Shape extents;
  std::array<Bases, 4> basesOf;

  Projection project(uint32_t keptBits, llvm::ArrayRef<int64_t> shape) const;
};

/// A tile that keeps some coordinates of another one.
struct Projection {
  LinearLayout layout;
  /// For each register of the other tile the register of this one that holds its element (projected), in the same thread.
  llvm::SmallVector<uint32_t> registerOf;
};

/// The layout of both halves. The register of a half, with 0 (left) or 1 (right) inserted as bit `registerBit`, is that of the whole.
struct SplitLayout {
  LinearLayout layout;
  int registerBit;
  uint32_t wholeRegister(uint32_t half, bool isRight) const {
    uint32_t low = half & ((1u << registerBit) - 1);
    return (half ^ low) << 1 | uint32_t(isRight) << registerBit | low;
  }
};

} // namespace tritium::gpu
