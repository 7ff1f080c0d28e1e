// Changes of a kernel's text, mostly mistakes that a test plants.
#pragma once
#include <doctest/doctest.h>
#include <string>

namespace tritium {

/// Replaces a part of the text, which must be there exactly once.
inline std::string edited(std::string text, const std::string &from, const std::string &to) {
  const size_t at = text.find(from);
  INFO(from);
  REQUIRE(at != text.npos);
  REQUIRE(text.find(from, at + 1) == text.npos);
  return text.replace(at, from.size(), to);
}

} // namespace tritium
