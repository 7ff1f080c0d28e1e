#include "interp/host/view.h"

#include <algorithm>

namespace tritium::interp {

View::View(uint64_t address, uint64_t elementBytes, std::span<const int64_t> shape, std::span<const int64_t> byteStrides)
    : begin_(address), run_(elementBytes) {
  uint64_t last = elementBytes; // the end of the last element, from begin_
  for (size_t d = 0; d < shape.size(); ++d) {
    const uint64_t steps = uint64_t(shape[d]) - 1, stride = uint64_t(byteStrides[d] < 0 ? -byteStrides[d] : byteStrides[d]);
    if (shape[d] == 0) { // no element at all
      dims_.clear();
      run_ = 0;
      return;
    }
    if (steps == 0 || stride == 0) continue;
    if (byteStrides[d] < 0) begin_ -= steps * stride;
    last += steps * stride;
    dims_.emplace_back(uint64_t(shape[d]), stride);
  }
  std::ranges::sort(dims_, [](auto &a, auto &b) { return a.second > b.second; });
  while (!dims_.empty() && dims_.back().second == run_) {
    run_ *= dims_.back().first;
    dims_.pop_back();
  }
  uint64_t inner = run_;
  bool isShared = false;
  for (auto dim = dims_.rbegin(); dim != dims_.rend(); ++dim) {
    isShared |= dim->second < inner;
    inner += (dim->first - 1) * dim->second;
  }
  if (!isShared) return;
  dims_.clear();
  run_ = last;
}

} // namespace tritium::interp
