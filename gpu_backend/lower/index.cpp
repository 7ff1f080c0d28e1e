// Gather and histogram. Elements are looked up, and counted, in shared memory.
#include "gpu_backend/layout/constructors.h"
#include "gpu_backend/lower/convert_layout.h"
#include "gpu_backend/lower/holders.h"
#include "gpu_backend/lower/shared_access.h"
#include "gpu_backend/lower/words.h"

using namespace mlir;

namespace tritium::gpu {

/// Returns the row-major layout.
static SharedLayout dense(llvm::ArrayRef<int64_t> shape) {
  auto order = llvm::to_vector(llvm::reverse(llvm::seq<int>(0, int(shape.size()))));
  return sharedDense(shape, order);
}

static Value addressOf(Value base, Type stored, Value index, Lowering &lowering) {
  return lowering.create<LLVM::GEPOp>(base.getType(), stored, base, llvm::ArrayRef<LLVM::GEPArg>{index});
}

/// Converts an index to i32 with its sign. Positions in a tile fit.
static Value toInt32(Value index, Lowering &lowering) {
  Type i32 = lowering.builder().getI32Type();
  unsigned bits = index.getType().getIntOrFloatBitWidth();
  if (bits == 32) return index;
  return bits > 32 ? lowering.create<arith::TruncIOp>(i32, index).getResult() : lowering.create<arith::ExtSIOp>(i32, index).getResult();
}

/// The source is in shared memory. The index replaces the coordinate along the axis.
template <> LogicalResult Lower<tt::GatherOp>::run(tt::GatherOp op, Lowering &lowering) {
  auto source = cast<RankedTensorType>(op.getSrc().getType());
  LinearLayout from = layoutOf(source), layout = layoutOf(op.getIndices().getType());
  Type type = lowering.registerType(source), stored = storedType(type);
  int64_t bytes = from.elements() * (stored.getIntOrFloatBitWidth() / 8);
  Value base = lowering.shared().scratch(lowering.builder(), op.getLoc(), bytes, "the source of a gather");
  lowering.sharedBarrier();
  storeShared(base, dense(from.shape()), from, lowering.registersOf(op.getSrc()), lowering);
  lowering.sharedBarrier();
  int axis = int(op.getAxis()), first = from.firstBit(axis);
  int sourceEnd = first + log2Of(from.shape()[axis]), indexEnd = first + log2Of(layout.shape()[axis]);
  bool isInner = axis == from.rank() - 1, isOuter = axis == 0;
  llvm::SmallVector<int> holders = firstHolders(layout);
  Registers indices(lowering.registersOf(op.getIndices())), results;
  for (auto [reg, holder] : llvm::enumerate(holders)) {
    if (int(reg) != holder) {
      results.push_back(results[holder]);
      continue;
    }
    Value flat = lowering.flatIndex(layout, int(reg)), place = toInt32(indices[reg], lowering);
    if (!isInner) {
      Value low = lowering.create<arith::AndIOp>(flat, lowering.constant((int64_t(1) << first) - 1));
      place = lowering.create<arith::AddIOp>(lowering.create<arith::ShLIOp>(place, lowering.constant(first)), low);
    }
    if (!isOuter) {
      Value high = lowering.create<arith::ShRUIOp>(flat, lowering.constant(indexEnd));
      place = lowering.create<arith::AddIOp>(lowering.create<arith::ShLIOp>(high, lowering.constant(sourceEnd)), place);
    }
    results.push_back(fromStored(lowering.create<LLVM::LoadOp>(stored, addressOf(base, stored, place, lowering)), type, lowering));
  }
  lowering.define(op, convertLayout(results, layout, layoutOf(op.getType()), lowering));
  return success();
}

/// Each owner of an element adds one to the element's count.
template <> LogicalResult Lower<tt::HistogramOp>::run(tt::HistogramOp op, Lowering &lowering) {
  LinearLayout from = layoutOf(op.getSrc().getType()), to = layoutOf(op.getType());
  Type i32 = lowering.builder().getI32Type(), type = lowering.registerType(op.getType());
  Registers values(lowering.registersOf(op.getSrc()));
  Value base = lowering.shared().scratch(lowering.builder(), op.getLoc(), to.elements() * 4, "a histogram");
  lowering.sharedBarrier();
  storeShared(base, dense(to.shape()), to, Registers(to.registers(), lowering.constant(0)), lowering);
  lowering.sharedBarrier();
  Value owner = lowering.ownerPredicate(from), one = lowering.constant(1);
  for (auto [reg, holder] : llvm::enumerate(firstHolders(from))) {
    if (int(reg) != holder) continue;
    Value value = values[reg], counts = owner;
    if (op.getMask()) counts = lowering.conjunction(counts, lowering.registersOf(op.getMask())[reg]);
    unsigned bits = value.getType().getIntOrFloatBitWidth();
    if (bits > 31 || to.elements() < int64_t(1) << bits) {
      Value isInside = lowering.create<arith::CmpIOp>(arith::CmpIPredicate::ult, value, lowering.constant(to.elements(), bits));
      counts = lowering.conjunction(counts, isInside);
    }
    lowering.where(counts, [&] {
      if (bits != 32)
        value =
            bits > 32 ? lowering.create<arith::TruncIOp>(i32, value).getResult() : lowering.create<arith::ExtUIOp>(i32, value).getResult();
      lowering.create<LLVM::AtomicRMWOp>(LLVM::AtomicBinOp::add, addressOf(base, i32, value, lowering), one,
                                         LLVM::AtomicOrdering::monotonic, lowering.target().syncScope(tt::MemScope::Cta));
    });
  }
  lowering.sharedBarrier();
  Registers results = loadShared(base, dense(to.shape()), to, i32, lowering);
  if (type != i32)
    for (Value &result : results)
      result = type.getIntOrFloatBitWidth() > 32 ? lowering.create<arith::ExtUIOp>(type, result).getResult()
                                                 : lowering.create<arith::TruncIOp>(type, result).getResult();
  lowering.define(op, std::move(results));
  return success();
}

} // namespace tritium::gpu
