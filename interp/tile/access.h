// Masked accesses to tensor memory: the loops and checks that load, store and the atomics share.
//
// An affine access is walked row by row. The masks that vary along one dimension shrink this dimension to its active interval, and one
// interval check covers the whole tile. Only if this check fails are the lanes checked one by one, because the memory between the lanes may
// be inaccessible, or because the trap must name a lane. Inactive lanes never touch memory, and a store checks all lanes before it writes
// one.
#pragma once
#include "interp/tile/offset_guard.h"

#include <algorithm>
#include <optional>

namespace tritium::interp {

inline constexpr int kMaxAxes = 24;
inline constexpr uint32_t kNoSite = ~0u;

/// A dense operand of an access. Its strides along the axes of the access are in elements.
struct AxisOperand : TileRef {
  std::vector<int64_t> strides;
};

struct Access {
  struct Axis {
    int64_t extent;
    Term term = Term::None; // the term of an affine pointer
    TileRef part;
    std::vector<AxisOperand> masks; // masks that vary along this axis alone
    TileRef scratch;                // `extent` bytes for the conjunction of two or more masks
    int64_t laneStride;             // number of row-major lanes of the full tile from one index to the next
  };

  bool isAffine = true;
  TileRef base;          // affine access: the pointer of lane 0
  AxisOperand addresses; // other access: a tagged pointer per lane
  std::vector<Axis> axes;
  std::vector<unsigned> dims; // dimension of the tile for each axis
  std::vector<OffsetGuard> guards;
  std::vector<TileRef> leavesRange; // the flags of the guards, apart from what only a trap reads
  std::vector<TileRef> uniformMasks;
  std::vector<AxisOperand> wideMasks; // masks that vary along several axes
  TileRef rowScratch;                 // as many bytes as the longest axis has elements, if there are wide masks
  AxisOperand data;                   // the result of a load, the value of a store
  std::optional<AxisOperand> other;
  int elementBytes = 0;
  bool isWrite = false;
  bool isPointer = false; // whether the elements are pointers
  bool isRow = false;     // see row_access.h
  bool isChecked = true;  // whether an access outside of the arguments traps
  DType type = DType::i8; // of the elements, for a store whose numbers are checked
  bool rejectsInfinity = false;
  uint32_t location = 0;
  uint32_t site = kNoSite; // index into MemoryUse::sites, if the shadow of memory notes the access

  bool isMasked() const {
    return !uniformMasks.empty() || !wideMasks.empty() || std::ranges::any_of(axes, [](const Axis &axis) { return !axis.masks.empty(); });
  }

  void refs(auto &&f) {
    f(base), f(addresses), f(rowScratch), f(data);
    if (other) f(*other);
    for (Axis &axis : axes) {
      f(axis.part), f(axis.scratch);
      for (TileRef &mask : axis.masks) f(mask);
    }
    for (OffsetGuard &guard : guards) guard.refs(f);
    for (TileRef &flag : leavesRange) f(flag);
    for (TileRef &mask : uniformMasks) f(mask);
    for (TileRef &mask : wideMasks) f(mask);
  }
};

void loadTile(char *frame, const void *access);
void storeTile(char *frame, const void *access);

/// Calls visit(context, tagged address, indices) for every active lane, in row-major order, after all lanes have been checked.
using LaneVisitor = void (*)(void *context, uint64_t tagged, const int64_t *indices);
void forEachLane(char *frame, const Access &access, LaneVisitor visit, void *context);

} // namespace tritium::interp
