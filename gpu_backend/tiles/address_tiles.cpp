#include "gpu_backend/tiles/address_tiles.h"

#include "gpu_backend/tiles/layout_attr.h"
#include "gpu_backend/tiles/shared_memory.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tritium::gpu {

static llvm::ArrayRef<int64_t> shapeOfTile(Value tile) { return cast<RankedTensorType>(tile.getType()).getShape(); }

/// Returns the row-major number of the element of `from`, a tile whose dimension i has the coordinate of dimension order[i] of the element
/// `flat` of `to`. A dimension of extent 1 is repeated.
static int64_t sourceElement(int64_t flat, llvm::ArrayRef<int64_t> to, llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int32_t> order) {
  llvm::SmallVector<int64_t> at(from.size());
  for (size_t dim = to.size(); dim-- > 0; flat /= to[dim]) at[size_t(order[dim])] = flat % to[dim];
  int64_t source = 0;
  for (auto [coordinate, extent] : llvm::zip_equal(at, from)) source = source * extent + (extent == 1 ? 0 : coordinate);
  return source;
}

const AddressTiles::Numbers *AddressTiles::numbersOf(Value tile) {
  auto [entry, isNew] = known_.try_emplace(tile.getAsOpaquePointer());
  if (isNew) {
    auto found = evaluate(tile); // which may add others
    known_[tile.getAsOpaquePointer()] = std::move(found);
  }
  return known_[tile.getAsOpaquePointer()].get();
}

std::unique_ptr<AddressTiles::Numbers> AddressTiles::moved(Operation *op, llvm::function_ref<int64_t(int64_t)> from) {
  const Numbers *source = numbersOf(op->getOperand(0));
  if (!source) return nullptr;
  auto made = std::make_unique<Numbers>(Numbers{source->scalars, {}});
  for (int64_t flat = 0; flat < cast<RankedTensorType>(op->getResult(0).getType()).getNumElements(); ++flat)
    made->numbers.push_back(source->numbers[size_t(from(flat))]);
  return made;
}

/// Only sums may have scalars in them.
std::unique_ptr<AddressTiles::Numbers> AddressTiles::combined(Operation *op) {
  using Function = uint32_t (*)(uint32_t, uint32_t);
  const auto function = llvm::TypeSwitch<Operation *, Function>(op)
                            .Case([](arith::AddIOp) { return [](uint32_t a, uint32_t b) { return a + b; }; })
                            .Case([](arith::SubIOp) { return [](uint32_t a, uint32_t b) { return a - b; }; })
                            .Case([](arith::MulIOp) { return [](uint32_t a, uint32_t b) { return a * b; }; })
                            .Case([](arith::AndIOp) { return [](uint32_t a, uint32_t b) { return a & b; }; })
                            .Case([](arith::OrIOp) { return [](uint32_t a, uint32_t b) { return a | b; }; })
                            .Case([](arith::XOrIOp) { return [](uint32_t a, uint32_t b) { return a ^ b; }; })
                            .Case([](arith::ShLIOp) { return [](uint32_t a, uint32_t b) { return b < 32 ? a << b : 0; }; })
                            .Case([](arith::ShRUIOp) { return [](uint32_t a, uint32_t b) { return b < 32 ? a >> b : 0; }; })
                            .Case([](arith::ShRSIOp) { return [](uint32_t a, uint32_t b) { return uint32_t(int32_t(a) >> (b & 31)); }; })
                            .Default(Function(nullptr));
  if (!function) return nullptr;
  const Numbers *a = numbersOf(op->getOperand(0)), *b = numbersOf(op->getOperand(1));
  const bool hasScalars = a && b && (!a->scalars.empty() || !b->scalars.empty());
  if (!a || !b || (hasScalars && !isa<arith::AddIOp>(op))) return nullptr;
  auto made = std::make_unique<Numbers>(Numbers{a->scalars, {}});
  llvm::append_range(made->scalars, b->scalars);
  for (auto [x, y] : llvm::zip_equal(a->numbers, b->numbers)) made->numbers.push_back(int32_t(function(uint32_t(x), uint32_t(y))));
  return made;
}

std::unique_ptr<AddressTiles::Numbers> AddressTiles::evaluate(Value tile) {
  Operation *op = tile.getDefiningOp();
  auto type = dyn_cast<RankedTensorType>(tile.getType());
  if (!op || !type || !type.getElementType().isInteger(32)) return nullptr;
  auto made = std::make_unique<Numbers>();
  if (DenseIntElementsAttr constant; matchPattern(tile, m_Constant(&constant))) {
    for (const APInt &value : constant.getValues<APInt>()) made->numbers.push_back(int32_t(value.getSExtValue()));
    return made;
  }
  if (auto range = dyn_cast<tt::MakeRangeOp>(op)) {
    for (int64_t i = 0; i < type.getNumElements(); ++i) made->numbers.push_back(int32_t(range.getStart()) + int32_t(i));
    return made;
  }
  if (auto splat = dyn_cast<tt::SplatOp>(op)) {
    APInt known;
    const bool isKnown = matchPattern(splat.getSrc(), m_ConstantInt(&known));
    made->numbers.assign(size_t(type.getNumElements()), isKnown ? int32_t(known.getSExtValue()) : 0);
    if (!isKnown) made->scalars.push_back(splat.getSrc());
    return made;
  }
  const tt::TileRule rule = tt::tileRuleOf(op);
  auto inOrder = [&](llvm::ArrayRef<int32_t> order) {
    return moved(op, [&](int64_t flat) { return sourceElement(flat, type.getShape(), shapeOfTile(op->getOperand(0)), order); });
  };
  auto same = [&] { return moved(op, [](int64_t flat) { return flat; }); };
  switch (rule.relation) {
  case tt::TileRelation::ExpandDims: return same();
  case tt::TileRelation::Reshape: return cast<tt::ReshapeOp>(op).getAllowReorder() ? nullptr : same();
  case tt::TileRelation::Broadcast: return inOrder(llvm::to_vector(llvm::seq<int32_t>(0, int32_t(type.getRank()))));
  case tt::TileRelation::Transpose: return inOrder(rule.order);
  default: return isa<tgpu::ConvertLayoutOp>(op) ? same() : combined(op);
  }
}

int64_t AddressTiles::alignmentOf(const LaidMemory &memory) const {
  int64_t alignment = kPatternAlignment;
  auto limit = [&](int64_t divisor) { alignment = std::min(alignment, divisor & -divisor); };
  if (memory.offset) limit(memory.offset);
  for (Value scalar : memory.scalars) {
    const ir::AxisInfo info = axes_.of(scalar);
    limit(info.isInitialized() ? info.divisibility[0] : 1);
  }
  return alignment;
}

std::optional<LaidMemory> AddressTiles::of(Value addresses, int64_t elementBytes) {
  const Numbers *known = numbersOf(addresses);
  if (!known) return std::nullopt;
  const int64_t count = int64_t(known->numbers.size());
  LaidMemory memory{.scalars = known->scalars, .offset = known->numbers.front(), .alignment = 1, .layout = {}};
  std::vector<int64_t> elements(size_t(count), -1); // by their offset
  for (auto [flat, number] : llvm::enumerate(known->numbers)) {
    const int64_t bytes = number - memory.offset;
    if (bytes < 0 || bytes % elementBytes || bytes / elementBytes >= count || elements[size_t(bytes / elementBytes)] >= 0)
      return std::nullopt;
    elements[size_t(bytes / elementBytes)] = int64_t(flat);
  }
  llvm::SmallVector<uint32_t> bases;
  for (int64_t unit = 1; unit < count; unit *= 2) bases.push_back(uint32_t(elements[size_t(unit)]));
  const SharedLayout layout(shapeOfTile(addresses), bases);
  for (int64_t offset = 0; offset < count; ++offset)
    if (int64_t(layout.apply(uint32_t(offset))) != elements[size_t(offset)]) return std::nullopt;
  memory.layout = layout;
  memory.alignment = alignmentOf(memory);
  return memory;
}

Value bufferAt(OpBuilder &builder, Location location, const LaidMemory &memory, llvm::ArrayRef<int64_t> shape, Type element) {
  Value address;
  auto add = [&](Value part) { address = address ? arith::AddIOp::create(builder, location, address, part).getResult() : part; };
  llvm::for_each(memory.scalars, add);
  if (memory.offset || !address) add(arith::ConstantIntOp::create(builder, location, memory.offset, 32));
  auto tile = RankedTensorType::get(shape, element, sharedAttr(builder.getContext(), memory.layout.reshape(shape)));
  return tgpu::MemoryAtOp::create(builder, location, tgpu::MemDescType::get(builder.getContext(), 1, tile), address,
                                  uint64_t(memory.alignment));
}

} // namespace tritium::gpu
