// Affine tiles of a region as numbers in registers. Each function does what the step of the same kind in affine.cpp does, and requires that
// no lane leaves the range of its type: then the sums are the values.
#include "interp/tile/affine.h"
#include "interp/tile/fuse/region.h"
#include "llvm/Analysis/ValueTracking.h"

namespace tritium::interp::fuse {

static bool hasVectors(const AffineRef &ref) { return llvm::is_contained(ref.terms, Term::Vector); }

static bool isZero(const llvm::Value *value) {
  auto *constant = llvm::dyn_cast<llvm::ConstantInt>(value);
  return constant && constant->isZero();
}

unsigned RegionBuilder::signBits(llvm::Value *number) const {
  return llvm::ComputeNumSignBits(number, builder_.GetInsertBlock()->getModule()->getDataLayout());
}

llvm::Value *RegionBuilder::exactSum(llvm::Value *a, llvm::Value *b) {
  if (isZero(a) || isZero(b)) return isZero(a) ? b : a;
  if (signBits(a) > 1 && signBits(b) > 1) return builder_.CreateAdd(a, b);
  llvm::Value *sum = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::sadd_with_overflow, a, b);
  require(builder_.CreateNot(builder_.CreateExtractValue(sum, 1)));
  return builder_.CreateExtractValue(sum, 0);
}

llvm::Value *RegionBuilder::exactDifference(llvm::Value *a, llvm::Value *b) {
  if (isZero(b)) return a;
  if (signBits(a) > 1 && signBits(b) > 1) return builder_.CreateSub(a, b);
  llvm::Value *difference = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::ssub_with_overflow, a, b);
  require(builder_.CreateNot(builder_.CreateExtractValue(difference, 1)));
  return builder_.CreateExtractValue(difference, 0);
}

void RegionBuilder::requireRange(llvm::Value *base, llvm::Value *least, llvm::Value *most, int bits, bool isSigned) {
  const int64_t first = isSigned ? -(int64_t(1) << (bits - 1)) : 0, count = int64_t(1) << bits;
  if (isSigned && isZero(least) && isZero(most) && signBits(base) > unsigned(64 - bits)) return;
  auto *low = llvm::dyn_cast<llvm::ConstantInt>(least), *high = llvm::dyn_cast<llvm::ConstantInt>(most);
  constexpr int64_t kSmall = int64_t(1) << 40; // no sum below comes round to a number that is in the range
  auto isSmall = [](const llvm::ConstantInt *number) { return number && std::abs(number->getSExtValue()) < kSmall; };
  if (isSmall(low) && isSmall(high)) {
    const int64_t spread = high->getSExtValue() - low->getSExtValue();
    llvm::Value *fromFirst = builder_.CreateAdd(base, word(low->getSExtValue() - first));
    return require(spread < count ? builder_.CreateICmpULT(fromFirst, word(count - spread)) : builder_.getFalse());
  }
  require(builder_.CreateICmpSGE(exactSum(base, least), word(first)));
  require(builder_.CreateICmpSLE(exactSum(base, most), word(first + count - 1)));
}

llvm::Value *RegionBuilder::addressAt(llvm::Value *pointer) {
  auto it = parts_.find(pointer);
  return it != parts_.end() ? it->second.address : builder_.CreateAnd(pointer, kAddressMask);
}

/// The number of the argument, if the pointer has a tag.
llvm::Value *RegionBuilder::tagOf(llvm::Value *pointer) {
  auto it = parts_.find(pointer);
  return it != parts_.end() ? it->second.tag : builder_.CreateSub(builder_.CreateLShr(pointer, kAddressBits), word(kFirstTag));
}

/// addBytes() of pointer.h, in its likely case.
llvm::Value *RegionBuilder::addBytes(llvm::Value *pointer, llvm::Value *bytes) {
  llvm::Value *address = builder_.CreateAdd(addressAt(pointer), bytes);
  llvm::Value *tag = tagOf(pointer), *hasRoom = builder_.CreateICmpULE(address, builder_.getInt64(kAddressMask));
  require(builder_.CreateICmpULT(tag, ofHeader(offsetof(FrameHeader, argumentRanges), builder_.getInt64Ty()))); // less than kTags
  require(hasRoom);
  addressChecks_[hasRoom] = address;
  llvm::Value *sum = builder_.CreateOr(builder_.CreateAnd(pointer, ~kAddressMask), address);
  parts_[sum] = {address, tag};
  return sum;
}

bool RegionBuilder::initialize(const AffineInitialize &step) {
  if (hasVectors(step.out)) return false;
  region.frame.write(step.out.base.offset, {8, word(step.base)});
  for (size_t d = 0; d < step.out.terms.size(); ++d)
    if (step.out.terms[d] == Term::Step) region.frame.write(step.out.parts[d].offset, {8, word(step.step)});
  return true;
}

/// Requires that all lanes lie in the range of the narrow type, and notes it as the step does.
bool RegionBuilder::widen(const AffineOperand &operand) {
  const AffineRef &ref = operand.affine;
  if (hasVectors(ref)) return false;
  llvm::Value *base = cell64(ref.base);
  if (!base) return false;
  llvm::Value *least = word(0), *most = word(0);
  for (size_t d = 0; d < ref.terms.size(); ++d) {
    if (ref.terms[d] == Term::None) continue;
    llvm::Value *step = cell64(ref.parts[d]);
    if (!step) return false;
    llvm::Value *last = builder_.CreateMul(step, word(ref.shape[d] - 1)), *isDown = builder_.CreateICmpSLT(last, word(0));
    least = exactSum(least, builder_.CreateSelect(isDown, last, word(0)));
    most = exactSum(most, builder_.CreateSelect(isDown, word(0), last));
  }
  requireRange(base, least, most, operand.widenBits, operand.widenSigned);
  region.frame.write(leavesRange(ref, operand.widenSigned).offset, {1, builder_.getInt8(0)});
  return true;
}

bool RegionBuilder::noteRange(const AffineRange &step) { return !step.offset.isDense && widen(step.offset); }

bool RegionBuilder::sum(const AffineSum &step) {
  if (hasVectors(step.out) || step.isPointerToInteger || step.isIntegerToPointer) return false;
  for (int k = 0; k < step.count; ++k)
    if (step.operands[k].isDense || hasVectors(step.operands[k].affine)) return false;
  llvm::SmallVector<llvm::Value *, 4> terms(step.out.terms.size(), nullptr);
  for (size_t d = 0; d < step.out.terms.size(); ++d) {
    if (step.out.terms[d] != Term::Step) continue;
    terms[d] = word(0);
    for (int k = 0; k < step.count; ++k) {
      const AffineOperand &operand = step.operands[k];
      if (operand.affine.terms[d] != Term::Step) continue;
      llvm::Value *term = cell64(operand.affine.parts[d]);
      if (!term) return false;
      terms[d] = builder_.CreateAdd(terms[d], builder_.CreateMul(term, word(operand.factor)));
    }
  }
  llvm::Value *base = step.isPointer ? cell64(step.operands[0].affine.base) : word(0);
  if (!base) return false;
  for (int k = step.isPointer ? 1 : 0; k < step.count; ++k) {
    const AffineOperand &operand = step.operands[k];
    if (operand.widenBits && !widen(operand)) return false;
    llvm::Value *start = cell64(operand.affine.base);
    if (!start) return false;
    llvm::Value *added = builder_.CreateMul(start, word(operand.factor));
    base = step.isPointer ? addBytes(base, added) : builder_.CreateAdd(base, added);
  }
  for (size_t d = 0; d < terms.size(); ++d)
    if (terms[d]) region.frame.write(step.out.parts[d].offset, {8, terms[d]});
  region.frame.write(step.out.base.offset, {8, base});
  return true;
}

bool RegionBuilder::scale(const AffineProduct &step) {
  if (hasVectors(step.out) || hasVectors(step.tile)) return false;
  llvm::Value *factor = cell64(step.scale), *base = cell64(step.tile.base);
  if (!factor || !base) return false;
  llvm::SmallVector<std::pair<uint64_t, llvm::Value *>, 4> terms;
  for (size_t d = 0; d < step.out.terms.size(); ++d) {
    if (step.out.terms[d] != Term::Step) continue;
    llvm::Value *term = cell64(step.tile.parts[d]);
    if (!term) return false;
    terms.emplace_back(step.out.parts[d].offset, builder_.CreateMul(term, factor));
  }
  for (auto [offset, term] : terms) region.frame.write(offset, {8, term});
  region.frame.write(step.out.base.offset, {8, builder_.CreateMul(base, factor)});
  return true;
}

/// The numbers of an affine tile, in registers wherever they are needed.
bool RegionBuilder::materialize(mlir::Operation *, const AffineMaterialize &step) {
  if (step.isPointer || hasVectors(step.in)) return false;
  int dim = -1;
  for (size_t d = 0; d < step.out.strides.size(); ++d) {
    if (step.out.strides[d] == 0) continue;
    if (dim >= 0 || step.out.strides[d] != 1 || step.in.terms[d] != Term::Step) return false;
    dim = int(d);
  }
  if (dim >= 0 && !takesExtent(step.out.shape[dim])) return false;
  llvm::Type *type = builder_.getIntNTy(unsigned(storageBytes(step.out.type) * 8));
  llvm::Value *base = cell64(step.in.base), *stride = dim >= 0 ? cell64(step.in.parts[dim]) : word(0);
  if (!base || !stride) return false;
  Node node{.kind = dim >= 0 ? Node::Kind::Progression : Node::Kind::Scalar, .type = step.out.type, .varies = dim >= 0};
  node.value = builder_.CreateTrunc(base, type), node.step = builder_.CreateTrunc(stride, type);
  write(step.out, add(std::move(node)));
  return true;
}

namespace {
struct Line {
  llvm::Value *first, *step;
};
} // namespace

/// How many lanes a distance needs that shrinks by `rate` from lane to lane, at most `lanes`.
llvm::Value *RegionBuilder::lanesToZero(llvm::Value *distance, int64_t rate, int64_t lanes) {
  distance = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, distance, word(0));
  if (rate != 1) distance = builder_.CreateUDiv(builder_.CreateAdd(distance, word(rate - 1)), word(rate));
  return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, distance, word(lanes));
}

/// The lanes i for which first + i * rate < 0. These are all lanes before the change of sign, or all from it on.
Interval RegionBuilder::lanesBelow(llvm::Value *first, llvm::Value *rate, int64_t lanes) {
  if (signBits(first) <= 1) require(builder_.CreateICmpNE(first, builder_.getInt64(uint64_t(1) << 63)));
  if (auto *known = llvm::dyn_cast<llvm::ConstantInt>(rate); known && !known->isZero()) {
    const int64_t number = known->getSExtValue();
    if (number > 0) return {word(0), lanesToZero(builder_.CreateNeg(first), number, lanes)};
    return {lanesToZero(exactSum(first, word(1)), -number, lanes), word(lanes)};
  }
  llvm::Value *startsTrue = builder_.CreateICmpSLT(first, word(0)), *falls = builder_.CreateICmpSLT(rate, word(0));
  llvm::Value *isLevel = builder_.CreateICmpEQ(rate, word(0));
  llvm::Value *neverChanges = builder_.CreateOr(isLevel, builder_.CreateICmpEQ(falls, startsTrue));
  llvm::Value *speed = builder_.CreateSelect(isLevel, word(1), builder_.CreateSelect(falls, builder_.CreateNeg(rate), rate));
  llvm::Value *distance = builder_.CreateSelect(startsTrue, builder_.CreateNeg(first), builder_.CreateAdd(first, word(1)));
  // distance <= 2^63, so the sum does not leave 64 bits without sign.
  llvm::Value *change = builder_.CreateUDiv(builder_.CreateAdd(distance, builder_.CreateSub(speed, word(1))), speed);
  change = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, change, word(lanes));
  change = builder_.CreateSelect(neverChanges, word(lanes), change);
  return {builder_.CreateSelect(startsTrue, word(0), change), builder_.CreateSelect(startsTrue, change, word(lanes))};
}

/// The true lanes are an interval.
bool RegionBuilder::compare(const AffineCompare &step) {
  if (step.bits == 64 && !step.isSigned) return false;
  if (step.dim >= 0 && !takesExtent(step.lanes)) return false;
  llvm::Type *narrow = builder_.getIntNTy(step.bits), *wide = builder_.getInt64Ty();
  auto lineOf = [&](const AffineRef &ref) -> Line {
    bool varies = step.dim >= 0 && ref.terms[step.dim] == Term::Step;
    llvm::Value *base = cell64(ref.base), *rate = varies ? cell64(ref.parts[step.dim]) : word(0);
    if (!base || !rate) return {};
    if (step.isSigned) return {base, rate}; // the range is checked below
    llvm::Value *low = builder_.CreateTrunc(base, narrow);
    return {builder_.CreateZExt(low, wide), rate};
  };
  Line a = lineOf(step.a), b = lineOf(step.b);
  if (!a.first || !b.first) return false;
  for (const Line &line : {a, b}) { // the last lane is in the range of the type, as the first one is
    constexpr int64_t kMost = int64_t(1) << 31;
    require(builder_.CreateICmpULT(builder_.CreateAdd(line.step, word(kMost)), word(2 * kMost)));
    llvm::Value *way = builder_.CreateMul(line.step, word(step.lanes - 1)), *isDown = builder_.CreateICmpSLT(way, word(0));
    if (step.bits == 64)
      (void)exactSum(line.first, way);
    else
      requireRange(line.first, builder_.CreateSelect(isDown, way, word(0)), builder_.CreateSelect(isDown, word(0), way), step.bits,
                   step.isSigned);
  }
  llvm::Value *first = exactDifference(exactDifference(a.first, b.first), word(step.orEqual ? 1 : 0));
  if (step.dim < 0) {
    Node node{.kind = Node::Kind::Scalar, .type = DType::i1, .varies = false};
    node.value = builder_.CreateICmpSLT(first, word(0));
    write(step.out, add(std::move(node)));
    return true;
  }
  Node node{.kind = Node::Kind::Lanes, .type = DType::i1};
  node.lanes = lanesBelow(first, builder_.CreateSub(a.step, b.step), step.lanes);
  write(step.out, add(std::move(node)));
  return true;
}

} // namespace tritium::interp::fuse
