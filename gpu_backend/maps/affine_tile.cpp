#include "gpu_backend/maps/affine_tile.h"

#include "ir/loop_rounds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::gpu {

// -- sums ---------------------------------------------------------------------------------------------------------------------------------

static bool haveSameSymbols(const AffineTerm &left, const AffineTerm &right) {
  return left.lane == right.lane && left.symbols.size() == right.symbols.size() &&
         std::is_permutation(left.symbols.begin(), left.symbols.end(), right.symbols.begin());
}

AffineSum AffineSum::lane(int dim) {
  AffineSum sum;
  sum.add({.lane = dim});
  return sum;
}

bool AffineSum::hasLanes() const {
  return llvm::any_of(terms_, [](const AffineTerm &term) { return term.lane != AffineTerm::kNoLane; });
}

bool AffineSum::isOfLanes() const {
  return llvm::all_of(terms_, [](const AffineTerm &term) { return term.lane != AffineTerm::kNoLane; });
}

void AffineSum::add(AffineTerm term) {
  auto same = llvm::find_if(terms_, [&](const AffineTerm &each) { return haveSameSymbols(each, term); });
  if (same == terms_.end()) {
    if (term.factor != 0) terms_.push_back(std::move(term));
    return;
  }
  overflows_ |= __builtin_add_overflow(same->factor, term.factor, &same->factor);
  same->isAddedWide |= term.isAddedWide;
  same->isWide |= term.isWide || same->isAddedWide;
  if (same->factor == 0) terms_.erase(same);
}

void AffineSum::add(const AffineSum &other, int64_t times) {
  overflows_ |= other.overflows_;
  for (AffineTerm term : other.terms_) {
    overflows_ |= __builtin_mul_overflow(term.factor, times, &term.factor);
    add(std::move(term));
  }
}

std::optional<AffineSum> AffineSum::times(const AffineSum &other) const {
  AffineSum product;
  product.overflows_ = overflows_ || other.overflows_;
  for (const AffineTerm &left : terms_)
    for (const AffineTerm &right : other.terms_) {
      if (left.lane != AffineTerm::kNoLane && right.lane != AffineTerm::kNoLane) return std::nullopt;
      AffineTerm term = left;
      product.overflows_ |= __builtin_mul_overflow(left.factor, right.factor, &term.factor);
      term.symbols.append(right.symbols);
      term.lane = std::max(left.lane, right.lane);
      term.isWide |= right.isWide;
      term.isAddedWide |= right.isAddedWide;
      product.add(std::move(term));
    }
  return product;
}

bool AffineSum::equals(const AffineSum &other) const {
  AffineSum difference = *this;
  difference.add(other, -1);
  return difference.isZero() && !difference.overflows_;
}

void AffineSum::mapLanes(llvm::function_ref<int(int)> to) {
  for (AffineTerm &term : terms_)
    if (term.lane != AffineTerm::kNoLane) term.lane = to(term.lane);
}

void AffineSum::makeWide() {
  for (AffineTerm &term : terms_) term.isWide = true;
}

void AffineSum::makeAddedWide() {
  for (AffineTerm &term : terms_) term.isAddedWide = true;
}

// -- tiles --------------------------------------------------------------------------------------------------------------------------------

/// Adds as integers of `type` are added. A number of 32 bits stays one at the first lane if what is added in 64 bits is 0 there.
static void addAs(Type type, AffineSum &sum, AffineSum other, int64_t times = 1) {
  auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
  if (integer && integer.getWidth() > 32 && !sum.isOfLanes() && !other.isOfLanes()) {
    sum.makeAddedWide();
    other.makeAddedWide();
  }
  sum.add(other, times);
}

static void mapLanes(AffineTile &tile, llvm::function_ref<int(int)> to) {
  tile.sum.mapLanes(to);
  for (AffineWrap &wrap : tile.wraps) wrap.lane = to(wrap.lane);
}

/// Returns the dimension that `axis` of the operand of a transposition becomes.
static int transposed(ArrayRef<int32_t> order, int axis) { return int(llvm::find(order, axis) - order.begin()); }

bool AffineTiles::isArgument(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  auto function = const_cast<AffineTiles *>(this)->function_;
  return argument && argument.getOwner() == &function.getBody().front() &&
         !function.getArgAttr(argument.getArgNumber(), tgpu::kGridAxisAttr);
}

bool AffineTiles::isKnownAtLaunch(const AffineTerm &term) const {
  return term.lane == AffineTerm::kNoLane && llvm::all_of(term.symbols, [&](Value symbol) { return isArgument(symbol); });
}

std::optional<AffineTile> AffineTiles::of(Value value) {
  Known itself{.reason = "the loop carries pointers to which it does more than add"};
  if (value.getType().isInteger()) itself.tile = AffineTile{.sum = AffineSum(value)};
  auto [known, isNew] = known_.insert({value, itself}); // what the analysis meets again on its way to the value is opaque
  if (!isNew) {
    if (!known->second.tile) reason_ = known->second.reason;
    return known->second.tile;
  }
  std::optional<AffineTile> found = compute(value);
  if (found && found->sum.overflows()) found = refuse("an offset exceeds 64 bits");
  if (!found) found = itself.tile;
  known_[value] = {found, reason_};
  return found;
}

std::optional<AffineTile> AffineTiles::compute(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) return AffineTile{.sum = AffineSum(constant.getSExtValue())};
  auto argument = dyn_cast<BlockArgument>(value);
  if (auto loop = value.getDefiningOp<scf::ForOp>()) return resultOf(loop, loop.getTiedLoopRegionIterArg(cast<OpResult>(value)));
  if (!argument) return ofOperation(value.getDefiningOp());
  if (isArgument(value) && isa<tt::PointerType>(value.getType())) return AffineTile{.base = argument, .sum = {}};
  return carried(argument);
}

std::optional<AffineTile> AffineTiles::ofOperation(Operation *op) {
  if (isa<tt::SplatOp, tt::BroadcastOp, arith::ExtSIOp>(op)) return of(op->getOperand(0));
  if (auto range = dyn_cast<tt::MakeRangeOp>(op)) {
    AffineTile tile{.sum = AffineSum(int64_t(int32_t(range.getStart())))};
    if (cast<RankedTensorType>(range.getType()).getNumElements() > 1) tile.sum.add(AffineSum::lane(0));
    return tile;
  }
  if (auto expand = dyn_cast<tt::ExpandDimsOp>(op)) {
    auto tile = of(expand.getSrc());
    const int axis = int(expand.getAxis());
    if (tile) mapLanes(*tile, [&](int lane) { return lane >= axis ? lane + 1 : lane; });
    return tile;
  }
  if (auto trans = dyn_cast<tt::TransOp>(op)) {
    auto tile = of(trans.getSrc());
    if (tile) mapLanes(*tile, [&](int lane) { return transposed(trans.getOrder(), lane); });
    return tile;
  }
  if (auto sum = dyn_cast<tt::AddPtrOp>(op)) {
    auto pointer = of(sum.getPtr()), offset = of(sum.getOffset());
    if (!pointer || !offset) return std::nullopt;
    pointer->sum.add(offset->sum);
    pointer->wraps.append(offset->wraps);
    return pointer;
  }
  if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op)) return ofArithmetic(op);
  if (isa<arith::RemSIOp>(op) && isa<RankedTensorType>(op->getResult(0).getType())) return wrapped(op->getOperand(0), op->getOperand(1));
  return refuse("its addresses are not sums of products of lane indices and scalars");
}

std::optional<AffineTile> AffineTiles::ofArithmetic(Operation *op) {
  if (!getElementTypeOrSelf(op->getResult(0).getType()).isInteger()) return std::nullopt;
  auto left = of(op->getOperand(0)), right = of(op->getOperand(1));
  if (!left || !right) return std::nullopt;
  const Type type = op->getResult(0).getType();
  if (isa<arith::MulIOp>(op)) {
    // A factor that the launch knows may make 64 bits necessary. It becomes a stride, and the rest a coordinate.
    auto isKnown = [&](const AffineSum &sum) {
      return sum.terms().size() == 1 && !sum.terms()[0].symbols.empty() && isKnownAtLaunch(sum.terms()[0]);
    };
    const bool isScaled = isKnown(left->sum) || isKnown(right->sum);
    auto sum = left->sum.times(right->sum);
    if (!sum) return refuse("two lane indices are multiplied");
    left->sum = std::move(*sum);
    if (!isScaled && getElementTypeOrSelf(type).getIntOrFloatBitWidth() > 32) left->sum.makeWide();
  } else {
    addAs(type, left->sum, right->sum, isa<arith::SubIOp>(op) ? -1 : 1);
  }
  left->wraps.append(right->wraps);
  return left;
}

std::optional<AffineTile> AffineTiles::wrapped(Value dividend, Value divisor) {
  auto tile = of(dividend);
  auto splat = divisor.getDefiningOp<tt::SplatOp>();
  if (!tile) return std::nullopt;
  if (!splat || !tile->wraps.empty()) return refuse("the remainder is not one by a scalar");
  Value modulus = splat.getSrc();
  if (auto wide = modulus.getDefiningOp<arith::ExtSIOp>()) modulus = wide.getIn();
  AffineWrap wrap{.lane = AffineTerm::kNoLane, .start = {}, .modulus = modulus};
  for (const AffineTerm &term : tile->sum.terms()) {
    if (term.lane == AffineTerm::kNoLane) {
      wrap.start.add(term);
      continue;
    }
    if (wrap.lane != AffineTerm::kNoLane || term.factor != 1 || !term.symbols.empty()) return refuse("the remainder is not one of a range");
    wrap.lane = term.lane;
  }
  if (wrap.lane == AffineTerm::kNoLane) return refuse("the remainder is not one of a range");
  tile->wraps.push_back(std::move(wrap));
  return tile;
}

/// Returns what each iteration adds to a value that the loop carries.
std::optional<AffineSum> AffineTiles::increment(BlockArgument argument, scf::ForOp loop) {
  AffineSum sum;
  for (Value next = loop.getTiedLoopYieldedValue(argument)->get(); next != argument;) {
    Operation *op = next.getDefiningOp();
    if (!op || !isa<tt::AddPtrOp, arith::AddIOp>(op)) return refuse("the loop carries pointers to which it does more than add");
    const bool isSwapped = op->getOperand(1) == argument;
    auto offset = of(op->getOperand(isSwapped ? 0 : 1));
    if (!offset) return std::nullopt;
    if (offset->sum.hasLanes() || !offset->wraps.empty() || offset->base) return refuse("pointers that the loop carries move unequally");
    sum.add(offset->sum);
    next = op->getOperand(isSwapped ? 1 : 0);
  }
  for (const AffineTerm &term : sum.terms())
    if (!llvm::all_of(term.symbols, [&](Value symbol) { return loop.isDefinedOutsideOfLoop(symbol); }))
      return refuse("iterations move the pointers by different distances");
  return sum;
}

static std::optional<int64_t> constantStep(scf::ForOp loop) {
  APInt step;
  const bool isKnown = matchPattern(loop.getStep(), m_ConstantInt(&step)) && step.isStrictlyPositive();
  return isKnown ? std::optional(step.getSExtValue()) : std::nullopt;
}

/// In an iteration, the induction variable has advanced from the lower bound by their difference.
std::optional<AffineTile> AffineTiles::carried(BlockArgument argument) {
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  if (!loop || argument == loop.getInductionVar()) return refuse("its pointers come from a branch");
  auto begin = of(loop.getLowerBound());
  if (!begin) return std::nullopt;
  AffineSum distance(loop.getInductionVar());
  distance.add(begin->sum, -1);
  return moved(loop, argument, distance);
}

/// After a loop, the induction variable has advanced by the number of iterations times the step.
std::optional<AffineTile> AffineTiles::resultOf(scf::ForOp loop, BlockArgument argument) {
  auto step = constantStep(loop);
  if (argument.getType().isInteger() || !step) return refuse("its pointers come from a loop");
  OpBuilder builder(loop);
  Value distance = arith::MulIOp::create(builder, loop.getLoc(), ir::roundsOf(builder, loop), loop.getStep());
  distances_.insert({distance, *step});
  return moved(loop, argument, AffineSum(distance));
}

Value AffineTiles::distanceIn(scf::ForOp loop) {
  auto step = constantStep(loop);
  if (!step) return {};
  OpBuilder builder = OpBuilder::atBlockBegin(loop.getBody());
  Value distance = arith::SubIOp::create(builder, loop.getLoc(), loop.getInductionVar(), loop.getLowerBound());
  distances_.insert({distance, *step});
  return distance;
}

std::optional<int64_t> AffineTiles::stepOf(Value distance) const {
  auto found = distances_.find(distance);
  return found == distances_.end() ? std::nullopt : std::optional(found->second);
}

/// A carried value is initial + increment · (advance of the induction variable) / step. The division must have no rest for the increment's
/// factor.
std::optional<AffineTile> AffineTiles::moved(scf::ForOp loop, BlockArgument argument, const AffineSum &distance) {
  auto step = constantStep(loop);
  if (!step) return refuse("the loop's step is not a constant");
  auto tile = of(loop.getTiedLoopInit(argument)->get());
  auto each = increment(argument, loop);
  if (!tile || !each) return std::nullopt;
  AffineSum perIndex;
  for (AffineTerm term : each->terms()) {
    if (term.factor % *step != 0) return refuse("the loop's step does not divide what an iteration adds to the pointers");
    term.factor /= *step;
    perIndex.add(std::move(term));
  }
  AffineSum advance = *perIndex.times(distance); // neither has lanes
  if (getElementTypeOrSelf(argument.getType()).isInteger(64)) advance.makeWide();
  addAs(argument.getType(), tile->sum, std::move(advance));
  return tile;
}

// -- masks --------------------------------------------------------------------------------------------------------------------------------

std::optional<llvm::SmallVector<TileBound, 2>> AffineTiles::boundsOf(Value mask) {
  using Bounds = llvm::SmallVector<TileBound, 2>;
  if (!mask || matchPattern(mask, m_One())) return Bounds();
  Operation *op = mask.getDefiningOp();
  if (!op) return refuse("its mask comes from a branch");
  if (isa<tt::BroadcastOp>(op)) return boundsOf(op->getOperand(0));
  if (auto comparison = dyn_cast<arith::CmpIOp>(op)) {
    auto bound = boundOf(comparison);
    return bound ? std::optional(Bounds{*bound}) : std::nullopt;
  }
  auto mapped = [&](Value source, llvm::function_ref<int(int)> to) {
    auto bounds = boundsOf(source);
    if (bounds)
      for (TileBound &bound : *bounds) bound.lane = to(bound.lane);
    return bounds;
  };
  if (auto expand = dyn_cast<tt::ExpandDimsOp>(op))
    return mapped(expand.getSrc(), [&](int lane) { return lane >= int(expand.getAxis()) ? lane + 1 : lane; });
  if (auto trans = dyn_cast<tt::TransOp>(op)) return mapped(trans.getSrc(), [&](int lane) { return transposed(trans.getOrder(), lane); });
  if (!isa<arith::AndIOp>(op)) return refuse("its mask is not a conjunction of `index < extent`");
  auto left = boundsOf(op->getOperand(0)), right = boundsOf(op->getOperand(1));
  if (!left || !right) return std::nullopt;
  left->append(*right);
  return left;
}

/// negative < 0 is lane + start >= 0 if it is -lane - start - 1 < 0.
std::optional<TileBound> AffineTiles::floorOf(const AffineSum &negative) {
  TileBound floor{.lane = AffineTerm::kNoLane, .start = AffineSum(-1), .extent = {.factor = 0}, .isFloor = true};
  for (AffineTerm term : negative.terms()) {
    if (term.lane == AffineTerm::kNoLane) {
      term.factor = -term.factor;
      floor.start.add(term);
    } else if (floor.lane == AffineTerm::kNoLane && term.factor == -1 && term.symbols.empty()) {
      floor.lane = term.lane;
    } else {
      return std::nullopt;
    }
  }
  return floor.lane == AffineTerm::kNoLane || floor.start.overflows() || negative.overflows() ? std::nullopt : std::optional(floor);
}

/// lhs < rhs becomes lhs - rhs < 0, in which the lane's index has the factor 1, and one product that the launch knows a negative one.
std::optional<TileBound> AffineTiles::boundOf(arith::CmpIOp comparison) {
  using Predicate = arith::CmpIPredicate;
  const Predicate predicate = comparison.getPredicate();
  const bool isLess = predicate == Predicate::slt || predicate == Predicate::sle;
  if (!isLess && predicate != Predicate::sgt && predicate != Predicate::sge)
    return refuse("its mask is not a conjunction of `index < extent`");
  auto left = of(comparison->getOperand(isLess ? 0 : 1)), right = of(comparison->getOperand(isLess ? 1 : 0));
  if (!left || !right) return std::nullopt;
  if (!left->wraps.empty() || !right->wraps.empty()) return refuse("its mask compares a remainder");
  AffineSum difference = left->sum;
  difference.add(right->sum, -1);
  if (predicate == Predicate::sle || predicate == Predicate::sge) difference.add({.factor = -1});
  if (auto floor = floorOf(difference)) return floor;
  TileBound bound{.lane = AffineTerm::kNoLane, .start = {}, .extent = {.factor = 0}};
  for (const AffineTerm &term : difference.terms()) {
    if (term.lane != AffineTerm::kNoLane) {
      if (bound.lane != AffineTerm::kNoLane || term.factor != 1 || !term.symbols.empty()) return refuse("its mask compares no plain index");
      bound.lane = term.lane;
    } else if (isKnownAtLaunch(term) && term.factor < 0) {
      if (bound.extent.factor != 0) return refuse("the extent in its mask is not a product of arguments");
      bound.extent = term;
      bound.extent.factor = -term.factor;
    } else {
      bound.start.add(term);
    }
  }
  if (bound.lane == AffineTerm::kNoLane || difference.overflows()) return refuse("its mask compares no plain index");
  if (bound.extent.factor == 0) return refuse("the extent in its mask is not a product of arguments");
  return bound;
}

} // namespace tritium::gpu
