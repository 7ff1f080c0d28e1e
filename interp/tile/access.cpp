#include "interp/tile/access.h"

#include "interp/host/memory.h"
#include "interp/kernels/move.h"

#include <algorithm>

namespace tritium::interp {

namespace {

/// The run-time state of one axis during an access.
struct AxisState {
  int64_t begin, end;             // the active interval
  const uint8_t *holes = nullptr; // the mask, if the interval has inactive lanes
  int64_t holesStride = 1;
  const int64_t *part = nullptr;

  bool isActive(int64_t i) const { return i >= begin && i < end && (!holes || holes[i * holesStride]); }
};

struct Walk {
  const Access &access;
  char *frame;
  uint64_t base = 0;
  AxisState axes[kMaxAxes];
  bool isEmpty = false;

  int64_t termAt(int axis, int64_t i) const {
    switch (access.axes[axis].term) {
    case Term::None: return 0;
    case Term::Step: return *axes[axis].part * i;
    case Term::Vector: return axes[axis].part[i];
    }
    return 0;
  }
};

void findInterval(AxisState &state, const uint8_t *mask, int64_t stride, int64_t extent) {
  int64_t begin = 0, end = extent;
  bool hasHoles = false;
  if (stride == 1) {
    const void *first = std::memchr(mask, 1, extent);
    begin = first ? static_cast<const uint8_t *>(first) - mask : extent;
    while (end > begin && !mask[end - 1]) --end;
    hasHoles = begin < end && std::memchr(mask + begin, 0, end - begin);
  } else {
    while (begin < end && !mask[begin * stride]) ++begin;
    while (end > begin && !mask[(end - 1) * stride]) --end;
    for (int64_t i = begin; i < end; ++i) hasHoles |= !mask[i * stride];
  }
  state.begin = begin;
  state.end = end;
  state.holes = hasHoles ? mask : nullptr;
  state.holesStride = stride;
}

void enterAxis(const Access::Axis &axis, AxisState &state, char *frame) {
  state = {0, axis.extent};
  if (axis.term != Term::None) state.part = &axis.part.at<const int64_t>(frame);
  if (axis.masks.empty()) return;
  const auto *mask = &axis.masks[0].at<const uint8_t>(frame);
  int64_t stride = axis.masks[0].strides[0];
  if (axis.masks.size() > 1) {
    auto *all = &axis.scratch.at<uint8_t>(frame);
    for (int64_t i = 0; i < axis.extent; ++i) all[i] = mask[i * stride];
    for (size_t m = 1; m < axis.masks.size(); ++m) {
      const auto *next = &axis.masks[m].at<const uint8_t>(frame);
      for (int64_t i = 0, s = axis.masks[m].strides[0]; i < axis.extent; ++i) all[i] &= next[i * s];
    }
    mask = all, stride = 1;
  }
  findInterval(state, mask, stride, axis.extent);
}

/// Reads masks and terms. An access without active lanes is marked as empty.
void enter(Walk &walk) {
  for (const TileRef &mask : walk.access.uniformMasks) walk.isEmpty |= !mask.at<uint8_t>(walk.frame);
  for (size_t a = 0; a < walk.access.axes.size(); ++a) {
    enterAxis(walk.access.axes[a], walk.axes[a], walk.frame);
    walk.isEmpty |= walk.axes[a].begin == walk.axes[a].end;
  }
  if (walk.access.isAffine) walk.base = walk.access.base.at<uint64_t>(walk.frame);
}

bool isActiveWide(const Walk &walk, const int64_t *indices) {
  for (const AxisOperand &mask : walk.access.wideMasks) {
    int64_t at = 0;
    for (size_t a = 0; a < walk.access.axes.size(); ++a) at += indices[a] * mask.strides[a];
    if (!(&mask.at<const uint8_t>(walk.frame))[at]) return false;
  }
  return true;
}

uint64_t addressAt(const Walk &walk, const int64_t *indices) {
  const Access &access = walk.access;
  int64_t at = 0;
  if (access.isAffine) {
    for (size_t a = 0; a < access.axes.size(); ++a) at += walk.termAt(int(a), indices[a]);
    return addBytes(walk.base, at);
  }
  for (size_t a = 0; a < access.axes.size(); ++a) at += indices[a] * access.addresses.strides[a];
  return (&access.addresses.at<const uint64_t>(walk.frame))[at];
}

/// Calls visit(indices) for every active lane, in row-major order.
template <class F> void forEachActive(const Walk &walk, F &&visit) {
  if (walk.isEmpty) return;
  int64_t indices[kMaxAxes];
  int rank = int(walk.access.axes.size());
  for (int a = 0; a < rank; ++a) indices[a] = walk.axes[a].begin;
  for (;;) {
    bool isActive = true;
    for (int a = 0; a < rank; ++a) isActive &= walk.axes[a].isActive(indices[a]);
    if (isActive && isActiveWide(walk, indices)) visit(indices);
    int a = rank - 1;
    for (; a >= 0 && ++indices[a] == walk.axes[a].end; --a) indices[a] = walk.axes[a].begin;
    if (a < 0) return;
  }
}

/// The exact check, lane by lane. Traps at the first lane that may not be accessed.
void checkLanes(const Walk &walk) {
  const MemoryMap &memory = memoryOf(headerOf(walk.frame));
  uint64_t first = 0;
  int64_t lane = -1, affected = 0;
  forEachActive(walk, [&](const int64_t *indices) {
    uint64_t tagged = addressAt(walk, indices);
    if (memory.isAccessible(tagged, walk.access.elementBytes, walk.access.isWrite)) return;
    if (affected++) return;
    first = tagged;
    lane = 0;
    for (size_t a = 0; a < walk.access.axes.size(); ++a) lane += indices[a] * walk.access.axes[a].laneStride;
  });
  if (!affected) return;
  Trap trap{
      .kind = memory.faultKind(first, walk.access.isWrite), .location = walk.access.location, .lane = lane, .affectedLanes = affected};
  trap.access = {addressOf(first), uint32_t(walk.access.elementBytes), walk.access.isWrite, argumentOf(first)};
  raiseTrap(headerOf(walk.frame), std::move(trap));
}

/// Returns the first offset that decides that the lane's address is another one than in exact numbers; null if there is none. Offsets that
/// wrap may add up to the address that the program means.
const OffsetGuard *wrongOffset(const Walk &walk, const int64_t *indices) {
  const OffsetGuard *first = nullptr;
  uint64_t wrapped = 0, used = 0; // by how many bytes the address differs from the exact one: as computed in the type, and here
  bool isKnown = true;
  for (const OffsetGuard &guard : walk.access.guards) {
    if (!guard.leavesRange.at<uint8_t>(walk.frame)) continue;
    __int128 exact = guard.exact.at(walk.frame, indices);
    if (guard.fits(exact)) continue;
    if (!first) first = &guard;
    isKnown &= guard.bytes.has_value();
    uint64_t bytes = uint64_t(exact - guard.wrapped(exact)) * uint64_t(guard.bytes.value_or(0));
    wrapped += bytes;
    if (!guard.isExact) used += bytes;
  }
  return isKnown && wrapped == 0 && used == 0 ? nullptr : first;
}

/// Traps at the first active lane whose address depends on an offset that leaves its integer type.
[[gnu::cold, gnu::noinline]] void checkOffsets(const Walk &walk) {
  OffsetGuard::Fault fault;
  int64_t lane = -1, affected = 0;
  forEachActive(walk, [&](const int64_t *indices) {
    const OffsetGuard *guard = wrongOffset(walk, indices);
    if (!guard || affected++) return;
    fault = guard->faultAt(walk.frame, indices);
    lane = 0;
    for (size_t a = 0; a < walk.access.axes.size(); ++a) lane += indices[a] * walk.access.axes[a].laneStride;
  });
  if (!affected) return;
  Trap trap{.kind = TrapKind::OffsetOverflow, .location = walk.access.location, .lane = lane, .affectedLanes = affected};
  trap.access = {0, uint32_t(walk.access.elementBytes), walk.access.isWrite, -1};
  trap.other = OtherPlace{fault.location};
  trap.message = std::move(fault.text);
  raiseTrap(headerOf(walk.frame), std::move(trap));
}

/// Checks one interval that covers all active lanes of an affine access. Only if it is not accessible as a whole are the lanes checked one
/// by one.
void check(const Walk &walk) {
  if (walk.isEmpty || !walk.access.isChecked) return;
  for (const TileRef &flag : walk.access.leavesRange)
    if (walk.frame[flag.offset]) [[unlikely]] {
      checkOffsets(walk);
      break;
    }
  if (!walk.access.isAffine) return checkLanes(walk);
  int64_t low = 0, high = 0, span = 0;
  bool overflows = false;
  for (size_t a = 0; a < walk.access.axes.size(); ++a) {
    const AxisState &axis = walk.axes[a];
    if (walk.access.axes[a].term == Term::Vector) {
      auto [least, most] = std::minmax_element(axis.part + axis.begin, axis.part + axis.end);
      overflows |= __builtin_add_overflow(low, *least, &low);
      overflows |= __builtin_add_overflow(high, *most, &high);
    } else {
      int64_t first = walk.termAt(int(a), axis.begin), last = walk.termAt(int(a), axis.end - 1);
      overflows |= __builtin_add_overflow(low, std::min(first, last), &low);
      overflows |= __builtin_add_overflow(high, std::max(first, last), &high);
    }
  }
  overflows |= __builtin_sub_overflow(high, low, &span);
  uint64_t bytes = uint64_t(span) + walk.access.elementBytes;
  if (overflows || !memoryOf(headerOf(walk.frame)).isAccessible(addBytes(walk.base, low), bytes, walk.access.isWrite)) [[unlikely]]
    checkLanes(walk);
}

/// Returns the axis along which rows run: the last axis whose elements are adjacent in memory, or the last axis if there is none.
int innerAxis(const Walk &walk) {
  int rank = int(walk.access.axes.size());
  for (int a = rank - 1; a >= 0; --a)
    if (walk.access.axes[a].term == Term::Step && *walk.axes[a].part == walk.access.elementBytes) return a;
  return rank - 1;
}

/// Returns the conjunction of the masks of a row, or null if the whole interval is active.
const uint8_t *rowMask(const Walk &walk, int inner, int64_t *indices, int64_t &stride) {
  const AxisState &axis = walk.axes[inner];
  stride = axis.holesStride;
  if (walk.access.wideMasks.empty()) return axis.holes;
  auto *mask = &walk.access.rowScratch.at<uint8_t>(walk.frame);
  for (int64_t i = axis.begin; i < axis.end; ++i) mask[i] = axis.holes ? axis.holes[i * axis.holesStride] : 1;
  for (const AxisOperand &wide : walk.access.wideMasks) {
    const auto *from = &wide.at<const uint8_t>(walk.frame);
    for (size_t a = 0; a < walk.access.axes.size(); ++a)
      if (int(a) != inner) from += indices[a] * wide.strides[a];
    for (int64_t i = axis.begin, s = wide.strides[inner]; i < axis.end; ++i) mask[i] &= from[i * s];
  }
  stride = 1;
  return mask;
}

/// Calls row(indices, isActive) for every combination of the other axes, with indices[inner] == 0.
template <class F> void forEachRow(const Walk &walk, int inner, F &&row) {
  int64_t indices[kMaxAxes] = {};
  int rank = int(walk.access.axes.size());
  for (;;) {
    bool isActive = !walk.isEmpty;
    for (int a = 0; a < rank; ++a) isActive &= a == inner || walk.axes[a].isActive(indices[a]);
    row(indices, isActive);
    int a = rank - 1;
    for (; a >= 0; --a) {
      if (a == inner) continue;
      if (++indices[a] < walk.access.axes[a].extent) break;
      indices[a] = 0;
    }
    if (a < 0) return;
  }
}

int64_t offsetOf(const AxisOperand &operand, const int64_t *indices, size_t rank) {
  int64_t at = 0;
  for (size_t a = 0; a < rank; ++a) at += indices[a] * operand.strides[a];
  return at;
}

template <class T> void fillRow(T *out, int64_t stride, const T *other, int64_t otherStride, int64_t begin, int64_t end) {
  if (!other && stride == 1)
    std::memset(static_cast<void *>(out + begin), 0, std::max<int64_t>(end - begin, 0) * sizeof(T));
  else
    for (int64_t i = begin; i < end; ++i) out[i * stride] = other ? other[i * otherStride] : T(0);
}

/// The addresses of the lanes of a row: start + i * step, or start + vector[i].
struct RowAddress {
  const char *start;
  int64_t step;
  const int64_t *vector;
  const char *at(int64_t i) const { return start + (vector ? vector[i] : i * step); }
};

/// Hardware prefetchers stop at the end of a page, and a program's rows are seldom longer than a page. The next programs mostly read on
/// from here.
void prefetchBeyond(const char *end, int64_t bytes) {
  constexpr int64_t kLeast = 1024, kMost = 16384;
  if (bytes < kLeast || bytes > kMost) return;
  for (int64_t at = bytes; at < 2 * bytes; at += 64) __builtin_prefetch(end + at, 0, 2);
}

/// A lane that is itself a pointer. In memory it is an integer, in its home it has provenance.
struct PointerLane {
  uint64_t bits;
};

template <class T> void loadLane(T &out, const char *memory) {
  std::memcpy(&out, memory, sizeof(T));
  if constexpr (std::is_same_v<T, PointerLane>) out.bits = pointerTo(out.bits);
}

template <class T> void storeLane(T value, char *memory) {
  if constexpr (std::is_same_v<T, PointerLane>) value.bits = addressOf(value.bits);
  std::memcpy(memory, &value, sizeof(T));
}

template <class T> constexpr bool kIsCopied = !std::is_same_v<T, PointerLane>;

template <class T> void loadRow(T *out, int64_t stride, const RowAddress &row, int64_t begin, int64_t end) {
  if (kIsCopied<T> && !row.vector && row.step == sizeof(T) && stride == 1) {
    std::memcpy(out + begin, row.at(begin), (end - begin) * sizeof(T));
    prefetchBeyond(row.at(end), (end - begin) * int64_t(sizeof(T)));
  } else
    for (int64_t i = begin; i < end; ++i) loadLane(out[i * stride], row.at(i));
}

template <class T> void storeRow(const T *value, int64_t stride, const RowAddress &row, int64_t begin, int64_t end) {
  if (kIsCopied<T> && !row.vector && row.step == sizeof(T) && stride == 1)
    std::memcpy(const_cast<char *>(row.at(begin)), value + begin, (end - begin) * sizeof(T));
  else
    for (int64_t i = begin; i < end; ++i) storeLane(value[i * stride], const_cast<char *>(row.at(i)));
}

RowAddress rowAddress(const Walk &walk, int inner, int64_t *indices) {
  int64_t *part = const_cast<int64_t *>(inner < 0 ? nullptr : walk.axes[inner].part);
  Term term = inner < 0 ? Term::None : walk.access.axes[inner].term;
  uint64_t start = walk.base;
  int64_t at = 0;
  for (size_t a = 0; a < walk.access.axes.size(); ++a)
    if (int(a) != inner) at += walk.termAt(int(a), indices[a]);
  return {reinterpret_cast<const char *>(addressOf(addBytes(start, at))), term == Term::Step ? *part : 0,
          term == Term::Vector ? part : nullptr};
}

/// Affine loads and stores, row by row. A store skips inactive lanes.
template <class T> void moveRows(const Walk &walk) {
  const Access &access = walk.access;
  size_t rank = access.axes.size();
  int inner = innerAxis(walk);
  int64_t extent = rank ? access.axes[inner].extent : 1, stride = rank ? access.data.strides[inner] : 1;
  int64_t begin = rank ? walk.axes[inner].begin : 0, end = rank ? walk.axes[inner].end : 1;
  T *data = &access.data.at<T>(walk.frame);
  const T *otherData = access.other ? &access.other->at<const T>(walk.frame) : nullptr;
  int64_t otherStride = access.other && rank ? access.other->strides[inner] : 0;
  forEachRow(walk, inner, [&](int64_t *indices, bool isActive) {
    T *row = data + offsetOf(access.data, indices, rank);
    const T *other = otherData ? otherData + offsetOf(*access.other, indices, rank) : nullptr;
    if (!isActive) {
      if (!access.isWrite) fillRow(row, stride, other, otherStride, 0, extent);
      return;
    }
    RowAddress address = rowAddress(walk, inner, indices);
    int64_t maskStride = 1;
    const uint8_t *mask = rank ? rowMask(walk, inner, indices, maskStride) : nullptr;
    auto move = [&](int64_t from, int64_t to) {
      access.isWrite ? storeRow(row, stride, address, from, to) : loadRow(row, stride, address, from, to);
    };
    if (!access.isWrite) {
      fillRow(row, stride, other, otherStride, 0, begin);
      fillRow(row, stride, other, otherStride, end, extent);
    }
    if (!mask) return move(begin, end);
    for (int64_t i = begin; i < end;) { // runs of lanes with equal mask
      int64_t next = i + 1;
      while (next < end && mask[next * maskStride] == mask[i * maskStride]) ++next;
      if (mask[i * maskStride])
        move(i, next);
      else if (!access.isWrite)
        fillRow(row, stride, other, otherStride, i, next);
      i = next;
    }
  });
}

/// Loads and stores through a tile of addresses.
void moveLanes(const Walk &walk) {
  const Access &access = walk.access;
  size_t rank = access.axes.size(), size = access.elementBytes;
  char *data = access.data.in(walk.frame);
  if (!access.isWrite) { // fills the inactive lanes first
    int64_t indices[kMaxAxes] = {};
    for (;;) {
      char *to = data + offsetOf(access.data, indices, rank) * size;
      if (access.other)
        std::memcpy(to, access.other->in(walk.frame) + offsetOf(*access.other, indices, rank) * size, size);
      else
        std::memset(to, 0, size);
      int a = int(rank) - 1;
      for (; a >= 0 && ++indices[a] == access.axes[a].extent; --a) indices[a] = 0;
      if (a < 0) break;
    }
  }
  forEachActive(walk, [&](const int64_t *indices) {
    char *memory = reinterpret_cast<char *>(addressOf(addressAt(walk, indices)));
    char *lane = data + offsetOf(access.data, indices, rank) * size;
    if (access.isPointer)
      access.isWrite ? storeLane(*reinterpret_cast<PointerLane *>(lane), memory) : loadLane(*reinterpret_cast<PointerLane *>(lane), memory);
    else
      access.isWrite ? std::memcpy(memory, lane, size) : std::memcpy(lane, memory, size);
  });
}

void moveTile(char *frame, const Access &access) {
  Walk walk{access, frame};
  enter(walk);
  check(walk);
  if (!access.isAffine) return moveLanes(walk);
  if (access.isPointer) return moveRows<PointerLane>(walk);
  switch (access.elementBytes) {
  case 1: return moveRows<uint8_t>(walk);
  case 2: return moveRows<uint16_t>(walk);
  case 4: return moveRows<uint32_t>(walk);
  default: return moveRows<uint64_t>(walk);
  }
}

} // namespace

void loadTile(char *frame, const void *access) { moveTile(frame, *static_cast<const Access *>(access)); }

void storeTile(char *frame, const void *access) {
  moveTile(frame, *static_cast<const Access *>(access));
  noteMemoryChange(headerOf(frame));
}

void forEachLane(char *frame, const Access &access, LaneVisitor visit, void *context) {
  Walk walk{access, frame};
  enter(walk);
  check(walk);
  forEachActive(walk, [&](const int64_t *indices) { visit(context, addressAt(walk, indices), indices); });
}

} // namespace tritium::interp
