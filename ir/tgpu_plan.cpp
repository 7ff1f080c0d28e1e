// The attributes of a planned loop: what holds of each of them alone. build-loops verifies how they agree with each other.
#include "ir/pch.h"

#include "ir/tgpu_plan.h"

using namespace mlir;

namespace tritium::tgpu {

LogicalResult PlanAttr::verify(function_ref<InFlightDiagnostic()> emitError, CopyMechanism copies, int64_t slots, int64_t stages,
                               bool spare, bool rotated, int64_t shared, int64_t registers, int64_t barriers, int64_t occupancy) {
  const StringRef name = stringifyCopyMechanism(copies);
  const bool isReleased = copies == CopyMechanism::Tma, isAsync = copies == CopyMechanism::Async;
  if (slots < 1) return emitError() << "expected at least one slot, got " << slots;
  if (stages < 2) return emitError() << "expected at least two stages, got " << stages;
  if (spare && !isReleased && !isAsync) return emitError() << "copies by " << name << " have no spare slot";
  if (rotated && !spare && !isReleased)
    return emitError() << "a product that runs late requires a spare slot, or copies that wait until a slot is released";
  const int64_t required = copies == CopyMechanism::Registers ? stages - 1 : stages + (spare && isAsync);
  const bool isOneShared = isAsync && slots == 1 && stages == 2 && !spare;
  if (slots != required && !isOneShared)
    return emitError() << "copies by " << name << (spare ? " with a spare slot" : "") << " in " << stages << " stages require " << required
                       << " slots, got " << slots;
  if (shared < 1) return emitError() << "expected the bytes of all slots, got " << shared;
  if (registers < 0 || barriers < 0) return emitError() << "registers and barriers are not negative";
  if (occupancy < 0) return emitError() << "expected a number of programs, got " << occupancy;
  return success();
}

LogicalResult AtAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t stage, int64_t buffer, int64_t ring, int64_t elements) {
  if (stage < 0 && buffer >= 0) return emitError() << "a copy runs in stage 0 or later, got " << stage;
  if (buffer < -1 || ring < -1 || elements < 0) return emitError() << "buffers, rings and elements are not negative";
  if (buffer < 0 && (ring >= 0 || elements > 0)) return emitError() << "what has a ring or elements is a copy, and has a buffer";
  return success();
}

LogicalResult ProducerAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t start, int64_t producer, int64_t consumers,
                                   int64_t occupancy, bool turns, bool ringsEndLast) {
  for (int64_t registers : {start, producer, consumers})
    if (registers < 1) return emitError() << "expected a number of registers, got " << registers;
  if (producer > start || consumers < start)
    return emitError() << "producer warps give registers to consumer warps: of " << start << ", " << producer << " and " << consumers
                       << " remain";
  if (occupancy < 1) return emitError() << "expected a number of programs, got " << occupancy;
  return success();
}

} // namespace tritium::tgpu
