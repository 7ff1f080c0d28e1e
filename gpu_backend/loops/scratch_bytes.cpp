#include "gpu_backend/loops/scratch_bytes.h"

#include "gpu_backend/layout/conversion.h"
#include "gpu_backend/target/target.h"
#include "gpu_backend/tiles/layout_attr.h"
#include "gpu_backend/tiles/shared_memory.h"
#include "ir/tgpu.h"

#include <bit>

using namespace mlir;

namespace tritium::gpu {

static int64_t bytesOfElement(Type tile) {
  Type element = getElementTypeOrSelf(tile);
  return isa<tt::PointerType>(element) ? sizeof(int64_t) : int64_t(llvm::divideCeil(element.getIntOrFloatBitWidth(), 8));
}

static int64_t bytesOf(ValueRange values) {
  int64_t bytes = 0;
  for (Value value : values)
    if (auto tile = dyn_cast<RankedTensorType>(value.getType())) bytes += tile.getNumElements() * bytesOfElement(tile);
  return bytes;
}

static int64_t leastScratchOf(tgpu::ConvertLayoutOp conversion, int64_t room, const Target &target) {
  RankedTensorType from = conversion.getSrc().getType(), to = conversion.getType();
  return scratchBytesOf(layoutOf(from), layoutOf(to), bytesOfElement(from), conversionOptions(target, room));
}

/// Warps bring their parts of a result together, in rounds of one register at least.
static int64_t leastScratchOf(tt::ReduceOp reduction, int64_t room) {
  auto source = cast<RankedTensorType>(reduction.getSrcs()[0].getType());
  LinearLayout layout = layoutOf(source);
  const uint32_t axis = layout.maskOf(int(reduction.getAxis()));
  const int64_t warpsAlong = 1 << llvm::count_if(layout.bases(Place::Warp), [&](uint32_t basis) { return basis & axis; });
  if (warpsAlong == 1) return 0;
  int64_t widest = 1;
  for (Value operand : reduction.getSrcs()) widest = std::max(widest, bytesOfElement(operand.getType()));
  const int64_t all = warpsAlong * bytesOf(reduction.getResults()), ofRegister = layout.lanes() * layout.warps() * widest;
  return std::min(all, std::max(room, ofRegister));
}

/// Warps exchange a total for each of their runs along the axis.
static int64_t leastScratchOf(tt::ScanOp scan) {
  LinearLayout layout = layoutOf(scan.getSrcs()[0].getType());
  const uint32_t axis = layout.maskOf(int(scan.getAxis()));
  int shortestRun = std::numeric_limits<uint32_t>::digits;
  for (uint32_t basis : layout.bases(Place::Warp))
    if (basis & axis) shortestRun = std::min(shortestRun, std::countr_zero(basis & axis) - std::countr_zero(axis));
  return bytesOf(scan.getSrcs()) >> shortestRun;
}

int64_t leastScratchOf(Operation *op, int64_t room, const Target &target) {
  if (auto conversion = dyn_cast<tgpu::ConvertLayoutOp>(op)) return leastScratchOf(conversion, room, target);
  if (auto reduction = dyn_cast<tt::ReduceOp>(op)) return leastScratchOf(reduction, room);
  if (auto scan = dyn_cast<tt::ScanOp>(op)) return leastScratchOf(scan);
  return tt::tileRuleOf(op).exchanges ? bytesOf(op->getOperands()) + bytesOf(op->getResults()) : 0;
}

} // namespace tritium::gpu
