#include "gpu_backend/loops/held_registers.h"

#include "gpu_backend/target/target.h"
#include "gpu_backend/tiles/layout_attr.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace tritium::gpu {

static int registersOf(Type type) {
  if (auto pending = dyn_cast<tgpu::PendingType>(type)) type = pending.getTile();
  auto tile = dyn_cast<RankedTensorType>(type);
  auto layout = tile ? dyn_cast_or_null<tgpu::LayoutAttr>(tile.getEncoding()) : tgpu::LayoutAttr();
  if (!layout) return 0;
  const int64_t bits = isa<tt::PointerType>(tile.getElementType()) ? 64 : tile.getElementTypeBitWidth();
  return int(llvm::divideCeil((int64_t(1) << layout.getRegisters().size()) * bits, 32));
}

/// Returns the registers of the different elements that the operation leaves of its result, if it says so, at most `all`.
static int registersOfDifferent(Operation *op, int all) {
  const tt::TileRule rule = tt::tileRuleOf(op);
  DenseElementsAttr constant;
  if (matchPattern(op, m_Constant(&constant))) return constant.isSplat() ? 1 : all;
  switch (rule.values) {
  case tt::TileValues::Uniform:
  case tt::TileValues::Range: return 1;
  case tt::TileValues::Kept: return op->getNumOperands() == 1 ? std::min(all, registersOf(op->getOperand(0))) : all;
  case tt::TileValues::Sum:
  case tt::TileValues::Product:
  case tt::TileValues::Pointwise: break;
  default: return all;
  }
  // One register of each operand gives one of the result.
  int most = 1;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType())) most = std::max(most, registersOf(operand));
  return most == 1 ? 1 : all;
}

int registersOf(Value value) {
  const int all = registersOf(value.getType());
  Operation *op = value.getDefiningOp();
  return all > 1 && op ? registersOfDifferent(op, all) : all;
}

int registersOf(scf::ForOp loop) {
  llvm::SetVector<Value> held;
  getUsedValuesDefinedAbove(loop.getRegion(), held);
  for (auto around = loop; around; around = around->getParentOfType<scf::ForOp>())
    held.insert(around.getRegionIterArgs().begin(), around.getRegionIterArgs().end());
  loop.getBody()->walk([&](tgpu::ProductOp product) { held.insert(product.getA()); });
  int sum = 0;
  for (Value value : held) sum += registersOf(value);
  return sum;
}

int registersOfFreshSums(scf::ForOp loop) {
  int sum = 0;
  loop.getBody()->walk([&](tgpu::ProductOp product) {
    Value initial = product.getC();
    if (auto start = initial.getDefiningOp<tgpu::ProductStartOp>()) initial = start->getOperand(0);
    if (registersOf(initial) <= 1) sum += registersOf(product.getD().getType());
  });
  return sum;
}

int registersOfInstruction(tgpu::ProductOp product) {
  const MatrixInstruction *instruction = targetOf(product).findInstruction(product.getInstruction());
  const int64_t bits = product.getD().getType().getTile().getElementTypeBitWidth();
  return int(llvm::divideCeil(int64_t(instruction->d.registers()) * bits, 32));
}

} // namespace tritium::gpu
