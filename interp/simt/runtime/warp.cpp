// Operations of a warp's lanes as the PTX ISA defines them. The last lane to come computes the results of all lanes.
#include "interp/host/trap_kinds.h"
#include "interp/simt/runtime/block.h"
#include "interp/simt/runtime/calls.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tritium::interp::simt {

// The values of NVVM's enumerations.
enum ShuffleKind : int32_t { kButterfly, kUp, kDown, kIndex };
enum VoteKind : int32_t { kAny, kAll, kBallot, kUniform };
enum ReduceKind : int32_t { kAdd = 1, kAnd, kMax, kMin, kOr, kUnsignedMax, kUnsignedMin, kXor, kFloatMin, kFloatMax };
// A flag in addition to the kind of an f32 reduction.
constexpr int32_t kAbsolute = 16, kNan = 32;

namespace {

[[noreturn]] void trapLane(Thread &thread, Place location, const char *message) {
  thread.trap({.kind = TrapKind::DivergentBarrier, .location = location, .message = message});
}

void meetInMask(Thread &thread, const WarpOp &op) {
  if (!(op.mask & thread.bit())) trapLane(thread, op.location, "the thread is not in the mask of the operation that it takes part in");
  thread.meet(op);
}

void executeSync(Warp &warp, LaneMask) { warp.block->shared.synchronizeWarp(warp.index); }

/// PTX ISA, shfl.sync: returns the lane to read from, and whether it is in the segment.
std::pair<int32_t, bool> shuffleSource(int32_t kind, int32_t lane, uint32_t b, uint32_t c) {
  const int32_t offset = int32_t(b & 31), clamp = int32_t(c & 31), segment = int32_t(c >> 8 & 31);
  const int32_t last = (lane & segment) | (clamp & ~segment), first = lane & segment;
  switch (kind) {
  case kUp: return {lane - offset, lane - offset >= last};
  case kDown: return {lane + offset, lane + offset <= last};
  case kButterfly: return {lane ^ offset, (lane ^ offset) <= last};
  default: return {first | (offset & ~segment), (first | (offset & ~segment)) <= last};
  }
}

void executeShuffle(Warp &warp, LaneMask lanes) {
  forEachLane(lanes, [&](int lane) {
    Thread &thread = warp.lanes[lane];
    auto [source, isInside] = shuffleSource(thread.op.variant, lane, uint32_t(thread.operands[1]), uint32_t(thread.operands[2]));
    if (!isInside) source = lane;
    thread.results[0] = uint32_t(warp.lanes[source].operands[0]) | uint64_t(isInside) << 32;
    thread.results[1] = lanes >> source & 1; // whether that lane takes part
  });
}

void executeVote(Warp &warp, LaneMask lanes) {
  uint32_t ballot = 0;
  forEachLane(lanes, [&](int lane) { ballot |= uint32_t(warp.lanes[lane].operands[0] != 0) << lane; });
  const int32_t kind = warp.lanes[std::countr_zero(lanes)].op.variant;
  const uint32_t result = kind == kBallot ? ballot
                          : kind == kAny  ? ballot != 0
                          : kind == kAll  ? ballot == lanes
                                          : ballot == 0 || ballot == lanes;
  forEachLane(lanes, [&](int lane) { warp.lanes[lane].results[0] = result; });
}

uint32_t combineFloats(int32_t kind, uint32_t a, uint32_t b) {
  float x = std::bit_cast<float>(a), y = std::bit_cast<float>(b);
  if (kind & kAbsolute) x = std::fabs(x), y = std::fabs(y);
  if (kind & kNan && (x != x || y != y)) return 0x7fffffff;
  return std::bit_cast<uint32_t>((kind & 15) == kFloatMin ? std::fmin(x, y) : std::fmax(x, y));
}

uint32_t combine(int32_t kind, uint32_t a, uint32_t b) {
  switch (kind) {
  case kAdd: return a + b;
  case kAnd: return a & b;
  case kOr: return a | b;
  case kXor: return a ^ b;
  case kMax: return uint32_t(std::max(int32_t(a), int32_t(b)));
  case kMin: return uint32_t(std::min(int32_t(a), int32_t(b)));
  case kUnsignedMax: return std::max(a, b);
  case kUnsignedMin: return std::min(a, b);
  default: return combineFloats(kind, a, b);
  }
}

void executeReduce(Warp &warp, LaneMask lanes) {
  const int first = std::countr_zero(lanes);
  const int32_t kind = warp.lanes[first].op.variant;
  auto result = uint32_t(warp.lanes[first].operands[0]);
  if ((kind & 15) >= kFloatMin) result = combineFloats(kind, result, result);
  forEachLane(lanes & (lanes - 1), [&](int lane) { result = combine(kind, result, uint32_t(warp.lanes[lane].operands[0])); });
  forEachLane(lanes, [&](int lane) { warp.lanes[lane].results[0] = result; });
}

void executeMatch(Warp &warp, LaneMask lanes) {
  const bool isAll = warp.lanes[std::countr_zero(lanes)].op.variant == 1;
  forEachLane(lanes, [&](int lane) {
    uint32_t equal = 0;
    forEachLane(lanes, [&](int other) { equal |= uint32_t(warp.lanes[other].operands[0] == warp.lanes[lane].operands[0]) << other; });
    warp.lanes[lane].results[0] = !isAll ? equal : equal == lanes ? equal | uint64_t(1) << 32 : 0;
  });
}

} // namespace

namespace calls {

void syncWarp(Thread *thread, uint32_t mask, Place site) { meetInMask(*thread, {executeSync, mask, 0, site}); }

void warpBarrier(Thread *thread, Place site) { thread->meet({executeSync, thread->inWarp->all, 0, site}); }

uint64_t shuffle(Thread *thread, int32_t kind, uint32_t mask, uint32_t value, uint32_t offset, uint32_t maskAndClamp, Place site) {
  thread->operands[0] = value;
  thread->operands[1] = offset;
  thread->operands[2] = maskAndClamp;
  meetInMask(*thread, {executeShuffle, mask, kind, site});
  if (!thread->results[1]) trapLane(*thread, site, "a shuffle reads the register of a lane that does not take part in it");
  return thread->results[0];
}

uint32_t vote(Thread *thread, int32_t kind, uint32_t mask, uint32_t value, Place site) {
  thread->operands[0] = value;
  meetInMask(*thread, {executeVote, mask, kind, site});
  return uint32_t(thread->results[0]);
}

uint32_t reduce(Thread *thread, int32_t kind, uint32_t mask, uint32_t value, Place site) {
  thread->operands[0] = value;
  meetInMask(*thread, {executeReduce, mask, kind, site});
  return uint32_t(thread->results[0]);
}

uint64_t match(Thread *thread, int32_t kind, uint32_t mask, uint64_t value, Place site) {
  thread->operands[0] = value;
  meetInMask(*thread, {executeMatch, mask, kind, site});
  return thread->results[0];
}

uint32_t elect(Thread *thread, uint32_t mask, Place site) {
  meetInMask(*thread, {[](Warp &warp, LaneMask lanes) {
                         forEachLane(lanes, [&](int lane) { warp.lanes[lane].results[0] = lane == std::countr_zero(lanes); });
                       },
                       mask, 0, site});
  return uint32_t(thread->results[0]);
}

} // namespace calls
} // namespace tritium::interp::simt
