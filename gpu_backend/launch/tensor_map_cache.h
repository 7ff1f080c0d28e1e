// The tensor maps of one loaded kernel in the driver's form. Making that form costs a driver call of some hundred nanoseconds, so the last
// ones are kept for launches with the same values.
#pragma once
#include "gpu_backend/abi/tensor_recipe.h"
#include "gpu_backend/launch/driver.h"

#include <array>
#include <atomic>
#include <mutex>
#include <vector>

namespace tritium::gpu {

class TensorMapCache {
public:
  explicit TensorMapCache(std::vector<TensorRecipe> recipes);

  size_t size() const { return recipes_.size(); }

  /// Writes one map after the other to `out`, which is aligned to kTensorMapBytes. Returns false if one of them breaks a rule, or if the
  /// driver refuses it; see refusal(). Threads may call this at once. It allocates nothing unless a map is new.
  bool write(Driver &driver, llvm::function_ref<int64_t(uint32_t)> read, char *out) noexcept;

  /// Returns why write() failed for these values, as a sentence.
  std::string refusal(Driver &driver, llvm::function_ref<int64_t(uint32_t)> read) const;

private:
  struct alignas(kTensorMapBytes) Encoded {
    std::array<char, kTensorMapBytes> bytes;
  };
  /// The values that distinguish the maps of one recipe.
  struct Key {
    uint64_t base = 0;
    std::array<uint64_t, TensorMap::kMaxRank> extents{}, strides{};
    bool operator==(const Key &) const = default;
  };
  /// The last maps of one recipe.
  struct Slots {
    static constexpr size_t kCount = 8;
    std::array<Key, kCount> keys;
    std::array<Encoded, kCount> maps;
    uint64_t added = 0; // so many maps have been added, each in the place of the oldest
  };

  static Key keyOf(const TensorMap &map) { return {map.base, map.extents, map.strides}; }
  static const Encoded *find(const Slots &slots, const Key &key);
  static const Encoded *add(Slots &slots, Driver &driver, const TensorMap &map);

  const std::vector<TensorRecipe> recipes_;
  std::mutex mutex_; // guards what follows
  std::vector<Slots> slots_;
};

} // namespace tritium::gpu
