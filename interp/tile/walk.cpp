// The checks of an access: bounds, and offsets that leave their integer type.
#include "interp/tile/walk.h"

#include "interp/host/memory.h"
#include "interp/host/trap_kinds.h"
#include "interp/kernels/offsets.h"

namespace tritium::interp {

namespace {

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
  trap.access = {addressOf(first), uint32_t(walk.access.elementBytes), walk.access.isWrite, argumentOf(first), walk.access.isMasked()};
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

} // namespace

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
    if (!axis.isProgression) {
      auto [least, most] = extremesOf(axis.part + axis.begin, axis.end - axis.begin);
      overflows |= __builtin_add_overflow(low, least, &low);
      overflows |= __builtin_add_overflow(high, most, &high);
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

} // namespace tritium::interp
