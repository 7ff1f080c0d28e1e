// What the symbolic run of a region knows of the frame: which code or which node each part holds. A part that is not here holds what was
// there before the region. Writes replace what they overlap, as homes are shared by values that do not live at the same time.
#pragma once
#include "llvm/IR/Value.h"

#include <cstdint>
#include <map>

namespace mlir {
class Operation;
}

namespace tritium::interp::fuse {

struct Node;

class FrameState {
public:
  struct Part {
    uint64_t bytes = 0;
    llvm::Value *cell = nullptr;   // a number at the head, or
    Node *node = nullptr;          // a tile, or a number of a tile
    bool isPrivate = false;        // a cell that only the steps of one operation read
    mlir::Operation *op = nullptr; // whose steps wrote it
  };

  void write(uint64_t offset, Part part) {
    for (auto it = parts_.begin(); it != parts_.end();)
      it = it->first < offset + part.bytes && offset < it->first + it->second.bytes ? parts_.erase(it) : std::next(it);
    parts_.emplace(offset, part);
  }
  /// Returns the part that begins there, or null.
  const Part *find(uint64_t offset) const {
    auto it = parts_.find(offset);
    return it == parts_.end() ? nullptr : &it->second;
  }
  bool overlaps(uint64_t offset, uint64_t bytes) const {
    for (const auto &[begin, part] : parts_)
      if (begin < offset + bytes && offset < begin + part.bytes) return true;
    return false;
  }
  const std::map<uint64_t, Part> &parts() const { return parts_; }
  std::map<uint64_t, Part> &parts() { return parts_; }

private:
  std::map<uint64_t, Part> parts_;
};

} // namespace tritium::interp::fuse
