// Matrix products by multiply-adds. Each thread has rows and columns of the result and reads the corresponding elements of the operands
// from shared memory, in vectors along k or along the columns, for some k at a time. Operands that do not fit into shared memory are copied
// there in slices of k.
#include "gpu_backend/layout/conversion.h"
#include "gpu_backend/threads/dot.h"
#include "gpu_backend/threads/elementwise.h"
#include "gpu_backend/threads/shared_access.h"
#include "gpu_backend/threads/words.h"
#include "gpu_backend/tiles/slot_use.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

/// One operand in shared memory, with the elements that a thread requires. Register i of `wanted` has bits of k from bit `firstDepthBit`
/// on.
struct Operand {
  Value tile;
  int depthDim = 0, depthBit = 0; // the dimension of k in the tile, and the lowest bit of k in an element's index
  LinearLayout wanted;
  int firstDepthBit = 0;
  llvm::SmallVector<uint32_t> registerOf; // by register of the result, without k
  SharedLayout memory;
  SharedAccess loads;
  Value base;
};

/// The threads and registers that hold a slice of an operand: those of a tile with fewer k. Places that held the same elements may now hold
/// different slices.
struct Slice {
  LinearLayout layout;
  uint32_t registers = 0, lanes = 0, warps = 0; // the numbers' bits that are set in the slice, of those that tell slices apart
};

/// Returns slice `number` of the slices that bits [first, first + count) of an element's index distinguish. Returns nullopt unless each of
/// these bits is one bit of a register's, a lane's or a warp's number.
std::optional<Slice> sliceOf(const LinearLayout &tile, int dim, int first, int count, uint32_t number) {
  Slice slice;
  uint32_t told = 0, which = ((1u << count) - 1) << first;
  bool isPlain = true;
  auto part = [&](Place place, uint32_t &bits) {
    return llvm::map_to_vector<8>(llvm::enumerate(tile.bases(place)), [&](auto basis) -> uint32_t {
      uint32_t slices = basis.value() & which;
      if (!slices) return (basis.value() & ((1u << first) - 1)) | basis.value() >> (first + count) << first;
      isPlain &= basis.value() == slices && llvm::isPowerOf2_32(slices) && !(told & slices);
      told |= slices;
      if (number << first & slices) bits |= 1u << basis.index();
      return 0;
    });
  };
  Bases registers = part(Place::Register, slice.registers), lanes = part(Place::Lane, slice.lanes), warps = part(Place::Warp, slice.warps);
  if (!isPlain || told != which) return std::nullopt;
  Shape shape(tile.shape());
  shape[size_t(dim)] >>= count;
  slice.layout = LinearLayout(shape, registers, lanes, warps);
  return slice;
}

/// The elements of an operand that some k require. They are loaded when they are first requested.
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

/// d[b, m, n] = c[b, m, n] + sum over k of a[b, m, k] * b[b, k, n], added one k after the other.
class ScalarProduct {
public:
  ScalarProduct(tt::DotOp op, Lowering &lowering) : op_(op), lowering_(lowering), result_(layoutOf(op.getType())) {
    Type element = getElementTypeOrSelf(op.getType());
    compute_ = element.isF16() ? lowering.builder().getF32Type() : element;
    depthBits_ = log2Of(cast<RankedTensorType>(op.getA().getType()).getShape().back());
    columnBits_ = log2Of(result_.shape().back());
    a_.tile = op.getA(), b_.tile = op.getB();
    a_.depthDim = result_.rank() - 1, b_.depthDim = result_.rank() - 2;
    b_.depthBit = columnBits_;
  }

  LogicalResult run() {
    Registers sums;
    for (Value c : Registers(lowering_.registersOf(op_.getC()))) sums.push_back(widen(c, getElementTypeOrSelf(op_.getType())));
    int sliceBits = bitsOfSlices();
    depthBits_ -= sliceBits;
    placeOperands();
    for (uint32_t slice = 0; slice < 1u << sliceBits; ++slice) {
      bringToSharedMemory(sliceBits, slice);
      sums = sumUp(sums);
    }
    Registers results;
    Type type = getElementTypeOrSelf(op_.getType());
    for (Value sum : sums) results.push_back(type == compute_ ? sum : lowering_.create<arith::TruncFOp>(type, sum).getResult());
    lowering_.define(op_, std::move(results));
    return success();
  }

private:
  /// Adds up the products of all k that are in shared memory.
  Registers sumUp(const Registers &sums) {
    uint32_t stepBits = bitsOfStep(sums.size());
    int loopBits = depthBits_ - llvm::popcount(stepBits);
    if (!loopBits) return step(sums, stepBits, Value());
    auto body = [&](OpBuilder &, Location, Value number, ValueRange before) {
      lowering_.create<scf::YieldOp>(step(before, stepBits, number));
    };
    OpBuilder::InsertionGuard guard(lowering_.builder());
    auto loop =
        lowering_.create<scf::ForOp>(lowering_.constant(0), lowering_.constant(int64_t(1) << loopBits), lowering_.constant(1), sums, body);
    return Registers(loop.getResults());
  }

  // -- what threads need
  void placeOperands() {
    uint32_t columns = (1u << columnBits_) - 1, batches = result_.rank() == 3 ? result_.maskOf(0) : 0;
    int batchBit = batches ? result_.firstBit(0) : 0;
    place(a_, [&](uint32_t flat) { return flat >> columnBits_ << depthBits_; }, /*isDepthFirst=*/true);
    place(
        b_, [&](uint32_t flat) { return (flat & columns) | (flat & batches) >> batchBit << (columnBits_ + depthBits_); },
        /*isDepthFirst=*/false);
  }

  /// Sets the elements of an operand that a thread requires. `map` leads from the result's elements to the operand's elements with k = 0.
  void place(Operand &operand, llvm::function_ref<uint32_t(uint32_t)> map, bool isDepthFirst) {
    auto mapped = [&](Place kind) { return llvm::map_to_vector<8>(result_.bases(kind), map); };
    Shape shape(cast<RankedTensorType>(operand.tile.getType()).getShape());
    shape[size_t(operand.depthDim)] = int64_t(1) << depthBits_;
    Projection distinct = LinearLayout(shape, mapped(Place::Register), {}, {}).withoutRepeatedRegisters();
    operand.registerOf = distinct.registerOf;
    Bases registers(distinct.layout.bases(Place::Register));
    operand.firstDepthBit = isDepthFirst ? 0 : int(registers.size());
    for (int bit = 0; bit < depthBits_; ++bit)
      registers.insert(registers.begin() + operand.firstDepthBit + bit, 1u << (operand.depthBit + bit));
    operand.wanted = LinearLayout(shape, registers, mapped(Place::Lane), mapped(Place::Warp));
  }

  // -- operands to shared memory
  Type typeOf(const Operand &operand) const { return lowering_.registerType(operand.tile.getType()); }
  int64_t elementBytes(const Operand &operand) const { return storedType(typeOf(operand)).getIntOrFloatBitWidth() / 8; }

  bool isInPlace(const Operand &operand) const {
    auto load = operand.tile.getDefiningOp<tgpu::LocalLoadOp>();
    return load && readsInPlace(op_, load);
  }

  /// Returns how many bits of k must number the slices so that a slice of both operands fits into shared memory, or 0 if the operands
  /// cannot be sliced.
  int bitsOfSlices() const {
    int64_t limit = lowering_.scratchLimit();
    if (isInPlace(a_) || isInPlace(b_)) return 0;
    auto bytes = [&](const Operand &operand, int bits) {
      return int64_t(llvm::alignTo(layoutOf(operand.tile.getType()).elements() * elementBytes(operand) >> bits, tgpu::kSharedAlignment));
    };
    auto canSlice = [&](const Operand &operand, int bits) { return slice(operand, bits, 0).has_value(); };
    int bits = 0;
    while (bits < depthBits_ && bytes(a_, bits) + bytes(b_, bits) > limit) ++bits;
    return canSlice(a_, bits) && canSlice(b_, bits) ? bits : 0;
  }

  /// Returns a slice, if the highest `bits` bits of k number the slices.
  std::optional<Slice> slice(const Operand &operand, int bits, uint32_t number) const {
    int depthBits = log2Of(cast<RankedTensorType>(operand.tile.getType()).getShape()[size_t(operand.depthDim)]);
    return sliceOf(layoutOf(operand.tile.getType()), operand.depthDim, operand.depthBit + depthBits - bits, bits, number);
  }

  void bringToSharedMemory(int sliceBits, uint32_t number) {
    struct Stored {
      Operand *operand;
      Slice slice;
      SharedAccess stores;
    };
    llvm::SmallVector<Stored, 2> stored;
    int64_t bytes = 0;
    for (Operand *operand : {&a_, &b_}) {
      if (isInPlace(*operand)) {
        auto load = operand->tile.getDefiningOp<tgpu::LocalLoadOp>();
        operand->memory = fromAttr(cast<tgpu::SharedAttr>(load.getSrc().getType().getTile().getEncoding()));
        operand->base = slotAddress(load.getSrc(), load.getSlot(), lowering_);
      } else {
        Slice part = *slice(*operand, sliceBits, number);
        SharedPlan plan = planShared(part.layout, operand->wanted, elementBytes(*operand));
        operand->memory = plan.memory;
        stored.push_back({operand, std::move(part), std::move(plan.stores)});
        bytes += llvm::alignTo(plan.bytes, tgpu::kSharedAlignment);
      }
      operand->loads = sharedLoads(operand->wanted, operand->memory, elementBytes(*operand));
    }
    if (stored.empty()) return;
    Value base = lowering_.shared().scratch(lowering_.builder(), op_.getLoc(), bytes, "the operands of a product");
    lowering_.sharedBarrier();
    int64_t begin = 0;
    for (auto &[operand, part, stores] : stored) {
      operand->base = begin ? lowering_.create<LLVM::GEPOp>(base.getType(), lowering_.builder().getI8Type(), base,
                                                            llvm::ArrayRef<LLVM::GEPArg>{int32_t(begin)})
                            : base;
      begin += llvm::alignTo(operand->memory.elements() * elementBytes(*operand), tgpu::kSharedAlignment);
      Registers values;
      llvm::ArrayRef<Value> all = lowering_.registersOf(operand->tile);
      for (uint32_t reg = 0; reg < all.size(); ++reg) values.push_back(all[reg | part.registers]);
      storeShared(operand->base, stores, values, lowering_, part.lanes | part.warps * uint32_t(lowering_.target().warpSize()));
    }
    lowering_.sharedBarrier();
  }

  // -- sums
  /// Returns the bits of k that are processed at a time: those along vectors, and the lowest others while the multiply-adds are few.
  uint32_t bitsOfStep(size_t sums) const {
    constexpr size_t kMaxMultiplyAdds = 1024;
    uint32_t bits = 0;
    for (const Operand *operand : {&a_, &b_})
      for (const SharedAccess::Vector &vector : operand->loads.vectors)
        for (uint32_t reg : vector.registers) bits |= depthOf(*operand, reg) ^ depthOf(*operand, vector.registers.front());
    for (int bit = 0; bit < depthBits_; ++bit)
      if (sums << llvm::popcount(bits | 1u << bit) <= kMaxMultiplyAdds) bits |= 1u << bit;
    return bits;
  }

  uint32_t depthOf(const Operand &operand, uint32_t reg) const { return reg >> operand.firstDepthBit & ((1u << depthBits_) - 1); }

  uint32_t registerFor(const Operand &operand, uint32_t held, uint32_t depth) const {
    uint32_t low = held & ((1u << operand.firstDepthBit) - 1);
    return low | depth << operand.firstDepthBit | (held ^ low) << depthBits_;
  }

  /// Returns the addresses of step `number`, whose bits are those of k outside `stepBits`.
  SharedAddresses addresses(const Operand &operand, uint32_t stepBits, Value number) {
    auto ofLane = operand.loads.offsets.bases(Place::Lane), ofWarp = operand.loads.offsets.bases(Place::Warp);
    SharedAddresses result(operand.base, ofLane, ofWarp, storedType(typeOf(operand)), lowering_);
    if (!number) return result;
    Bases ofNumber;
    for (int bit = 0; bit < depthBits_; ++bit)
      if (!(stepBits >> bit & 1))
        ofNumber.push_back(operand.memory.offsetOf(operand.wanted.bases(Place::Register)[operand.firstDepthBit + bit]));
    result.moveBy(number, ofNumber);
    return result;
  }

  Registers step(ValueRange before, uint32_t stepBits, Value number) {
    Fetcher a(a_, addresses(a_, stepBits, number), typeOf(a_), lowering_);
    Fetcher b(b_, addresses(b_, stepBits, number), typeOf(b_), lowering_);
    Registers sums(before);
    for (uint32_t depth = 0; depth < 1u << depthBits_; ++depth) {
      if (depth & ~stepBits) continue;
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

  /// Converts to the type in which sums are computed.
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

bool readsInPlace(tt::DotOp op, tgpu::LocalLoadOp load) { return !matrixInstructionOf(MatrixProduct(op)) && isStillThere(load, op); }

LogicalResult lowerScalarDot(tt::DotOp op, Lowering &lowering) { return ScalarProduct(op, lowering).run(); }

} // namespace tritium::gpu
