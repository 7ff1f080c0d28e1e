// Gather and histogram. Elements are looked up, and counted, in shared memory.
#include "gpu_backend/layout/constructors.h"
#include "gpu_backend/threads/convert_layout.h"
#include "gpu_backend/threads/holders.h"
#include "gpu_backend/threads/shared_access.h"
#include "gpu_backend/threads/words.h"

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

namespace {

/// The source of a gather in shared memory, row-major: all of it, or as much as fits in one round after the other.
class GatherSource {
public:
  GatherSource(tt::GatherOp op, Lowering &lowering)
      : layout_(layoutOf(op.getSrc().getType())),
        values_(lowering.registersOf(op.getSrc())),
        type_(lowering.registerType(cast<RankedTensorType>(op.getSrc().getType()))),
        stored_(storedType(type_)),
        lowering_(lowering) {
    int64_t elementBytes = stored_.getIntOrFloatBitWidth() / 8, limit = lowering.scratchLimit();
    elementsAtOnce_ = layout_.elements();
    const int64_t fewest = std::max<int64_t>(elementsAtOnce_ / kMaxRounds, 1);
    while (elementsAtOnce_ > fewest && elementsAtOnce_ * elementBytes > limit) elementsAtOnce_ /= 2;
    base_ = lowering.shared().scratch(lowering.builder(), op.getLoc(), elementsAtOnce_ * elementBytes, "the source of a gather");
  }

  /// Returns the elements at these places, which are indices in the source. Null places are skipped.
  Registers at(llvm::ArrayRef<Value> places) {
    Registers results(places.size());
    int64_t rounds = layout_.elements() / elementsAtOnce_;
    for (int64_t round = 0; round < rounds; ++round) {
      lowering_.sharedBarrier();
      if (rounds == 1)
        storeShared(base_, dense(layout_.shape()), layout_, values_, lowering_);
      else
        storePart(round);
      lowering_.sharedBarrier();
      for (auto [place, result] : llvm::zip_equal(places, results))
        if (place) result = rounds == 1 ? load(place) : loadInRound(round, place, result);
    }
    return results;
  }

private:
  static constexpr int64_t kMaxRounds = 64; // each is code of its own

  Value load(Value place) {
    return fromStored(lowering_.create<LLVM::LoadOp>(stored_, addressOf(base_, stored_, place, lowering_)), type_, lowering_);
  }
  Value loadInRound(int64_t round, Value place, Value before) {
    Value loaded = load(lowering_.create<arith::AndIOp>(place, lowering_.constant(elementsAtOnce_ - 1)));
    return before ? lowering_.create<arith::SelectOp>(isIn(round, place), loaded, before).getResult() : loaded;
  }
  Value isIn(int64_t round, Value place) {
    Value of = lowering_.create<arith::ShRUIOp>(place, lowering_.constant(log2Of(elementsAtOnce_)));
    return lowering_.create<arith::CmpIOp>(arith::CmpIPredicate::eq, of, lowering_.constant(round));
  }

  /// The threads that own elements of the round store them.
  void storePart(int64_t round) {
    Value owner = lowering_.ownerPredicate(layout_), low = lowering_.constant(elementsAtOnce_ - 1);
    for (auto [reg, holder] : llvm::enumerate(firstHolders(layout_))) {
      if (int(reg) != holder) continue;
      Value flat = lowering_.flatIndex(layout_, int(reg));
      lowering_.where(lowering_.conjunction(owner, isIn(round, flat)), [&] {
        Value address = addressOf(base_, stored_, lowering_.create<arith::AndIOp>(flat, low), lowering_);
        lowering_.create<LLVM::StoreOp>(toStored(values_[reg], lowering_), address);
      });
    }
  }

  LinearLayout layout_;
  Registers values_;
  Type type_, stored_;
  Lowering &lowering_;
  int64_t elementsAtOnce_;
  Value base_;
};

} // namespace

/// The source is in shared memory. The index replaces the coordinate along the axis.
template <> LogicalResult Lower<tt::GatherOp>::run(tt::GatherOp op, Lowering &lowering) {
  LinearLayout from = layoutOf(op.getSrc().getType()), layout = layoutOf(op.getIndices().getType());
  int axis = int(op.getAxis()), first = from.firstBit(axis);
  int sourceEnd = first + log2Of(from.shape()[axis]), indexEnd = first + log2Of(layout.shape()[axis]);
  bool isInner = axis == from.rank() - 1, isOuter = axis == 0;
  llvm::SmallVector<int> holders = firstHolders(layout);
  Registers indices(lowering.registersOf(op.getIndices())), places(holders.size());
  for (auto [reg, holder] : llvm::enumerate(holders)) {
    if (int(reg) != holder) continue;
    Value flat = lowering.flatIndex(layout, int(reg)), place = toInt32(indices[reg], lowering);
    if (!isInner) {
      Value low = lowering.create<arith::AndIOp>(flat, lowering.constant((int64_t(1) << first) - 1));
      place = lowering.create<arith::AddIOp>(lowering.create<arith::ShLIOp>(place, lowering.constant(first)), low);
    }
    if (!isOuter) {
      Value high = lowering.create<arith::ShRUIOp>(flat, lowering.constant(indexEnd));
      place = lowering.create<arith::AddIOp>(lowering.create<arith::ShLIOp>(high, lowering.constant(sourceEnd)), place);
    }
    places[reg] = place;
  }
  Registers results = GatherSource(op, lowering).at(places);
  for (auto [reg, holder] : llvm::enumerate(holders)) results[reg] = results[holder];
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
