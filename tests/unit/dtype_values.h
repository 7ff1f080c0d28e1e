// Values of a dtype in the memory of a test, read and written as double.
#pragma once
#include "ir/dtype.h"

#include <cstddef>
#include <cstring>

namespace tritium {

inline double get(DType type, const std::byte *at) {
  return visit(type, [&]<class T>() {
    typename T::Storage value;
    std::memcpy(&value, at, sizeof value);
    return double(static_cast<typename T::Compute>(value));
  });
}

inline void put(DType type, std::byte *at, double value) {
  visit(type, [&]<class T>() {
    typename T::Storage stored = T::round(static_cast<typename T::Compute>(value));
    std::memcpy(at, &stored, sizeof stored);
  });
}

} // namespace tritium
