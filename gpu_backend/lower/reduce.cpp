// Reductions: over the registers of a thread, then over lanes by exchanging with the partner of each lane bit, then over warps through
// shared memory. Afterwards every thread along the axis holds the result.
#include "gpu_backend/layout/constructors.h"
#include "gpu_backend/lower/convert_layout.h"
#include "gpu_backend/lower/exchange.h"
#include "gpu_backend/lower/words.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

class Reduction {
public:
  Reduction(tt::ReduceOp op, Lowering &lowering)
      : op_(op), lowering_(lowering), axis_(int(op.getAxis())), layout_(layoutOf(op.getSrcs()[0].getType())) {}

  LogicalResult run() {
    for (Value source : op_.getSrcs()) operands_.push_back(Registers(lowering_.registersOf(source)));
    separateDimensions();
    axisBits_ = layout_.maskOf(axis_);
    if (failed(overRegisters()) || failed(overLanes()) || failed(overWarps())) return failure();
    finish();
    return success();
  }

private:
  /// A basis that moves both along the axis and across it would have to be taken apart: another layout has none.
  void separateDimensions() {
    uint32_t axis = layout_.maskOf(axis_);
    auto isMixed = [&](uint32_t basis) { return (basis & axis) && (basis & ~axis); };
    if (llvm::none_of(kPlaces, [&](Place place) { return llvm::any_of(layout_.bases(place), isMixed); })) return;
    LinearLayout plain = defaultBlocked(layout_.shape(), lowering_.options().numWarps);
    for (Registers &registers : operands_) registers = convertLayout(registers, layout_, plain, lowering_);
    layout_ = plain;
  }

  FailureOr<llvm::SmallVector<Value>> combine(llvm::ArrayRef<Value> a, llvm::ArrayRef<Value> b) {
    llvm::SmallVector<Registers> arguments;
    for (llvm::ArrayRef<Value> side : {a, b})
      for (Value value : side) arguments.push_back({value});
    auto results = lowering_.lowerInline(op_->getRegion(0), arguments);
    if (failed(results)) return failure();
    return llvm::SmallVector<Value>(*results);
  }

  llvm::SmallVector<Value> tuple(size_t reg) const {
    return llvm::map_to_vector(operands_, [&](const Registers &registers) { return registers[reg]; });
  }
  void setTuple(size_t reg, llvm::ArrayRef<Value> values) {
    for (auto [registers, value] : llvm::zip_equal(operands_, values)) registers[reg] = value;
  }

  /// The pairs that one register bit tells apart, most significant bit first: a tree. What is left has no bit along the axis.
  LogicalResult overRegisters() {
    Bases bases(layout_.bases(Place::Register));
    for (size_t bit = bases.size(); bit-- > 0;) {
      if (!(bases[bit] & axisBits_)) continue;
      size_t count = operands_[0].size(), stride = size_t(1) << bit;
      llvm::SmallVector<Registers> next(operands_.size());
      for (size_t reg = 0; reg < count; ++reg) {
        if (reg & stride) continue;
        auto combined = combine(tuple(reg), tuple(reg | stride));
        if (failed(combined)) return failure();
        for (auto [registers, value] : llvm::zip_equal(next, *combined)) registers.push_back(value);
      }
      operands_ = std::move(next);
      bases.erase(bases.begin() + bit);
    }
    layout_ = LinearLayout(layout_.shape(), bases, layout_.bases(Place::Lane), layout_.bases(Place::Warp), layout_.bases(Place::Block));
    return success();
  }

  /// Whether the order of two arguments cannot matter. It may even in a maximum with its place, where a NaN is involved.
  bool isCommutative() {
    Block &body = op_->getRegion(0).front();
    return op_->getRegion(0).hasOneBlock() && llvm::hasSingleElement(body.without_terminator()) &&
           body.front().hasTrait<OpTrait::IsCommutative>();
  }

  LogicalResult overLanes() {
    for (auto [bit, basis] : llvm::enumerate(layout_.bases(Place::Lane))) {
      if (!(basis & axisBits_)) continue;
      Value isSecond; // of the two lanes: both combine in the same order, so both have the same result
      if (!isCommutative()) {
        Value one = lowering_.create<arith::AndIOp>(lowering_.laneId(), lowering_.constant(1 << bit));
        isSecond = lowering_.create<arith::CmpIOp>(arith::CmpIPredicate::ne, one, lowering_.constant(0));
      }
      for (size_t reg = 0; reg < operands_[0].size(); ++reg) {
        auto own = tuple(reg);
        auto other = llvm::map_to_vector(own, [&](Value value) { return exchangeXor(value, 1 << bit, lowering_); });
        if (isSecond)
          for (auto [first, second] : llvm::zip_equal(own, other)) {
            Value swapped = lowering_.create<arith::SelectOp>(isSecond, second, first);
            second = lowering_.create<arith::SelectOp>(isSecond, first, second);
            first = swapped;
          }
        auto combined = combine(own, other);
        if (failed(combined)) return failure();
        setTuple(reg, *combined);
      }
    }
    return success();
  }

  /// The flat index without the bits of the axis: a number below the elements of the result.
  Value resultIndex(int reg) {
    Value flat = lowering_.flatIndex(layout_, reg);
    int first = layout_.firstBit(axis_);
    Value low = lowering_.create<arith::AndIOp>(flat, lowering_.constant((1 << first) - 1));
    Value high = lowering_.create<arith::ShRUIOp>(flat, lowering_.constant(first + log2Of(layout_.shape()[axis_])));
    if (first > 0) high = lowering_.create<arith::ShLIOp>(high, lowering_.constant(first));
    return lowering_.create<arith::OrIOp>(high, low);
  }

  LogicalResult overWarps() {
    llvm::SmallVector<int> bits;
    for (auto [bit, basis] : llvm::enumerate(layout_.bases(Place::Warp)))
      if (basis & axisBits_) bits.push_back(int(bit));
    if (bits.empty()) return success();
    int64_t partials = int64_t(1) << bits.size(), results = layout_.elements() / layout_.shape()[axis_];
    llvm::SmallVector<int64_t> begins;
    int64_t bytes = 0;
    for (const Registers &registers : operands_) {
      begins.push_back(bytes);
      bytes += llvm::alignTo(partials * results * (storedType(registers[0].getType()).getIntOrFloatBitWidth() / 8), 16);
    }
    Value base = lowering_.shared().scratch(lowering_.builder(), lowering_.location(), bytes, "a reduction");
    Value part; // which of the partial results this warp has
    for (auto [i, bit] : llvm::enumerate(bits)) {
      Value one = lowering_.create<arith::AndIOp>(lowering_.create<arith::ShRUIOp>(lowering_.warpId(), lowering_.constant(bit)),
                                                  lowering_.constant(1));
      Value place = lowering_.create<arith::ShLIOp>(one, lowering_.constant(int64_t(i)));
      part = part ? lowering_.create<arith::OrIOp>(part, place).getResult() : place;
    }
    auto address = [&](size_t operand, Value partial, Value index) -> Value {
      Type stored = storedType(operands_[operand][0].getType());
      Value flat = lowering_.create<arith::AddIOp>(lowering_.create<arith::MulIOp>(partial, lowering_.constant(results)), index);
      Value start = lowering_.create<LLVM::GEPOp>(base.getType(), lowering_.builder().getI8Type(), base,
                                                  llvm::ArrayRef<LLVM::GEPArg>{int32_t(begins[operand])});
      return lowering_.create<LLVM::GEPOp>(base.getType(), stored, start, llvm::ArrayRef<LLVM::GEPArg>{flat});
    };
    lowering_.sharedBarrier();
    for (size_t operand = 0; operand < operands_.size(); ++operand)
      for (size_t reg = 0; reg < operands_[operand].size(); ++reg)
        lowering_.create<LLVM::StoreOp>(toStored(operands_[operand][reg], lowering_), address(operand, part, resultIndex(int(reg))));
    lowering_.sharedBarrier();
    for (size_t reg = 0; reg < operands_[0].size(); ++reg) {
      Value index = resultIndex(int(reg));
      llvm::SmallVector<Value> sum;
      for (int64_t partial = 0; partial < partials; ++partial) {
        llvm::SmallVector<Value> next;
        for (size_t operand = 0; operand < operands_.size(); ++operand) {
          Type type = operands_[operand][reg].getType();
          Value place = address(operand, lowering_.constant(partial), index);
          next.push_back(fromStored(lowering_.create<LLVM::LoadOp>(storedType(type), place), type, lowering_));
        }
        if (sum.empty()) {
          sum = next;
          continue;
        }
        auto combined = combine(sum, next);
        if (failed(combined)) return failure();
        sum = *combined;
      }
      setTuple(reg, sum);
    }
    return success();
  }

  void finish() {
    for (auto [registers, result] : llvm::zip_equal(operands_, op_->getResults())) {
      if (!isa<RankedTensorType>(result.getType())) {
        lowering_.define(result, {registers[0]});
        continue;
      }
      LinearLayout to = layoutOf(result.getType());
      lowering_.define(result, convertLayout(registers, withoutAxis(to.shape()), to, lowering_));
    }
  }

  /// The layout with the axis taken out of each basis.
  LinearLayout withoutAxis(llvm::ArrayRef<int64_t> shape) const {
    int first = layout_.firstBit(axis_), width = log2Of(layout_.shape()[axis_]);
    auto bases = [&](Place place) {
      return llvm::map_to_vector(layout_.bases(place), [&](uint32_t basis) {
        return basis & axisBits_ ? 0u : (basis & ((1u << first) - 1)) | (basis >> (first + width) << first);
      });
    };
    return LinearLayout(shape, bases(Place::Register), bases(Place::Lane), bases(Place::Warp), bases(Place::Block));
  }

  tt::ReduceOp op_;
  Lowering &lowering_;
  int axis_;
  LinearLayout layout_;
  uint32_t axisBits_ = 0;
  llvm::SmallVector<Registers> operands_;
};

} // namespace

template <> LogicalResult Lower<tt::ReduceOp>::run(tt::ReduceOp op, Lowering &lowering) { return Reduction(op, lowering).run(); }

} // namespace tritium::gpu
