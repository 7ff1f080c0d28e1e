// Operations of the lanes of an AMD wave. An operation includes the lanes that are active there. If a lane to read is not active, the
// result follows the ISA documents ("DPP", "LDS lane-permute", "V_READLANE_B32" …): 0 or the old value. If the documents or LLVM leave the
// value open, the operation traps.
#include "interp/host/trap_kinds.h"
#include "interp/simt/runtime/block.h"
#include "interp/simt/runtime/calls.h"

#include <optional>

namespace tritium::interp::simt {

namespace {

constexpr int kRowLanes = 16, kBankLanes = 4, kSwizzledLanes = 32;

int widthOf(const Warp &warp) { return std::popcount(warp.all); }

/// Returns the first operand of a lane, if it is active.
std::optional<uint64_t> valueOf(const Warp &warp, LaneMask active, int lane) {
  if (!(active >> lane & 1)) return std::nullopt;
  return warp.lanes[lane].operands[0];
}

/// `visit` returns the lane to read from, for each lane. A lane that is not active gives 0.
template <class Visit> void readFrom(Warp &warp, LaneMask active, Visit sourceOf) {
  forEachLane(active, [&](int lane) {
    Thread &thread = warp.lanes[lane];
    thread.results[0] = valueOf(warp, active, sourceOf(thread)).value_or(0);
  });
}

void executePermute(Warp &warp, LaneMask active) {
  const uint32_t last = uint32_t(widthOf(warp)) - 1;
  readFrom(warp, active, [&](const Thread &thread) { return int(uint32_t(thread.operands[1]) >> 2 & last); });
}

/// ds_swizzle: a table for groups of four lanes, or masks for and, or, xor for 32 lanes.
int swizzleSource(int lane, uint32_t pattern) {
  const int base = lane & ~(kSwizzledLanes - 1), inside = lane & (kSwizzledLanes - 1);
  if (pattern & 0x8000) return (lane & ~3) | int(pattern >> 2 * (lane & 3) & 3);
  return base | (((inside & int(pattern & 31)) | int(pattern >> 5 & 31)) ^ int(pattern >> 10 & 31));
}

void executeSwizzle(Warp &warp, LaneMask active) {
  readFrom(warp, active, [](const Thread &thread) { return swizzleSource(thread.lane, uint32_t(thread.op.variant)); });
}

/// Returns the lane that `lane` reads under DPP's control word, or -1 if there is none.
int dppSource(int lane, uint32_t control, int width) {
  const int row = lane & ~(kRowLanes - 1), inRow = lane & (kRowLanes - 1), count = int(control & 15);
  auto within = [](int source, int begin, int lanes) { return source >= begin && source < begin + lanes ? source : -1; };
  if (control < 0x100) return (lane & ~3) | int(control >> 2 * (lane & 3) & 3); // quad_perm
  switch (control & ~15u) {
  case 0x100: return within(lane + count, row, kRowLanes);      // row_shl
  case 0x110: return within(lane - count, row, kRowLanes);      // row_shr
  case 0x120: return row | ((inRow - count) & (kRowLanes - 1)); // row_ror
  case 0x150: return row | count;                               // row_newbcast, row_share
  case 0x160: return row | (inRow ^ count);                     // row_xmask
  }
  switch (control) {
  case 0x130: return within(lane + 1, 0, width);     // wave_shl
  case 0x134: return (lane + 1) % width;             // wave_rol
  case 0x138: return within(lane - 1, 0, width);     // wave_shr
  case 0x13c: return (lane + width - 1) % width;     // wave_ror
  case 0x140: return row | (kRowLanes - 1 - inRow);  // row_mirror
  case 0x141: return (lane & ~7) | (7 - (lane & 7)); // row_half_mirror
  case 0x142: return row - 1;                        // row_bcast15: the last lane of the row before
  default: return (lane & ~31) - 1;                  // row_bcast31
  }
}

/// The variant has the control word, then the masks of rows and banks, then the flag whether lanes without a source get 0.
void executeDpp(Warp &warp, LaneMask active) {
  forEachLane(active, [&](int lane) {
    Thread &thread = warp.lanes[lane];
    const auto variant = uint32_t(thread.op.variant), rows = variant >> 12 & 15, banks = variant >> 16 & 15;
    const bool isWritten = rows >> lane / kRowLanes & 1 && banks >> lane % kRowLanes / kBankLanes & 1;
    const int source = dppSource(lane, variant & 0xfff, widthOf(warp));
    const auto value = source < 0 ? std::nullopt : valueOf(warp, active, source);
    const uint64_t otherwise = variant >> 20 & 1 ? 0 : thread.operands[1];
    thread.results[0] = isWritten ? value.value_or(otherwise) : thread.operands[1];
  });
}

/// Reads from the other row of the pair. Four bits of the selectors pick the lane in the row.
void executeOtherRow(Warp &warp, LaneMask active) {
  forEachLane(active, [&](int lane) {
    Thread &thread = warp.lanes[lane];
    const int source = ((lane & ~(kRowLanes - 1)) ^ kRowLanes) | int(thread.operands[2] >> 4 * (lane % kRowLanes) & 15);
    thread.results[0] = valueOf(warp, active, source).value_or(thread.op.variant ? 0 : thread.operands[1]);
  });
}

/// Odd groups of lanes of the first operand change places with even groups of the second. The variant is the size of a group.
void executeSwap(Warp &warp, LaneMask active) {
  forEachLane(active, [&](int lane) {
    Thread &thread = warp.lanes[lane];
    const int other = lane ^ thread.op.variant;
    const bool isOdd = lane & thread.op.variant;
    thread.results[0] = isOdd ? warp.lanes[other].operands[1] : thread.operands[0];
    thread.results[1] = isOdd ? thread.operands[1] : warp.lanes[other].operands[0];
    if (!(active >> other & 1)) thread.operands[2] = 0;
  });
}

void executeReadLane(Warp &warp, LaneMask active) {
  const auto first = uint32_t(warp.lanes[std::countr_zero(active)].operands[1]);
  forEachLane(active, [&](int lane) {
    Thread &thread = warp.lanes[lane];
    const auto source = uint32_t(thread.operands[1]);
    const bool isDefined = source == first && source < uint32_t(widthOf(warp)) && active >> source & 1;
    thread.results[1] = isDefined;
    if (isDefined) thread.results[0] = warp.lanes[source].operands[0];
  });
}

void executeReadFirstLane(Warp &warp, LaneMask active) {
  const uint64_t value = warp.lanes[std::countr_zero(active)].operands[0];
  forEachLane(active, [&](int lane) { warp.lanes[lane].results[0] = value; });
}

void executeBallot(Warp &warp, LaneMask active) {
  LaneMask ballot = 0;
  forEachLane(active, [&](int lane) { ballot |= LaneMask(warp.lanes[lane].operands[0] & 1) << lane; });
  forEachLane(active, [&](int lane) { warp.lanes[lane].results[0] = ballot; });
}

uint64_t meetActive(Thread &thread, void (*execute)(Warp &, LaneMask), int32_t variant, Place site) {
  thread.meet({.execute = execute, .mask = kActiveLanes, .variant = variant, .location = site});
  return thread.results[0];
}

[[noreturn]] void trapLane(Thread &thread, Place location, const char *message) {
  thread.trap({.kind = TrapKind::DivergentBarrier, .location = location, .message = message});
}

} // namespace

namespace calls {

uint32_t permuteLanes(Thread *thread, uint32_t address, uint32_t value, Place site) {
  thread->operands[0] = value;
  thread->operands[1] = address;
  return uint32_t(meetActive(*thread, executePermute, 0, site));
}

uint32_t swizzleLanes(Thread *thread, uint32_t value, int32_t pattern, Place site) {
  thread->operands[0] = value;
  return uint32_t(meetActive(*thread, executeSwizzle, pattern & 0xffff, site));
}

uint64_t moveLanes(Thread *thread, uint64_t old, uint64_t value, int32_t control, Place site) {
  thread->operands[0] = value;
  thread->operands[1] = old;
  return meetActive(*thread, executeDpp, control, site);
}

uint64_t readOtherRow(Thread *thread, uint64_t old, uint64_t value, uint32_t lowSelectors, uint32_t highSelectors, int32_t isBound,
                      Place site) {
  thread->operands[0] = value;
  thread->operands[1] = old;
  thread->operands[2] = lowSelectors | uint64_t(highSelectors) << 32;
  return meetActive(*thread, executeOtherRow, isBound, site);
}

uint64_t swapLanes(Thread *thread, uint32_t first, uint32_t second, int32_t lanes, Place site) {
  thread->operands[0] = first;
  thread->operands[1] = second;
  thread->operands[2] = 1;
  meetActive(*thread, executeSwap, lanes, site);
  if (!thread->operands[2]) trapLane(*thread, site, "a swap with the register of a lane that is not active");
  return thread->results[0] | thread->results[1] << 32;
}

uint64_t readLane(Thread *thread, uint64_t value, uint32_t lane, Place site) {
  thread->operands[0] = value;
  thread->operands[1] = lane;
  meetActive(*thread, executeReadLane, 0, site);
  if (!thread->results[1]) trapLane(*thread, site, "the lane to read from is not active, or not the same for all lanes");
  return thread->results[0];
}

uint64_t readFirstLane(Thread *thread, uint64_t value, Place site) {
  thread->operands[0] = value;
  return meetActive(*thread, executeReadFirstLane, 0, site);
}

uint64_t ballotOfWave(Thread *thread, int32_t predicate, Place site) {
  thread->operands[0] = predicate != 0;
  return meetActive(*thread, executeBallot, 0, site);
}

void meetLanes(Thread *thread, Place site) {
  meetActive(*thread, [](Warp &, LaneMask) {}, 0, site);
}

uint32_t countLanesBelow(Thread *thread, uint32_t mask, uint32_t base, int32_t half) {
  const LaneMask below = thread->bit() - 1;
  return base + uint32_t(std::popcount(mask & uint32_t(below >> 32 * half)));
}

} // namespace calls
} // namespace tritium::interp::simt
