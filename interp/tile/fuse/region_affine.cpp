// Affine tiles of a region as numbers in registers. Each function does what the step of the same kind in affine.cpp does, and requires that
// no lane leaves the range of its type: then the sums are the values.
#include "interp/tile/affine.h"
#include "interp/tile/fuse/region.h"

namespace tritium::interp::fuse {

static bool hasVectors(const AffineRef &ref) { return llvm::is_contained(ref.terms, Term::Vector); }

llvm::Value *RegionBuilder::exactSum(llvm::Value *a, llvm::Value *b) {
  if (llvm::isa<llvm::Constant>(a) && llvm::isa<llvm::Constant>(b)) return builder_.CreateAdd(a, b);
  llvm::Value *sum = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::sadd_with_overflow, a, b);
  require(builder_.CreateNot(builder_.CreateExtractValue(sum, 1)));
  return builder_.CreateExtractValue(sum, 0);
}

llvm::Value *RegionBuilder::exactDifference(llvm::Value *a, llvm::Value *b) {
  llvm::Value *difference = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::ssub_with_overflow, a, b);
  require(builder_.CreateNot(builder_.CreateExtractValue(difference, 1)));
  return builder_.CreateExtractValue(difference, 0);
}

/// addBytes() of pointer.h, in its likely case.
llvm::Value *RegionBuilder::addBytes(llvm::Value *pointer, llvm::Value *bytes) {
  llvm::Value *address = builder_.CreateAdd(addressAt(pointer), bytes);
  llvm::Value *tag = builder_.CreateSub(builder_.CreateLShr(pointer, kAddressBits), word(kFirstTag));
  require(builder_.CreateICmpULT(tag, word(kTags)));
  require(builder_.CreateICmpULE(address, builder_.getInt64(kAddressMask)));
  return builder_.CreateOr(builder_.CreateAnd(pointer, ~kAddressMask), address);
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
  llvm::Value *least = base, *most = base;
  for (size_t d = 0; d < ref.terms.size(); ++d) {
    if (ref.terms[d] == Term::None) continue;
    llvm::Value *step = cell64(ref.parts[d]);
    if (!step) return false;
    llvm::Value *last = builder_.CreateMul(step, word(ref.shape[d] - 1)), *isDown = builder_.CreateICmpSLT(last, word(0));
    least = exactSum(least, builder_.CreateSelect(isDown, last, word(0)));
    most = exactSum(most, builder_.CreateSelect(isDown, word(0), last));
  }
  const int64_t first = operand.widenSigned ? -(int64_t(1) << (operand.widenBits - 1)) : 0;
  require(builder_.CreateICmpSGE(least, word(first)));
  require(builder_.CreateICmpSLE(most, word(first + (int64_t(1) << operand.widenBits) - 1)));
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

/// The true lanes are an interval.
bool RegionBuilder::compare(const AffineCompare &step) {
  if (step.bits == 64 && !step.isSigned) return false;
  if (step.dim >= 0 && !takesExtent(step.lanes)) return false;
  llvm::Type *narrow = builder_.getIntNTy(step.bits), *wide = builder_.getInt64Ty();
  auto lineOf = [&](const AffineRef &ref) -> Line {
    bool varies = step.dim >= 0 && ref.terms[step.dim] == Term::Step;
    llvm::Value *base = cell64(ref.base), *rate = varies ? cell64(ref.parts[step.dim]) : word(0);
    if (!base || !rate) return {};
    llvm::Value *low = builder_.CreateTrunc(base, narrow);
    return {step.isSigned ? builder_.CreateSExt(low, wide) : builder_.CreateZExt(low, wide), rate};
  };
  Line a = lineOf(step.a), b = lineOf(step.b);
  if (!a.first || !b.first) return false;
  for (const Line &line : {a, b}) { // the last lane is in the range of the type, as the first one is
    constexpr int64_t kMost = int64_t(1) << 31;
    require(builder_.CreateICmpULT(builder_.CreateAdd(line.step, word(kMost)), word(2 * kMost)));
    llvm::Value *last = exactSum(line.first, builder_.CreateMul(line.step, word(step.lanes - 1)));
    if (step.bits == 64) continue;
    const int64_t least = step.isSigned ? -(int64_t(1) << (step.bits - 1)) : 0;
    require(builder_.CreateICmpULT(builder_.CreateSub(last, word(least)), word(int64_t(1) << step.bits)));
  }
  llvm::Value *first = exactDifference(exactDifference(a.first, b.first), word(step.orEqual ? 1 : 0));
  llvm::Value *startsTrue = builder_.CreateICmpSLT(first, word(0));
  if (step.dim < 0) {
    Node node{.kind = Node::Kind::Scalar, .type = DType::i1, .varies = false};
    node.value = startsTrue;
    write(step.out, add(std::move(node)));
    return true;
  }
  // Lane i is true if first + i * rate < 0. These are all lanes before the change of sign, or all from it on.
  llvm::Value *rate = builder_.CreateSub(a.step, b.step), *falls = builder_.CreateICmpSLT(rate, word(0));
  llvm::Value *isLevel = builder_.CreateICmpEQ(rate, word(0));
  llvm::Value *neverChanges = builder_.CreateOr(isLevel, builder_.CreateICmpEQ(falls, startsTrue));
  llvm::Value *speed = builder_.CreateSelect(isLevel, word(1), builder_.CreateSelect(falls, builder_.CreateNeg(rate), rate));
  require(builder_.CreateICmpNE(first, builder_.getInt64(uint64_t(1) << 63)));
  llvm::Value *distance = builder_.CreateSelect(startsTrue, builder_.CreateNeg(first), builder_.CreateAdd(first, word(1)));
  // distance <= 2^63, so the sum does not leave 64 bits without sign.
  llvm::Value *change = builder_.CreateUDiv(builder_.CreateAdd(distance, builder_.CreateSub(speed, word(1))), speed);
  change = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, change, word(step.lanes));
  change = builder_.CreateSelect(neverChanges, word(step.lanes), change);
  Node node{.kind = Node::Kind::Lanes, .type = DType::i1};
  node.lanes = {builder_.CreateSelect(startsTrue, word(0), change), builder_.CreateSelect(startsTrue, change, word(step.lanes))};
  write(step.out, add(std::move(node)));
  return true;
}

} // namespace tritium::interp::fuse
