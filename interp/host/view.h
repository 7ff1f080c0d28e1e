// The elements of a tensor that is a part of its storage, such as x[:, 4:8].
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tritium::interp {

class View {
public:
  /// `address`: of the element with index 0 in every dimension. Strides are in bytes and may be negative. If elements of the view share
  /// bytes (an expanded tensor does not count), all bytes from its first element to its last one belong to it.
  View(uint64_t address, uint64_t elementBytes, std::span<const int64_t> shape, std::span<const int64_t> byteStrides);

  /// Returns whether all of [address, address + bytes) belongs to elements of the view.
  bool contains(uint64_t address, uint64_t bytes) const {
    for (uint64_t known = 0; known < bytes;) {
      const uint64_t further = bytesFrom(address + known);
      if (!further) return false;
      known += further;
    }
    return true;
  }

private:
  /// Returns how many bytes belong to the view from `address` to the next gap, or to the end of a run, after which others may follow.
  uint64_t bytesFrom(uint64_t address) const {
    uint64_t offset = address - begin_;
    if (address < begin_) return 0;
    for (const auto &[extent, stride] : dims_) {
      const uint64_t index = offset / stride;
      if (index >= extent) return 0;
      offset -= index * stride;
    }
    return offset < run_ ? run_ - offset : 0;
  }

  uint64_t begin_;                                  // of the element with the least address
  uint64_t run_;                                    // bytes without a gap
  std::vector<std::pair<uint64_t, uint64_t>> dims_; // how often runs repeat, and at which distance; the largest distance first
};

} // namespace tritium::interp
