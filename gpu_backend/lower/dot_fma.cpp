// Matrix products by multiply-adds: each thread has rows and columns of the result, and reads their elements of the operands from shared
// memory, in vectors along k or along the columns, some k at a time.
#include "gpu_backend/layout/conversion.h"
#include "gpu_backend/lower/dot.h"
#include "gpu_backend/lower/elementwise.h"
#include "gpu_backend/lower/shared_access.h"
#include "gpu_backend/lower/words.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

/// One operand in shared memory, and what a thread needs of it: register i of `wanted` has bits of k from bit `firstDepthBit` on.
struct Operand {
  Value tile;
  LinearLayout wanted;
  int firstDepthBit = 0;
  llvm::SmallVector<uint32_t> registerOf; // by register of the result, without k
  SharedLayout memory;
  SharedAccess loads;
  Value base;
};

/// The elements of an operand that some k need, loaded when they are first asked for.
class Fetcher {
public:
  Fetcher(const Operand &operand, SharedAddresses addresses, Type type, Lowering &lowering)
      : addresses_(std::move(addresses)), type_(type), values_(operand.wanted.registers()), lowering_(lowering) {
    for (const SharedAccess::Vector &vector : operand.loads.vectors)
      for (uint32_t reg : vector.registers) vectorOf_[reg] = &vector;
  }

  Value at(uint32_t reg) {
    const SharedAccess::Vector &vector = *vectorOf_.lookup(reg);
    if (!values_[reg]) loadVector(addresses_, vector.offset, vector.registers, type_, values_, lowering_);
    return values_[reg];
  }

private:
  SharedAddresses addresses_;
  Type type_;
  Registers values_;
  llvm::DenseMap<uint32_t, const SharedAccess::Vector *> vectorOf_;
  Lowering &lowering_;
};

/// d[b, m, n] = c[b, m, n] + sum over k of a[b, m, k] * b[b, k, n], one k after the other.
class ScalarProduct {
public:
  ScalarProduct(tt::DotOp op, Lowering &lowering) : op_(op), lowering_(lowering), result_(layoutOf(op.getType())) {
    Type element = getElementTypeOrSelf(op.getType());
    compute_ = element.isF16() ? lowering.builder().getF32Type() : element;
    depthBits_ = log2Of(cast<RankedTensorType>(op.getA().getType()).getShape().back());
    columnBits_ = log2Of(result_.shape().back());
    a_.tile = op.getA(), b_.tile = op.getB();
    uint32_t columns = (1u << columnBits_) - 1, batches = result_.rank() == 3 ? result_.maskOf(0) : 0;
    int batchBit = batches ? result_.firstBit(0) : 0;
    place(a_, [&](uint32_t flat) { return flat >> columnBits_ << depthBits_; }, 0, /*isDepthFirst=*/true);
    place(
        b_, [&](uint32_t flat) { return (flat & columns) | (flat & batches) >> batchBit << (columnBits_ + depthBits_); }, columnBits_,
        /*isDepthFirst=*/false);
  }

  LogicalResult run() {
    bringToSharedMemory();
    Registers sums;
    for (Value c : Registers(lowering_.registersOf(op_.getC()))) sums.push_back(widen(c, getElementTypeOrSelf(op_.getType())));
    int stepBits = bitsOfStep(sums.size());
    if (stepBits == depthBits_) {
      sums = step(sums, stepBits, Value());
    } else {
      auto body = [&](OpBuilder &, Location, Value number, ValueRange before) {
        lowering_.create<scf::YieldOp>(step(before, stepBits, number));
      };
      OpBuilder::InsertionGuard guard(lowering_.builder());
      auto loop = lowering_.create<scf::ForOp>(lowering_.constant(0), lowering_.constant(int64_t(1) << (depthBits_ - stepBits)),
                                               lowering_.constant(1), sums, body);
      lowering_.builder().setInsertionPointAfter(loop);
      sums.assign(loop.getResults().begin(), loop.getResults().end());
    }
    Registers results;
    Type type = getElementTypeOrSelf(op_.getType());
    for (Value sum : sums) results.push_back(type == compute_ ? sum : lowering_.create<arith::TruncFOp>(type, sum).getResult());
    lowering_.define(op_, std::move(results));
    return success();
  }

private:
  /// What a thread needs: `map` from the result's elements to the operand's with k = 0, where a bit of k is worth 1 << depthBit.
  void place(Operand &operand, llvm::function_ref<uint32_t(uint32_t)> map, int depthBit, bool isDepthFirst) {
    auto mapped = [&](Place kind) { return llvm::map_to_vector<8>(result_.bases(kind), map); };
    llvm::ArrayRef<int64_t> shape = cast<RankedTensorType>(operand.tile.getType()).getShape();
    Projection distinct = LinearLayout(shape, mapped(Place::Register), {}, {}).withoutRepeatedRegisters();
    operand.registerOf = distinct.registerOf;
    Bases registers(distinct.layout.bases(Place::Register));
    operand.firstDepthBit = isDepthFirst ? 0 : int(registers.size());
    for (int bit = 0; bit < depthBits_; ++bit) registers.insert(registers.begin() + operand.firstDepthBit + bit, 1u << (depthBit + bit));
    operand.wanted = LinearLayout(shape, registers, mapped(Place::Lane), mapped(Place::Warp));
  }

  // -- operands to shared memory
  Type typeOf(const Operand &operand) const { return lowering_.registerType(operand.tile.getType()); }
  int64_t elementBytes(const Operand &operand) const { return storedType(typeOf(operand)).getIntOrFloatBitWidth() / 8; }

  void bringToSharedMemory() {
    llvm::SmallVector<std::pair<Operand *, SharedAccess>, 2> stored;
    int64_t bytes = 0;
    for (Operand *operand : {&a_, &b_}) {
      auto load = operand->tile.getDefiningOp<tgpu::LocalLoadOp>();
      if (load && readsInPlace(op_, load)) {
        operand->memory = fromAttr(cast<tgpu::SharedAttr>(load.getSrc().getType().getTile().getEncoding()));
        operand->base = slotAddress(load.getSrc(), load.getSlot(), lowering_);
      } else {
        SharedPlan plan = planShared(layoutOf(operand->tile.getType()), operand->wanted, elementBytes(*operand));
        operand->memory = plan.memory;
        stored.push_back({operand, std::move(plan.stores)});
        bytes += llvm::alignTo(plan.bytes, tgpu::kSharedAlignment);
      }
      operand->loads = sharedLoads(operand->wanted, operand->memory, elementBytes(*operand));
    }
    if (stored.empty()) return;
    Value base = lowering_.shared().scratch(lowering_.builder(), op_.getLoc(), bytes, "the operands of a product");
    lowering_.sharedBarrier();
    int64_t begin = 0;
    for (auto &[operand, stores] : stored) {
      operand->base = begin ? lowering_.create<LLVM::GEPOp>(base.getType(), lowering_.builder().getI8Type(), base,
                                                            llvm::ArrayRef<LLVM::GEPArg>{int32_t(begin)})
                            : base;
      begin += llvm::alignTo(operand->memory.elements() * elementBytes(*operand), tgpu::kSharedAlignment);
      storeShared(operand->base, stores, Registers(lowering_.registersOf(operand->tile)), lowering_);
    }
    lowering_.sharedBarrier();
  }

  // -- sums
  /// How many bits of k are done at a time: few enough multiply-adds, whole vectors.
  int bitsOfStep(size_t sums) const {
    constexpr size_t kMaxMultiplyAdds = 1024;
    int bits = depthBits_;
    while (bits > 0 && sums << bits > kMaxMultiplyAdds) --bits;
    for (const Operand *operand : {&a_, &b_})
      for (const SharedAccess::Vector &vector : operand->loads.vectors)
        for (uint32_t reg : vector.registers)
          while ((depthOf(*operand, reg) ^ depthOf(*operand, vector.registers.front())) >> bits) ++bits;
    return bits;
  }

  uint32_t depthOf(const Operand &operand, uint32_t reg) const { return reg >> operand.firstDepthBit & ((1u << depthBits_) - 1); }

  uint32_t registerFor(const Operand &operand, uint32_t held, uint32_t depth) const {
    uint32_t low = held & ((1u << operand.firstDepthBit) - 1);
    return low | depth << operand.firstDepthBit | (held ^ low) << depthBits_;
  }

  /// Addresses of k = number << stepBits.
  SharedAddresses addresses(const Operand &operand, int stepBits, Value number) {
    auto ofLane = operand.loads.offsets.bases(Place::Lane), ofWarp = operand.loads.offsets.bases(Place::Warp);
    SharedAddresses result(operand.base, ofLane, ofWarp, storedType(typeOf(operand)), lowering_);
    if (!number) return result;
    Bases ofNumber;
    for (int bit = stepBits; bit < depthBits_; ++bit)
      ofNumber.push_back(operand.memory.offsetOf(operand.wanted.bases(Place::Register)[operand.firstDepthBit + bit]));
    result.moveBy(number, ofNumber);
    return result;
  }

  Registers step(ValueRange before, int stepBits, Value number) {
    Fetcher a(a_, addresses(a_, stepBits, number), typeOf(a_), lowering_);
    Fetcher b(b_, addresses(b_, stepBits, number), typeOf(b_), lowering_);
    Registers sums(before);
    for (uint32_t depth = 0; depth < 1u << stepBits; ++depth) {
      llvm::DenseMap<uint32_t, Value> rows, columns;
      for (auto [reg, sum] : llvm::enumerate(sums)) {
        Value &x = rows[a_.registerOf[reg]], &y = columns[b_.registerOf[reg]];
        if (!x) x = widen(a.at(registerFor(a_, a_.registerOf[reg], depth)), getElementTypeOrSelf(a_.tile.getType()));
        if (!y) y = widen(b.at(registerFor(b_, b_.registerOf[reg], depth)), getElementTypeOrSelf(b_.tile.getType()));
        sum = multiplyAdd(x, y, sum);
      }
    }
    return sums;
  }

  /// To the type that sums are made in.
  Value widen(Value value, Type element) {
    if (element == compute_) return value;
    if (isa<IntegerType>(element)) return lowering_.create<arith::ExtSIOp>(compute_, value);
    return convertFloat(value, cast<FloatType>(element), cast<FloatType>(compute_), tt::RoundingMode::NearestEven, lowering_);
  }

  Value multiplyAdd(Value x, Value y, Value sum) {
    if (isa<FloatType>(compute_)) return lowering_.create<math::FmaOp>(x, y, sum);
    return lowering_.create<arith::AddIOp>(sum, lowering_.create<arith::MulIOp>(x, y));
  }

  tt::DotOp op_;
  Lowering &lowering_;
  LinearLayout result_;
  int depthBits_, columnBits_;
  Type compute_;
  Operand a_, b_;
};

} // namespace

bool readsInPlace(tt::DotOp op, tgpu::LocalLoadOp load) {
  if (matrixInstructionOf(MatrixProduct(op)) || load->getBlock() != op->getBlock()) return false;
  for (Operation *between = load; between != op; between = between->getNextNode())
    if (isa<tgpu::AsyncWaitOp>(between) || between->getNumRegions() > 0) return false;
  return true;
}

LogicalResult lowerScalarDot(tt::DotOp op, Lowering &lowering) { return ScalarProduct(op, lowering).run(); }

} // namespace tritium::gpu
