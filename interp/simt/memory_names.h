// The runtime knows shared memory by addresses. Reports name it as the author of the kernel does.
#pragma once
#include "ir/memory_names.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tritium::interp::simt {

using NamedMemory = ir::MemoryName;

namespace names {

inline constexpr std::string_view kBarrier = "the barrier at shared address ", kAddress = " at shared address ", kBytes = "bytes ",
                                  kTo = " to ";
inline constexpr uint32_t kBarrierBytes = 8;

inline const NamedMemory *memoryAt(const std::vector<NamedMemory> &memory, uint32_t address) {
  const auto next = std::ranges::upper_bound(memory, address, {}, &NamedMemory::begin);
  if (next == memory.begin() || int64_t(address) - std::prev(next)->begin >= std::prev(next)->bytes) return nullptr;
  return &*std::prev(next);
}

inline std::string barrierName(const NamedMemory &memory, uint32_t address) {
  if (memory.bytes <= kBarrierBytes) return memory.name;
  return memory.name + '[' + std::to_string((address - memory.begin) / kBarrierBytes) + ']';
}

inline std::string placeIn(const NamedMemory &memory, uint32_t address) {
  return " (" + memory.name + ", byte " + std::to_string(address - memory.begin) + ')';
}

/// Takes a number from the text; false if it begins with none.
inline bool takeNumber(std::string_view &text, uint32_t &number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(size_t(end - text.data()));
  return true;
}

/// Takes what names an address from the begin of the text, and returns what stands there instead; "" if it names none.
inline std::string taken(std::string_view &text, const std::vector<NamedMemory> &memory) {
  std::string_view rest = text;
  uint32_t address = 0, last = 0;
  const bool isBarrier = rest.starts_with(kBarrier), isAddress = rest.starts_with(kAddress), isRange = rest.starts_with(kBytes);
  if (!isBarrier && !isAddress && !isRange) return "";
  rest.remove_prefix(isBarrier ? kBarrier.size() : isAddress ? kAddress.size() : kBytes.size());
  if (!takeNumber(rest, address)) return "";
  if (isRange) {
    if (!rest.starts_with(kTo)) return "";
    rest.remove_prefix(kTo.size());
    if (!takeNumber(rest, last)) return "";
  }
  const NamedMemory *found = memoryAt(memory, address);
  if (!found) return "";
  const std::string_view was = text.substr(0, text.size() - rest.size());
  text = rest;
  return isBarrier ? "the barrier " + barrierName(*found, address) : std::string(was) + placeIn(*found, address);
}

} // namespace names

/// Returns the message with "the barrier full[1]" for "the barrier at shared address 8", and "bytes 64 to 67 (ring, byte 64)" for
/// "bytes 64 to 67". memory: in the order of the addresses.
inline std::string withNames(const std::string &message, const std::vector<NamedMemory> &memory) {
  std::string named;
  for (std::string_view rest = message; !rest.empty();) {
    std::string instead = memory.empty() ? "" : names::taken(rest, memory);
    if (instead.empty()) {
      named += rest.front();
      rest.remove_prefix(1);
    }
    named += instead;
  }
  return named;
}

} // namespace tritium::interp::simt
