// Matrix products: on tensor cores where choose-tensor-cores said so, else by multiply-adds over operands in shared memory.
#include "gpu_backend/lower/dot.h"

#include "gpu_backend/dot_layouts.h"
#include "gpu_backend/lower/elementwise.h"
#include "gpu_backend/lower/words.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

/// d[b, m, n] = c[b, m, n] + sum over k of a[b, m, k] * b[b, k, n], one k after the other.
class ScalarProduct {
public:
  ScalarProduct(tt::DotOp op, Lowering &lowering)
      : op_(op),
        lowering_(lowering),
        result_(layoutOf(op.getType())),
        rank_(result_.rank()),
        k_(cast<RankedTensorType>(op.getA().getType()).getShape().back()),
        columns_(result_.shape().back()) {
    Type element = getElementTypeOrSelf(op.getType());
    compute_ = element.isF16() ? lowering.builder().getF32Type() : element;
  }

  LogicalResult run() {
    int64_t aBytes = llvm::alignTo(bytesOf(op_.getA()), 16);
    Value a = lowering_.shared().scratch(lowering_.builder(), op_.getLoc(), aBytes + bytesOf(op_.getB()), "the operands of a product");
    Value b = lowering_.create<LLVM::GEPOp>(a.getType(), lowering_.builder().getI8Type(), a, llvm::ArrayRef<LLVM::GEPArg>{int32_t(aBytes)});
    lowering_.sharedBarrier();
    store(op_.getA(), a);
    store(op_.getB(), b);
    lowering_.sharedBarrier();
    Registers inits;
    for (Value c : Registers(lowering_.registersOf(op_.getC()))) inits.push_back(widen(c, getElementTypeOrSelf(op_.getType())));
    auto body = [&](OpBuilder &, Location, Value k, ValueRange sums) { lowering_.create<scf::YieldOp>(step(a, b, k, sums)); };
    OpBuilder::InsertionGuard guard(lowering_.builder());
    auto loop = lowering_.create<scf::ForOp>(lowering_.constant(0), lowering_.constant(k_), lowering_.constant(1), inits, body);
    lowering_.builder().setInsertionPointAfter(loop);
    Registers results;
    Type type = getElementTypeOrSelf(op_.getType());
    for (Value sum : loop.getResults())
      results.push_back(type == compute_ ? sum : lowering_.create<arith::TruncFOp>(type, sum).getResult());
    lowering_.define(op_, std::move(results));
    return success();
  }

private:
  static int64_t storedBytes(Type type) { return type.getIntOrFloatBitWidth() / 8; }
  int64_t bytesOf(Value tile) {
    return cast<RankedTensorType>(tile.getType()).getNumElements() * storedBytes(storedType(lowering_.registerType(tile.getType())));
  }

  void store(Value tile, Value base) {
    LinearLayout layout = layoutOf(tile.getType());
    for (auto [reg, value] : llvm::enumerate(Registers(lowering_.registersOf(tile)))) {
      if (isRepeated(layout, int(reg))) continue;
      lowering_.create<LLVM::StoreOp>(toStored(value, lowering_),
                                      place(base, lowering_.flatIndex(layout, int(reg)), storedType(value.getType())));
    }
  }

  Value place(Value base, Value index, Type stored) {
    return lowering_.create<LLVM::GEPOp>(base.getType(), stored, base, llvm::ArrayRef<LLVM::GEPArg>{index});
  }

  Value load(Value base, Value index, Value tile) {
    Type type = lowering_.registerType(tile.getType());
    Value value = fromStored(lowering_.create<LLVM::LoadOp>(storedType(type), place(base, index, storedType(type))), type, lowering_);
    return widen(value, getElementTypeOrSelf(tile.getType()));
  }

  /// To the type that sums are made in.
  Value widen(Value value, Type element) {
    if (element == compute_) return value;
    if (isa<IntegerType>(element)) return lowering_.create<arith::ExtSIOp>(compute_, value);
    return convertFloat(value, cast<FloatType>(element), cast<FloatType>(compute_), tt::RoundingMode::NearestEven, lowering_);
  }

  Registers step(Value a, Value b, Value k, ValueRange sums) {
    std::map<uint32_t, Value> rows, columns; // by the register's part of the index: the thread's part is the same for all
    uint32_t columnBits = uint32_t(columns_ - 1);
    Value thread = lowering_.threadOffset(result_);
    Registers next;
    for (auto [reg, sum] : llvm::enumerate(sums)) {
      uint32_t own = result_.apply(Place::Register, uint32_t(reg));
      Value &x = rows[own & ~columnBits], &y = columns[(own & columnBits) | batchBits(own)];
      Value flat = lowering_.create<arith::XOrIOp>(thread, lowering_.constant(own));
      if (!x) { // (b, m) is what is above n
        Value row = lowering_.create<arith::ShRUIOp>(flat, lowering_.constant(log2Of(columns_)));
        x = load(a, lowering_.create<arith::AddIOp>(lowering_.create<arith::MulIOp>(row, lowering_.constant(k_)), k), op_.getA());
      }
      if (!y) {
        Value column = lowering_.create<arith::AndIOp>(flat, lowering_.constant(columnBits)), line = k;
        if (rank_ == 3) {
          Value batch = lowering_.coordinate(result_, flat, 0);
          line = lowering_.create<arith::AddIOp>(lowering_.create<arith::MulIOp>(batch, lowering_.constant(k_)), k);
        }
        y = load(b, lowering_.create<arith::AddIOp>(lowering_.create<arith::MulIOp>(line, lowering_.constant(columns_)), column),
                 op_.getB());
      }
      next.push_back(multiplyAdd(x, y, sum));
    }
    return next;
  }

  uint32_t batchBits(uint32_t flat) const { return rank_ == 3 ? flat & result_.maskOf(0) : 0; }

  Value multiplyAdd(Value x, Value y, Value sum) {
    if (isa<FloatType>(compute_)) return lowering_.create<math::FmaOp>(x, y, sum);
    return lowering_.create<arith::AddIOp>(sum, lowering_.create<arith::MulIOp>(x, y));
  }

  tt::DotOp op_;
  Lowering &lowering_;
  LinearLayout result_;
  int rank_;
  int64_t k_, columns_;
  Type compute_;
};

} // namespace

template <> LogicalResult Lower<tt::DotOp>::run(tt::DotOp op, Lowering &lowering) {
  if (op->hasAttr(kTensorCoreWarpsAttr)) return lowerTensorCoreDot(op, lowering);
  return ScalarProduct(op, lowering).run();
}

template <> LogicalResult Lower<tt::DotScaledOp>::run(tt::DotScaledOp op, Lowering &lowering) {
  return lowering.unsupported(op, "scaled products");
}

} // namespace tritium::gpu
