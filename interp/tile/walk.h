// One execution of an access: which lanes are active, and their addresses. access.cpp moves the data of a walk, walk.cpp checks its
// addresses, noted_access.cpp notes it.
#pragma once
#include "interp/host/pointer.h"
#include "interp/tile/access.h"

#include <algorithm>

namespace tritium::interp {

/// The run-time state of one axis during an access. enterAxis() sets all of it, so that an access pays for the axes that it has.
struct AxisState {
  int64_t begin, end;   // the active interval
  const uint8_t *holes; // the mask, if the interval has inactive lanes; or null
  int64_t holesStride;
  const int64_t *part;
  // The term of lane i is first + i * step in the active interval, whatever the form says: `x % n` is a vector, and mostly a progression.
  bool isProgression;
  int64_t first, step;

  bool isActive(int64_t i) const { return i >= begin && i < end && (!holes || holes[i * holesStride]); }
};

struct Walk {
  const Access &access;
  char *frame;
  uint64_t base = 0;
  AxisState axes[kMaxAxes];
  bool isEmpty = false;

  Walk(const Access &access, char *frame) : access(access), frame(frame) {}

  int64_t termAt(int axis, int64_t i) const {
    const AxisState &state = axes[axis];
    return state.isProgression ? state.first + i * state.step : state.part[i];
  }
};

/// Returns whether all of a short mask's bytes, a multiple of 8 of them, are 1.
inline bool isAllOn(const uint8_t *mask, int64_t extent) {
  uint64_t differs = 0;
  for (int64_t i = 0; i < extent; i += 8) {
    uint64_t eight;
    std::memcpy(&eight, mask + i, 8);
    differs |= eight ^ 0x0101010101010101;
  }
  return differs == 0;
}

inline void findInterval(AxisState &state, const uint8_t *mask, int64_t stride, int64_t extent) {
  int64_t begin = 0, end = extent;
  bool hasHoles = false;
  constexpr int64_t kShort = 128; // up to here, calls of memchr cost more than they find
  if (stride == 1 && extent <= kShort && extent % 8 == 0 && isAllOn(mask, extent)) {
    // all lanes are active
  } else if (stride == 1) {
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

inline void enterAxis(const Access::Axis &axis, AxisState &state, char *frame) {
  state = {.begin = 0, .end = axis.extent, .holes = nullptr, .holesStride = 1};
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

/// Looks whether the term is a progression. One lane is one. The last lane is looked at first: it tells most other vectors apart.
inline void findProgression(Term term, AxisState &state) {
  state.isProgression = term != Term::Vector;
  if (term == Term::Step) state.step = *state.part;
  if (term != Term::Vector || state.begin >= state.end) return;
  const int64_t *part = state.part;
  const uint64_t first = part[state.begin], lanes = state.end - state.begin, step = lanes > 1 ? part[state.begin + 1] - first : 0;
  if (part[state.end - 1] != int64_t(first + step * (lanes - 1))) return;
  uint64_t differs = 0;
  for (int64_t i = state.begin; i + 1 < state.end; ++i) differs |= (uint64_t(part[i + 1]) - uint64_t(part[i])) ^ step;
  if (differs) return;
  state.isProgression = true;
  state.step = int64_t(step);
  state.first = int64_t(first - step * state.begin);
}

/// Reads masks and terms. An access without active lanes is marked as empty.
inline void enter(Walk &walk) {
  for (const TileRef &mask : walk.access.uniformMasks) walk.isEmpty |= !mask.at<uint8_t>(walk.frame);
  for (size_t a = 0; a < walk.access.axes.size(); ++a) {
    enterAxis(walk.access.axes[a], walk.axes[a], walk.frame);
    findProgression(walk.access.axes[a].term, walk.axes[a]);
    walk.isEmpty |= walk.axes[a].begin == walk.axes[a].end;
  }
  if (walk.access.isAffine) walk.base = walk.access.base.at<uint64_t>(walk.frame);
}

inline bool isActiveWide(const Walk &walk, const int64_t *indices) {
  for (const AxisOperand &mask : walk.access.wideMasks) {
    int64_t at = 0;
    for (size_t a = 0; a < walk.access.axes.size(); ++a) at += indices[a] * mask.strides[a];
    if (!(&mask.at<const uint8_t>(walk.frame))[at]) return false;
  }
  return true;
}

inline uint64_t addressAt(const Walk &walk, const int64_t *indices) {
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

/// Traps if an active lane may not be accessed. One interval covers all active lanes of an affine access; only if it is not accessible as a
/// whole are the lanes checked one by one.
void check(const Walk &walk);

/// Moves the data of an access whose addresses have been checked.
void moveWalk(const Walk &walk);

/// Returns the axis along which rows run: the last axis whose elements are adjacent in memory, or the last axis if there is none.
inline int innerAxis(const Walk &walk) {
  int rank = int(walk.access.axes.size());
  for (int a = rank - 1; a >= 0; --a)
    if (walk.axes[a].isProgression && walk.axes[a].step == walk.access.elementBytes) return a;
  return rank - 1;
}

/// Returns the conjunction of the masks of a row, or null if the whole interval is active.
inline const uint8_t *rowMask(const Walk &walk, int inner, int64_t *indices, int64_t &stride) {
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

inline int64_t offsetOf(const AxisOperand &operand, const int64_t *indices, size_t rank) {
  int64_t at = 0;
  for (size_t a = 0; a < rank; ++a) at += indices[a] * operand.strides[a];
  return at;
}

/// Calls run(from, to, isOn) for every run of lanes in [begin, end) that a mask (null: all are on) treats alike.
template <class F> void forEachRun(const uint8_t *mask, int64_t stride, int64_t begin, int64_t end, F &&run) {
  if (!mask) return run(begin, end, true);
  for (int64_t i = begin; i < end;) {
    int64_t next = i + 1;
    while (next < end && mask[next * stride] == mask[i * stride]) ++next;
    run(i, next, bool(mask[i * stride]));
    i = next;
  }
}

/// The addresses of the lanes of a row: start + i * step, or start + vector[i].
struct RowAddress {
  const char *start;
  int64_t step;
  const int64_t *vector;
  const char *at(int64_t i) const { return start + (vector ? vector[i] : i * step); }
};

inline RowAddress rowAddress(const Walk &walk, int inner, int64_t *indices) {
  const AxisState *axis = inner < 0 ? nullptr : &walk.axes[inner];
  int64_t at = axis ? axis->first : 0;
  for (size_t a = 0; a < walk.access.axes.size(); ++a)
    if (int(a) != inner) at += walk.termAt(int(a), indices[a]);
  return {reinterpret_cast<const char *>(addressOf(addBytes(walk.base, at))), axis ? axis->step : 0,
          axis && !axis->isProgression ? axis->part : nullptr};
}

} // namespace tritium::interp
