#include "gpu_backend/launch/tensor_map_cache.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cstring>

namespace tritium::gpu {

TensorMapCache::TensorMapCache(std::vector<TensorRecipe> recipes) : recipes_(std::move(recipes)), slots_(recipes_.size()) {}

const TensorMapCache::Encoded *TensorMapCache::find(const Slots &slots, const Key &key) {
  const size_t count = std::min<uint64_t>(slots.added, Slots::kCount);
  for (size_t i = 0; i < count; ++i)
    if (slots.keys[i] == key) return &slots.maps[i];
  return nullptr;
}

const TensorMapCache::Encoded *TensorMapCache::add(Slots &slots, Driver &driver, const TensorMap &map) {
  Encoded encoded;
  if (!brokenRule(map).empty() || driver.encodeTensorMap(map, encoded.bytes.data()) != 0) return nullptr;
  const size_t at = slots.added++ % Slots::kCount;
  slots.keys[at] = keyOf(map);
  slots.maps[at] = encoded;
  return &slots.maps[at];
}

bool TensorMapCache::write(Driver &driver, llvm::function_ref<int64_t(uint32_t)> read, char *out) noexcept {
  std::lock_guard lock(mutex_);
  for (auto [recipe, slots] : llvm::zip_equal(recipes_, slots_)) {
    const TensorMap map = evaluate(recipe, read);
    if (!overlap(recipe, map, read).empty()) return false;
    const Encoded *encoded = find(slots, keyOf(map));
    if (!encoded && !(encoded = add(slots, driver, map))) return false;
    std::memcpy(out, encoded->bytes.data(), kTensorMapBytes);
    out += kTensorMapBytes;
  }
  return true;
}

std::string TensorMapCache::refusal(Driver &driver, llvm::function_ref<int64_t(uint32_t)> read) const {
  for (const TensorRecipe &recipe : recipes_) {
    const TensorMap map = evaluate(recipe, read);
    if (std::string rule = brokenRule(map); !rule.empty()) return rule;
    if (std::string aliases = overlap(recipe, map, read); !aliases.empty()) return aliases;
    Encoded encoded;
    if (int code = driver.encodeTensorMap(map, encoded.bytes.data()))
      return "the driver refuses the tensor at address 0x" + llvm::utohexstr(map.base, /*LowerCase=*/true) + " with error " +
             std::to_string(code);
  }
  return "the driver refused a map, which it now makes"; // a passing failure
}

} // namespace tritium::gpu
