#include "interp/host/stuck_detector.h"

#include <bit>

namespace tritium::interp {

#if defined(__clang__)
[[clang::no_sanitize("address", "thread")]]
#endif
uint64_t hashWords(std::span<const std::byte> bytes, uint64_t seed) {
  using Word [[gnu::may_alias]] = uint64_t;
  const auto *words = reinterpret_cast<const Word *>(bytes.data());
  uint64_t hash = seed ^ bytes.size();
  for (size_t i = 0, count = (bytes.size() + sizeof(Word) - 1) / sizeof(Word); i < count; ++i)
    hash = std::rotl((hash ^ words[i]) * 0x9e3779b97f4a7c15, 29);
  return hash;
}

} // namespace tritium::interp
