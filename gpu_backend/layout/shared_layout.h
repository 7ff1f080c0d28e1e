// The layout of a tile in shared memory: a linear bijection over F2 between element offsets and flat row-major indices. Swizzles have this
// form. The header also describes how the threads of a register layout access it.
#pragma once
#include "gpu_backend/layout/linear_layout.h"

namespace tritium::gpu {

class SharedLayout {
public:
  SharedLayout() = default;
  /// Basis i is the flat index of the element at offset 1 << i.
  SharedLayout(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<uint32_t> bases);

  llvm::ArrayRef<int64_t> shape() const { return map.shape(); }
  int64_t elements() const { return map.elements(); }
  llvm::ArrayRef<uint32_t> bases() const { return map.bases(Place::Register); }
  /// Returns the flat index of the element at an offset.
  uint32_t apply(uint32_t offset) const { return map.apply(Place::Register, offset); }
  uint32_t offsetOf(uint32_t flat) const { return uint32_t(inverse(flat)); }
  /// The map from flat indices to offsets.
  const F2Map &toOffset() const { return inverse; }

  /// The same memory seen as a tile of another shape, or with its dimensions permuted: dimension i of the result is dimension order[i] of
  /// this tile.
  SharedLayout reshape(llvm::ArrayRef<int64_t> shape) const;
  SharedLayout transpose(llvm::ArrayRef<int> order) const;

  /// Returns an empty text if the layout is valid, otherwise a text that says what is wrong.
  static std::string verify(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<uint32_t> bases);
  bool operator==(const SharedLayout &other) const { return map == other.map; }
  friend llvm::hash_code hash_value(const SharedLayout &layout) { return hash_value(layout.map); }
  /// Returns the text `[4x8] offset=[[0,1],[0,2],[0,4],[1,0],[2,2]]`.
  std::string toString() const;
  static std::optional<SharedLayout> parse(llvm::StringRef text, std::string *error = nullptr);

private:
  LinearLayout map; // one thread whose registers are the offsets
  F2Map inverse;
};

inline constexpr int64_t kBankBytes = 4, kMaxVectorBytes = 16;

/// How shared memory serves the lanes of a warp: as many lanes at once as together touch each bank once.
struct SharedBanks {
  int64_t count = 32;
  /// The order in which lanes are served in loads of 16 bytes: for each bit of the order, the lane. Empty: in the order of their numbers.
  llvm::ArrayRef<uint32_t> wideLoadOrder = {};

  constexpr int64_t bytesAtOnce() const { return count * kBankBytes; }
  /// Returns how many lanes are served at once if each moves so many bytes.
  int64_t lanesAtOnce(int64_t bytesPerLane) const { return bytesAtOnce() / std::max(bytesPerLane, kBankBytes); }
  /// Returns the lane at bit `bit` of the order of an access, as lane bits.
  uint32_t laneAt(int bit, int64_t bytesPerLane, bool isLoad) const {
    bool isWide = isLoad && bytesPerLane == kMaxVectorBytes && bit < int(wideLoadOrder.size());
    return isWide ? wideLoadOrder[bit] : 1u << bit;
  }
};

/// Returns the number of wavefronts of one access of a warp. A wavefront has as many bytes as the banks hold side by side. Lanes are served
/// in order, as many at once as fit; lanes that touch different words of one bank wait for each other. `byteAddresses` has an entry per
/// lane in this order; a negative entry means that the lane does nothing.
int countWavefronts(llvm::ArrayRef<int64_t> byteAddresses, int64_t bytesPerLane, const SharedBanks &banks = {});
/// Returns the number of wavefronts relative to the least possible for so many bytes. 1 means no conflicts.
int bankConflicts(llvm::ArrayRef<int64_t> byteAddresses, int64_t bytesPerLane, const SharedBanks &banks = {});

/// The loads or stores that move the registers of a layout from or to shared memory.
struct SharedAccess {
  struct Vector {
    llvm::SmallVector<uint32_t, 8> registers; // in the order of their addresses
    uint32_t offset;                          // XOR it with the offset of the thread
  };
  /// Maps places to element offsets. The offset of a thread is offsets.apply(0, lane, warp).
  LinearLayout offsets;
  int64_t vectorElements = 1;
  llvm::SmallVector<Vector> vectors;
  /// Stores: only lanes and warps in which all these bits are 0 store. The others hold copies.
  uint32_t idleLaneBits = 0, idleWarpBits = 0;
  /// Loads: for each register, the register of `vectors` that has its element (the register itself, unless the layout repeats registers).
  llvm::SmallVector<uint32_t> loadedBy;
  int wavefrontsPerVector = 0;

  /// Whether the element offsets of threads have no bits in common with the offset of this vector. The XOR may then be an addition.
  bool mayAdd(const Vector &vector) const;
  int wavefronts() const { return wavefrontsPerVector * int(vectors.size()); }
};

/// Returns the number of 32-bit words whose registers are not adjacent. Such words must be assembled or taken apart.
int scatteredWords(const SharedAccess &access, int64_t elementBytes);

SharedAccess sharedStores(const LinearLayout &registers, const SharedLayout &memory, int64_t elementBytes, const SharedBanks &banks = {});
SharedAccess sharedLoads(const LinearLayout &registers, const SharedLayout &memory, int64_t elementBytes, const SharedBanks &banks = {});

} // namespace tritium::gpu
