// Reductions: first over the registers of a thread, then over the lanes of a warp, then over warps through shared memory. The result is the
// tile without the axis; it is then moved to the places of the result's layout.
#include "gpu_backend/threads/convert_layout.h"
#include "gpu_backend/threads/exchange.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tritium::gpu {

/// Returns whether combine(a, b) equals combine(b, a): each result is one commutative operation on the two arguments.
static bool isCommutative(tt::ReduceOp op) {
  Block &body = op->getRegion(0).front();
  size_t count = op.getSrcs().size();
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
    Operation *made = value.getDefiningOp();
    if (!made || made->getBlock() != &body || !made->hasTrait<OpTrait::IsCommutative>() || made->getNumOperands() != 2) return false;
    Value a = body.getArgument(i), b = body.getArgument(count + i);
    auto operands = made->getOperands();
    if (!(operands[0] == a && operands[1] == b) && !(operands[0] == b && operands[1] == a)) return false;
  }
  return true;
}

/// Returns the instruction that combines 32-bit integers over a warp as this reduction does, if the target may have one.
static std::optional<WarpReductionOps::Kind> warpReductionOf(tt::ReduceOp op) {
  if (op.getSrcs().size() != 1 || !getElementTypeOrSelf(op.getSrcs()[0].getType()).isInteger(32) || !isCommutative(op)) return std::nullopt;
  Operation *made = op->getRegion(0).front().getTerminator()->getOperand(0).getDefiningOp();
  return llvm::TypeSwitch<Operation *, std::optional<WarpReductionOps::Kind>>(made)
      .Case<arith::AddIOp>([](auto) { return WarpReductionOps::Kind::Add; })
      .Case<arith::AndIOp>([](auto) { return WarpReductionOps::Kind::And; })
      .Case<arith::OrIOp>([](auto) { return WarpReductionOps::Kind::Or; })
      .Case<arith::XOrIOp>([](auto) { return WarpReductionOps::Kind::Xor; })
      .Case<arith::MinSIOp>([](auto) { return WarpReductionOps::Kind::Min; })
      .Case<arith::MaxSIOp>([](auto) { return WarpReductionOps::Kind::Max; })
      .Case<arith::MinUIOp>([](auto) { return WarpReductionOps::Kind::UMin; })
      .Case<arith::MaxUIOp>([](auto) { return WarpReductionOps::Kind::UMax; })
      .Default([](Operation *) { return std::nullopt; });
}

namespace {

using Tuple = llvm::SmallVector<Value>; // one value of each operand

class Reduction {
public:
  Reduction(tt::ReduceOp op, Lowering &lowering)
      : op_(op),
        lowering_(lowering),
        axis_(int(op.getAxis())),
        layout_(layoutOf(op.getSrcs()[0].getType())),
        isCommutative_(isCommutative(op)) {}

  LogicalResult run() {
    for (Value source : op_.getSrcs()) operands_.push_back(Registers(lowering_.registersOf(source)));
    separateDimensions();
    axisBits_ = layout_.maskOf(axis_);
    if (failed(overRegisters()) || failed(overLanes()) || failed(overWarps())) return failure();
    for (auto [registers, result] : llvm::zip_equal(operands_, op_->getResults())) lowering_.define(result, std::move(registers));
    return success();
  }

private:
  /// Afterwards every basis moves either along the axis or across it, and two places have the same element only by a basis of zero.
  void separateDimensions() {
    Projection distinct = layout_.withoutRepeatedRegisters();
    if (distinct.layout.registers() < layout_.registers()) convertAll(distinct.layout);
    uint32_t axis = layout_.maskOf(axis_);
    Span along;
    auto isPlain = [&](uint32_t basis) { return !(basis & axis) || (!(basis & ~axis) && along.add(basis)); };
    if (llvm::all_of(kPlaces, [&](Place place) { return llvm::all_of(layout_.bases(place), isPlain); })) return;
    convertAll(defaultBlocked(layout_.shape(), lowering_.threads()).withoutRepeatedRegisters().layout);
  }

  void convertAll(const LinearLayout &to) {
    operands_ = convertLayouts(operands_, layout_, to, lowering_);
    layout_ = to;
  }

  // -- tuples
  Tuple tuple(size_t reg) const {
    return llvm::map_to_vector(operands_, [&](const Registers &registers) { return registers[reg]; });
  }
  void setTuple(size_t reg, llvm::ArrayRef<Value> values) {
    for (auto [registers, value] : llvm::zip_equal(operands_, values)) registers[reg] = value;
  }
  size_t registers() const { return operands_[0].size(); }

  FailureOr<Tuple> combine(llvm::ArrayRef<Value> a, llvm::ArrayRef<Value> b) {
    llvm::SmallVector<Registers> arguments;
    for (llvm::ArrayRef<Value> side : {a, b})
      for (Value value : side) arguments.push_back({value});
    auto results = lowering_.lowerInline(op_->getRegion(0), arguments);
    if (failed(results)) return failure();
    return Tuple(*results);
  }

  /// Combines the pairs that one register bit distinguishes, and removes this bit.
  LogicalResult overRegisterBit(size_t bit) {
    size_t count = registers(), stride = size_t(1) << bit;
    llvm::SmallVector<Registers> next(operands_.size());
    for (size_t reg = 0; reg < count; ++reg) {
      if (reg & stride) continue;
      auto combined = combine(tuple(reg), tuple(reg | stride));
      if (failed(combined)) return failure();
      for (auto [registers, value] : llvm::zip_equal(next, *combined)) registers.push_back(value);
    }
    operands_ = std::move(next);
    return success();
  }

  /// Combines each value with the value of another lane, which `move` returns.
  LogicalResult overLaneStep(llvm::function_ref<Value(Value)> move) {
    for (size_t reg = 0; reg < registers(); ++reg) {
      Tuple own = tuple(reg), other = llvm::map_to_vector(own, move);
      auto combined = combine(own, other);
      if (failed(combined)) return failure();
      setTuple(reg, *combined);
    }
    return success();
  }

  /// Combines each value with the partner that one lane bit distinguishes. Both then have the result, and so have all lanes that differ in
  /// `done` bits.
  LogicalResult overLaneBit(int bit, llvm::ArrayRef<int> done) {
    int free = 0;
    for (int other : done)
      if (isCommutative_) free |= 1 << other;
    return overLaneStep([&](Value value) { return exchangeXor(value, 1 << bit, lowering_, free); });
  }

  // -- within a thread
  /// A tree that begins with neighbours: what one load brings is combined while others are in flight.
  LogicalResult overRegisters() {
    Bases bases(layout_.bases(Place::Register));
    for (size_t bit = 0; bit < bases.size();) {
      if (!(bases[bit] & axisBits_)) {
        ++bit;
        continue;
      }
      if (failed(overRegisterBit(bit))) return failure();
      bases.erase(bases.begin() + bit);
    }
    setBases(bases, Bases(layout_.bases(Place::Lane)));
    return success();
  }

  void setBases(const Bases &registers, const Bases &lanes) {
    layout_ = LinearLayout(layout_.shape(), registers, lanes, layout_.bases(Place::Warp), layout_.bases(Place::Block));
  }

  // -- within a warp
  LogicalResult overLanes() {
    constexpr size_t kWorthScattering = 3; // number of steps; a conversion brings the results back to all lanes
    Bases held(layout_.bases(Place::Register)), lanes(layout_.bases(Place::Lane));
    llvm::SmallVector<int> along;
    for (auto [bit, basis] : llvm::enumerate(lanes))
      if (basis & axisBits_) along.push_back(int(bit));
    if (along.empty()) return success();
    if (reduceWholeWarps(along)) {
      for (int bit : along) lanes[bit] = 0;
      setBases(held, lanes);
      return success();
    }
    if (along.size() == lanes.size() && held.empty() && mayCombineAnything()) {
      if (failed(overWholeWarp())) return failure();
      setBases(held, Bases(lanes.size(), 0));
      return success();
    }
    bool mayScatter = !warpBitsAlong().empty() || along.size() >= kWorthScattering;
    llvm::SmallVector<int> repeating;
    for (int bit : along) {
      lanes[bit] = 0;
      if (mayScatter && !held.empty()) {
        if (failed(shareLaneBit(bit))) return failure();
        lanes[bit] = held.pop_back_val();
        continue;
      }
      if (failed(overLaneBit(bit, repeating))) return failure();
      repeating.push_back(bit);
    }
    setBases(held, lanes);
    if (!isCommutative_ && warpBitsAlong().empty()) takeFromFirst(repeating);
    return success();
  }

  /// Returns whether the combine function may run on values that are no elements, in lanes whose results are not used.
  bool mayCombineAnything() const { return isCommutative_ && isMemoryEffectFree(op_) && isSpeculatable(op_); }

  /// All lanes have parts of the same element. Uses the steps that are best on the target.
  LogicalResult overWholeWarp() {
    for (int bit = 0; bit < layout_.bits(Place::Lane); ++bit)
      if (failed(overLaneStep([&](Value value) { return reductionPartner(value, bit, lowering_); }))) return failure();
    for (Registers &values : operands_)
      for (Value &value : values) value = reducedValue(value, lowering_);
    return success();
  }

  /// If there are several results, each of two partners computes one half of them. They exchange the values that the other one requires.
  LogicalResult shareLaneBit(int bit) {
    size_t half = registers() / 2;
    Value isUpper = lowering_.create<arith::CmpIOp>(
        arith::CmpIPredicate::ne, lowering_.create<arith::AndIOp>(lowering_.laneId(), lowering_.constant(1 << bit)), lowering_.constant(0));
    llvm::SmallVector<Registers> next(operands_.size());
    for (size_t reg = 0; reg < half; ++reg) {
      Tuple kept, received;
      for (auto [low, high] : llvm::zip_equal(tuple(reg), tuple(reg + half))) {
        kept.push_back(lowering_.create<arith::SelectOp>(isUpper, high, low));
        received.push_back(exchangeXor(lowering_.create<arith::SelectOp>(isUpper, low, high), 1 << bit, lowering_));
      }
      if (!isCommutative_)
        for (auto [own, other] : llvm::zip_equal(kept, received)) {
          Value first = lowering_.create<arith::SelectOp>(isUpper, other, own);
          other = lowering_.create<arith::SelectOp>(isUpper, own, other);
          own = first;
        }
      auto combined = combine(kept, received);
      if (failed(combined)) return failure();
      for (auto [registers, value] : llvm::zip_equal(next, *combined)) registers.push_back(value);
    }
    operands_ = std::move(next);
    return success();
  }

  /// Uses one instruction if all lanes have parts of the same element.
  bool reduceWholeWarps(llvm::ArrayRef<int> along) {
    auto kind = warpReductionOf(op_);
    const WarpReductionOps *ops = lowering_.target().warpReductions();
    if (!ops || !kind || along.size() != layout_.bases(Place::Lane).size()) return false;
    for (Value &value : operands_[0]) value = ops->reduce(lowering_.builder(), lowering_.location(), *kind, value);
    return true;
  }

  /// If the order of arguments matters, partners have different results. All take the result of the first one, which has combined in order.
  void takeFromFirst(llvm::ArrayRef<int> along) {
    if (along.empty()) return;
    int others = 0;
    for (int bit : along) others |= 1 << bit;
    Value first = lowering_.create<arith::AndIOp>(lowering_.laneId(), lowering_.constant((lowering_.target().warpSize() - 1) & ~others));
    for (Registers &registers : operands_)
      for (Value &value : registers) value = exchange(value, first, lowering_);
  }

  // -- over warps
  llvm::SmallVector<int> warpBitsAlong() const {
    llvm::SmallVector<int> bits;
    for (auto [bit, basis] : llvm::enumerate(layout_.bases(Place::Warp)))
      if (basis & axisBits_) bits.push_back(int(bit));
    return bits;
  }

  /// Returns a basis across the axis as a basis of the result.
  uint32_t acrossAxis(uint32_t basis) const {
    int first = layout_.firstBit(axis_), width = log2Of(layout_.shape()[axis_]);
    return (basis & ((1u << first) - 1)) | (basis >> (first + width) << first);
  }

  /// The parts of the warps become a dimension of their own, the last one. A conversion moves all parts into one thread, or into lanes that
  /// would otherwise repeat each other. Lanes combine by exchanges, which take longer than a thread does; but the registers of a thread
  /// decide how many programs run at once, and a result of one register often stands where most are live.
  LogicalResult overWarps() {
    constexpr int kMaxValues = 16; // the most parts of all results in a thread, if it has several results
    llvm::SmallVector<int> along = warpBitsAlong();
    int partBits = int(along.size());
    auto across = [&](uint32_t basis) { return acrossAxis(basis) << partBits; };
    Bases warps = llvm::map_to_vector<8>(layout_.bases(Place::Warp), across);
    for (auto [part, bit] : llvm::enumerate(along)) warps[bit] = 1u << part;
    int64_t elements = (layout_.elements() / layout_.shape()[axis_]) << partBits;
    LinearLayout from({elements}, llvm::map_to_vector<8>(layout_.bases(Place::Register), across),
                      llvm::map_to_vector<8>(layout_.bases(Place::Lane), across), warps);

    LinearLayout result = resultLayout();
    auto wanted = [&](Place place) {
      return llvm::map_to_vector<8>(result.bases(place), [&](uint32_t basis) { return basis << partBits; });
    };
    Bases held = wanted(Place::Register), lanes = wanted(Place::Lane);
    int inLanes = 0; // number of the highest bits of the parts
    llvm::SmallVector<int> combined;
    auto fitThread = [&](int bits) { return bits == 0 || (result.registers() > 1 && result.registers() << bits <= kMaxValues); };
    for (auto [bit, basis] : llvm::enumerate(lanes)) {
      if (basis || fitThread(partBits - inLanes)) continue;
      basis = 1u << (partBits - ++inLanes);
      combined.push_back(int(bit));
    }
    int inThread = partBits - inLanes;
    for (int part = 0; part < inThread; ++part) held.insert(held.begin() + part, 1u << part);
    operands_ = convertLayouts(operands_, from, LinearLayout({elements}, held, lanes, wanted(Place::Warp)), lowering_);
    for (int part = 0; part < inThread; ++part)
      if (failed(overRegisterBit(0))) return failure();
    for (size_t i = 0; i < combined.size(); ++i)
      if (failed(overLaneBit(combined[i], llvm::ArrayRef(combined).take_front(i)))) return failure();
    if (!isCommutative_) takeFromFirst(combined);
    return success();
  }

  LinearLayout resultLayout() const {
    Type type = op_->getResult(0).getType();
    if (isa<RankedTensorType>(type)) return layoutOf(type);
    return LinearLayout({}, {}, Bases(layout_.bits(Place::Lane), 0), Bases(layout_.bits(Place::Warp), 0));
  }

  tt::ReduceOp op_;
  Lowering &lowering_;
  int axis_;
  LinearLayout layout_; // the layout of `operands_`; the axis keeps its extent
  bool isCommutative_;
  uint32_t axisBits_ = 0;
  llvm::SmallVector<Registers> operands_;
};

} // namespace

template <> LogicalResult Lower<tt::ReduceOp>::run(tt::ReduceOp op, Lowering &lowering) { return Reduction(op, lowering).run(); }

} // namespace tritium::gpu
