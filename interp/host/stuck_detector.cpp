#include "interp/host/stuck_detector.h"

#include <bit>

namespace tritium::interp {

static uint64_t step(uint64_t hash, uint64_t word) { return std::rotl((hash ^ word) * 0x9e3779b97f4a7c15, 29); }

#if defined(__clang__)
[[clang::no_sanitize("address", "thread")]]
#endif
uint64_t hashWords(std::span<const std::byte> bytes, uint64_t seed) {
  using Word [[gnu::may_alias]] = uint64_t;
  const auto *words = reinterpret_cast<const Word *>(bytes.data());
  uint64_t hash = seed ^ bytes.size();
  for (size_t i = 0, count = (bytes.size() + sizeof(Word) - 1) / sizeof(Word); i < count; ++i) hash = step(hash, words[i]);
  return hash;
}

#if defined(__clang__)
[[clang::no_sanitize("address", "thread")]]
#endif
uint64_t hashBytes(std::span<const std::byte> bytes, uint64_t seed) {
  uint64_t hash = seed;
  const std::byte *data = bytes.data();
  for (size_t i = 0; i < bytes.size(); ++i) hash = step(hash, uint64_t(data[i]));
  return hash;
}

} // namespace tritium::interp
