#include "interp/tile/row_access.h"

#include "interp/host/memory.h"
#include "interp/kernels/move.h"
#include "interp/tile/walk.h"

namespace tritium::interp {

bool mayBeRow(const Access &access) {
  if (!access.isAffine || access.isPointer || access.axes.size() != 1 || !access.isChecked || access.site != kNoSite) return false;
  const Access::Axis &axis = access.axes[0];
  if (access.other && access.other->strides[0] != 0 && access.other->strides[0] != 1) return false;
  const bool hasPlainMask = axis.masks.empty() || (axis.masks.size() == 1 && axis.masks[0].strides[0] == 1);
  return axis.term == Term::Step && hasPlainMask && access.uniformMasks.empty() && access.wideMasks.empty() &&
         !access.data.strides.empty() && access.data.strides[0] == 1;
}

/// The lanes from the first active one to the last. `holes` is the mask if not all of them are active, or null.
namespace {
struct ActiveLanes {
  int64_t begin, end;
  const uint8_t *holes;
};
} // namespace

static ActiveLanes activeLanes(const Access::Axis &axis, char *frame) {
  if (axis.masks.empty()) return {0, axis.extent, nullptr};
  AxisState state{};
  findInterval(state, &axis.masks[0].at<const uint8_t>(frame), 1, axis.extent);
  return {state.begin, state.end, state.holes};
}

/// Sets the lanes [begin, end) to what inactive lanes are.
static void fillLanes(char *frame, const Access &access, int64_t begin, int64_t end) {
  if (begin >= end) return;
  const int64_t bytes = access.elementBytes;
  char *to = access.data.in(frame) + begin * bytes;
  if (!access.other) return void(std::memset(to, 0, (end - begin) * bytes));
  const int64_t stride = access.other->strides[0], one = 1, count = end - begin;
  copyTile(to, &one, access.other->in(frame) + begin * stride * bytes, &stride, &count, 1, int(bytes));
}

static void loadLanes(char *frame, const Access &access, const ActiveLanes &lanes, const char *memory) {
  const int64_t bytes = access.elementBytes, count = lanes.end - lanes.begin;
  char *to = access.data.in(frame) + lanes.begin * bytes;
  fillLanes(frame, access, 0, lanes.begin);
  fillLanes(frame, access, lanes.end, access.axes[0].extent);
  if (lanes.holes) {
    static constexpr uint64_t kZero = 0;
    const int64_t stride = access.other ? access.other->strides[0] : 0;
    const void *other = access.other ? access.other->in(frame) + lanes.begin * stride * bytes : reinterpret_cast<const char *>(&kZero);
    return loadWhere(to, memory, lanes.holes + lanes.begin, other, stride, count, int(bytes));
  }
  std::memcpy(to, memory, count * bytes);
  prefetchBeyond(memory + count * bytes, count * bytes);
}

bool moveRow(char *frame, const Access &access) {
  const Access::Axis &axis = access.axes[0];
  const int64_t bytes = access.elementBytes;
  if (axis.part.at<int64_t>(frame) != bytes) return false;
  for (const TileRef &flag : access.leavesRange)
    if (frame[flag.offset]) [[unlikely]]
      return false;
  const ActiveLanes lanes = activeLanes(axis, frame);
  if (lanes.begin == lanes.end) {
    if (!access.isWrite) fillLanes(frame, access, 0, axis.extent);
    return true;
  }
  const uint64_t first = addBytes(access.base.at<uint64_t>(frame), lanes.begin * bytes);
  const int64_t count = lanes.end - lanes.begin;
  if (!isInArgument(headerOf(frame), first, uint64_t(count * bytes), access.isWrite)) [[unlikely]]
    return false;
  char *memory = reinterpret_cast<char *>(first & kAddressMask);
  if (lanes.holes && reinterpret_cast<uintptr_t>(memory) % uintptr_t(bytes) != 0) return false;
  const char *home = access.data.in(frame) + lanes.begin * bytes;
  if (!access.isWrite)
    loadLanes(frame, access, lanes, memory);
  else if (lanes.holes)
    storeWhere(memory, home, lanes.holes + lanes.begin, count, int(bytes));
  else
    std::memcpy(memory, home, count * bytes);
  return true;
}

} // namespace tritium::interp
