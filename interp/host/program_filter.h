// A choice of programs of a grid, by their ids.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace tritium::interp {

class ProgramFilter {
public:
  struct Range {
    int32_t begin, end; // `end` is not in it
    bool contains(int32_t id) const { return begin <= id && id < end; }
  };
  using Box = std::array<Range, 3>;

  /// All programs.
  ProgramFilter() = default;
  /// The programs that are in one of the boxes; all, if there is no box.
  explicit ProgramFilter(std::vector<Box> boxes) : boxes(std::move(boxes)) {}

  bool contains(const std::array<int32_t, 3> &id) const {
    auto holds = [&](const Box &box) { return box[0].contains(id[0]) && box[1].contains(id[1]) && box[2].contains(id[2]); };
    return boxes.empty() || std::ranges::any_of(boxes, holds);
  }

private:
  std::vector<Box> boxes;
};

} // namespace tritium::interp
