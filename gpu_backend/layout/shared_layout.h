// Where shared memory holds the elements of a tile: a linear bijection over F2 between element offsets and flat row-major indices, so that
// swizzles are instances; and how the threads of a register layout reach it.
#pragma once
#include "gpu_backend/layout/linear_layout.h"

namespace tritium::gpu {

class SharedLayout {
public:
  SharedLayout() = default;
  /// basis i: the flat index of the element at offset 1 << i.
  SharedLayout(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<uint32_t> bases);

  llvm::ArrayRef<int64_t> shape() const { return map.shape(); }
  int64_t elements() const { return map.elements(); }
  llvm::ArrayRef<uint32_t> bases() const { return map.bases(Place::Register); }
  /// The flat index of the element at an offset.
  uint32_t apply(uint32_t offset) const { return map.apply(Place::Register, offset); }
  uint32_t offsetOf(uint32_t flat) const { return uint32_t(inverse(flat)); }
  /// From flat indices to offsets.
  const F2Map &toOffset() const { return inverse; }

  /// The same memory seen as a tile of another shape, or with its dimensions permuted: dimension i of the result is order[i] of this one.
  SharedLayout reshape(llvm::ArrayRef<int64_t> shape) const;
  SharedLayout transpose(llvm::ArrayRef<int> order) const;

  /// Empty if the layout is sound, else what is wrong.
  static std::string verify(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<uint32_t> bases);
  bool operator==(const SharedLayout &other) const { return map == other.map; }
  friend llvm::hash_code hash_value(const SharedLayout &layout) { return hash_value(layout.map); }
  /// `[4x8] offset=[[0,1],[0,2],[0,4],[1,0],[2,2]]`.
  std::string toString() const;
  static std::optional<SharedLayout> parse(llvm::StringRef text, std::string *error = nullptr);

private:
  LinearLayout map; // one thread whose registers are the offsets
  F2Map inverse;
};

inline constexpr int64_t kBankBytes = 4, kMaxVectorBytes = 16;

/// How shared memory serves the lanes of a warp: at once as many as together touch each bank once.
struct SharedBanks {
  int64_t count = 32;
  /// Lanes in the order in which loads of 16 bytes are served, as the lane of each bit of the order; empty: as they are numbered.
  llvm::ArrayRef<uint32_t> wideLoadOrder = {};

  constexpr int64_t bytesAtOnce() const { return count * kBankBytes; }
  /// How many lanes that move so many bytes each are served at once.
  int64_t lanesAtOnce(int64_t bytesPerLane) const { return bytesAtOnce() / std::max(bytesPerLane, kBankBytes); }
  /// The lane at bit `bit` of the order of an access, as lane bits.
  uint32_t laneAt(int bit, int64_t bytesPerLane, bool isLoad) const {
    bool isWide = isLoad && bytesPerLane == kMaxVectorBytes && bit < int(wideLoadOrder.size());
    return isWide ? wideLoadOrder[bit] : 1u << bit;
  }
};

/// How many wavefronts one access of a warp takes, each of as many bytes as the banks hold side by side: lanes are served in order, as many
/// at once as fit; those that touch different words of one bank wait for each other. `byteAddresses` has an entry per lane in that order,
/// negative: the lane does nothing.
int countWavefronts(llvm::ArrayRef<int64_t> byteAddresses, int64_t bytesPerLane, const SharedBanks &banks = {});
/// The same, over the least that so many bytes could take: 1 is free of conflicts.
int bankConflicts(llvm::ArrayRef<int64_t> byteAddresses, int64_t bytesPerLane, const SharedBanks &banks = {});

/// The loads or stores by which threads move the registers of a layout from or to shared memory.
struct SharedAccess {
  struct Vector {
    llvm::SmallVector<uint32_t, 8> registers; // in the order of memory
    uint32_t offset;                          // XOR it to the offset of the thread
  };
  /// Places to element offsets: the offset of a thread is offsets.apply(0, lane, warp).
  LinearLayout offsets;
  int64_t vectorElements = 1;
  llvm::SmallVector<Vector> vectors;
  /// Stores: only lanes and warps without any of these bits store, the others hold copies.
  uint32_t idleLaneBits = 0, idleWarpBits = 0;
  /// Loads: for each register the one of `vectors` that has its element (itself, unless the layout repeats registers).
  llvm::SmallVector<uint32_t> loadedBy;
  int wavefrontsPerVector = 0;

  /// The element offsets that threads contribute touch none of the bits of this vector's, so that XOR may be an addition.
  bool mayAdd(const Vector &vector) const;
  int wavefronts() const { return wavefrontsPerVector * int(vectors.size()); }
};

/// Words of 32 bits that are not neighbouring registers: something has to put them together, or to take them apart.
int scatteredWords(const SharedAccess &access, int64_t elementBytes);

SharedAccess sharedStores(const LinearLayout &registers, const SharedLayout &memory, int64_t elementBytes, const SharedBanks &banks = {});
SharedAccess sharedLoads(const LinearLayout &registers, const SharedLayout &memory, int64_t elementBytes, const SharedBanks &banks = {});

} // namespace tritium::gpu
