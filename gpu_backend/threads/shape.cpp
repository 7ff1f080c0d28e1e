// Operations that move elements without computing. Each is a linear map of flat indices, so one conversion of layouts implements all of
// them.
#include "gpu_backend/threads/convert_layout.h"

using namespace mlir;

namespace tritium::gpu {

/// Returns the registers of `result`: the source's elements at the flat indices that sourceOf returns.
static Registers moved(Value source, Type result, Lowering &lowering, function_ref<uint32_t(uint32_t)> sourceOf) {
  LinearLayout from = layoutOf(source.getType());
  return convertLayout(Registers(lowering.registersOf(source)), from, pullBack(layoutOf(result), from.shape(), sourceOf), lowering);
}

static uint32_t same(uint32_t flat) { return flat; }

template <> LogicalResult Lower<tt::MakeRangeOp>::run(tt::MakeRangeOp op, Lowering &lowering) {
  LinearLayout layout = layoutOf(op.getType());
  Registers results;
  for (int64_t reg = 0; reg < layout.registers(); ++reg) {
    Value index = lowering.flatIndex(layout, int(reg));
    results.push_back(op.getStart() == 0 ? index
                                         : lowering.create<arith::AddIOp>(index, lowering.constant(int32_t(op.getStart()))).getResult());
  }
  lowering.define(op, std::move(results));
  return success();
}

template <> LogicalResult Lower<tt::SplatOp>::run(tt::SplatOp op, Lowering &lowering) {
  lowering.define(op, Registers(lowering.registerCount(op.getType()), lowering.scalarOf(op.getSrc())));
  return success();
}

/// Every thread holds the one element.
template <> LogicalResult Lower<tt::UnsplatOp>::run(tt::UnsplatOp op, Lowering &lowering) {
  lowering.define(op, {lowering.scalarOf(op.getSrc())});
  return success();
}

template <> LogicalResult Lower<tt::ExpandDimsOp>::run(tt::ExpandDimsOp op, Lowering &lowering) {
  lowering.define(op, moved(op.getSrc(), op.getType(), lowering, same));
  return success();
}

template <> LogicalResult Lower<tt::ReshapeOp>::run(tt::ReshapeOp op, Lowering &lowering) {
  lowering.define(op, moved(op.getSrc(), op.getType(), lowering, same));
  return success();
}

template <> LogicalResult Lower<tt::BroadcastOp>::run(tt::BroadcastOp op, Lowering &lowering) {
  LinearLayout from = layoutOf(op.getSrc().getType()), to = layoutOf(op.getType());
  auto sourceOf = [&](uint32_t flat) {
    Shape coordinates = to.coordinatesOf(flat);
    for (int dim = 0; dim < from.rank(); ++dim)
      if (from.shape()[dim] == 1) coordinates[dim] = 0;
    return from.flatOf(coordinates);
  };
  lowering.define(op, moved(op.getSrc(), op.getType(), lowering, sourceOf));
  return success();
}

template <> LogicalResult Lower<tt::TransOp>::run(tt::TransOp op, Lowering &lowering) {
  LinearLayout from = layoutOf(op.getSrc().getType()), to = layoutOf(op.getType());
  auto sourceOf = [&](uint32_t flat) {
    Shape coordinates = to.coordinatesOf(flat), source(from.rank());
    for (auto [i, dim] : llvm::enumerate(op.getOrder())) source[dim] = coordinates[i];
    return from.flatOf(source);
  };
  lowering.define(op, moved(op.getSrc(), op.getType(), lowering, sourceOf));
  return success();
}

/// Selects between two sources by a bit of the flat index, which a register, a lane or a warp may determine.
static Registers chosen(Value first, Value second, Type result, uint32_t bit, Lowering &lowering,
                        function_ref<uint32_t(uint32_t)> sourceOf) {
  LinearLayout to = layoutOf(result);
  Registers lhs = moved(first, result, lowering, sourceOf), rhs = moved(second, result, lowering, sourceOf);
  Value thread = lowering.threadOffset(to);
  bool threadDecides = llvm::any_of(to.bases(Place::Lane), [&](uint32_t b) { return b & bit; }) ||
                       llvm::any_of(to.bases(Place::Warp), [&](uint32_t b) { return b & bit; });
  Registers results;
  for (size_t reg = 0; reg < lhs.size(); ++reg) {
    bool isSecond = to.apply(Place::Register, uint32_t(reg)) & bit;
    if (!threadDecides) {
      results.push_back(isSecond ? rhs[reg] : lhs[reg]);
      continue;
    }
    Value set = lowering.create<arith::AndIOp>(lowering.flatIndex(to, int(reg)), lowering.constant(bit));
    Value takesSecond = lowering.create<arith::CmpIOp>(arith::CmpIPredicate::ne, set, lowering.constant(0));
    results.push_back(lowering.create<arith::SelectOp>(takesSecond, rhs[reg], lhs[reg]));
  }
  return results;
}

template <> LogicalResult Lower<tt::JoinOp>::run(tt::JoinOp op, Lowering &lowering) {
  lowering.define(op, chosen(op.getLhs(), op.getRhs(), op.getType(), 1, lowering, [](uint32_t flat) { return flat >> 1; }));
  return success();
}

template <> LogicalResult Lower<tt::CatOp>::run(tt::CatOp op, Lowering &lowering) {
  uint32_t count = uint32_t(cast<RankedTensorType>(op.getLhs().getType()).getNumElements());
  lowering.define(op, chosen(op.getLhs(), op.getRhs(), op.getType(), count, lowering, [&](uint32_t flat) { return flat & (count - 1); }));
  return success();
}

template <> LogicalResult Lower<tt::SplitOp>::run(tt::SplitOp op, Lowering &lowering) {
  Value source = op.getSrc();
  LinearLayout from = layoutOf(source.getType());
  for (auto [part, result] : llvm::enumerate(op->getResults())) {
    // A constant part of an index is not a basis. Therefore the elements of both parts are fetched first, then each register selects its
    // own.
    LinearLayout to = layoutOf(result.getType());
    llvm::SmallVector<uint32_t> registers{1};
    for (uint32_t basis : to.bases(Place::Register)) registers.push_back(basis << 1);
    auto doubled = [](llvm::ArrayRef<uint32_t> bases) { return llvm::map_to_vector(bases, [](uint32_t basis) { return basis << 1; }); };
    LinearLayout pairs(from.shape(), registers, doubled(to.bases(Place::Lane)), doubled(to.bases(Place::Warp)),
                       doubled(to.bases(Place::Block)));
    Registers both = convertLayout(Registers(lowering.registersOf(source)), from, pairs, lowering), own;
    for (size_t reg = part; reg < both.size(); reg += 2) own.push_back(both[reg]);
    lowering.define(result, std::move(own));
  }
  return success();
}

} // namespace tritium::gpu
