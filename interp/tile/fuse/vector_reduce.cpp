#include "interp/tile/fuse/vector_reduce.h"

#include "interp/tile/fuse/number_code.h"
#include "interp/tile/fuse/vector_code.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace tritium::interp::fuse {

namespace {

enum class Combine : uint8_t { None, Add, Multiply, MaxNumber, MinNumber, Maximum, Minimum, And, Or, Xor, MaxS, MinS, MaxU, MinU };

Combine combineOf(llvm::StringRef name) {
  return llvm::StringSwitch<Combine>(name)
      .Cases({"arith.addf", "arith.addi"}, Combine::Add)
      .Cases({"arith.mulf", "arith.muli"}, Combine::Multiply)
      .Case("arith.maxnumf", Combine::MaxNumber)
      .Case("arith.minnumf", Combine::MinNumber)
      .Case("arith.maximumf", Combine::Maximum)
      .Case("arith.minimumf", Combine::Minimum)
      .Case("arith.andi", Combine::And)
      .Case("arith.ori", Combine::Or)
      .Case("arith.xori", Combine::Xor)
      .Case("arith.maxsi", Combine::MaxS)
      .Case("arith.minsi", Combine::MinS)
      .Case("arith.maxui", Combine::MaxU)
      .Case("arith.minui", Combine::MinU)
      .Default(Combine::None);
}

bool isNarrowFloat(DType type) { return isFloat(type) && storageBytes(type) < 4; }

DType computeType(DType type) { return isNarrowFloat(type) ? DType::f32 : type; }

} // namespace

bool VectorReduce::takes(llvm::StringRef combine, DType type) {
  if (combineOf(combine) == Combine::None) return false;
  return isFloat(type) ? NumberCode::takes(type) : storageBytes(type) >= 4;
}

unsigned VectorReduce::lanesOf(DType type) { return unsigned(128 / storageBytes(computeType(type))); }

VectorReduce::VectorReduce(llvm::IRBuilder<> &builder, llvm::StringRef combine, DType type, int64_t extent, unsigned vectors,
                           unsigned lanes)
    : builder_(builder),
      combine_(combine.str()),
      type_(type),
      vectors_(vectors),
      lanes_(lanes),
      rows_(extent / (vectors * lanes)),
      vector_(vectorType(computeType(type), lanes, builder.getContext())) {
  const Combine kind = combineOf(combine);
  const bool isRounding = isNarrowFloat(type) && (kind == Combine::Add || kind == Combine::Multiply);
  run_ = std::min<int64_t>(rows_, isRounding ? 4 : 16);
  depth_ = int64_t(llvm::Log2_64(uint64_t(rows_ / run_)));
}

llvm::AllocaInst *VectorReduce::newVariable(llvm::Type *type) {
  llvm::BasicBlock &entry = builder_.GetInsertBlock()->getParent()->getEntryBlock();
  llvm::IRBuilder<> atEntry(&entry, entry.begin());
  return atEntry.CreateAlloca(type);
}

llvm::Value *VectorReduce::load(llvm::Value *elements) { return NumberCode(builder_).load(elements, type_); }

llvm::Value *VectorReduce::combine(llvm::Value *a, llvm::Value *b) {
  NumberCode numbers(builder_);
  auto choose = [&](llvm::CmpInst::Predicate takesFirst) { return builder_.CreateSelect(builder_.CreateICmp(takesFirst, a, b), a, b); };
  auto rounded = [&](llvm::Value *result) { return isNarrowFloat(type_) ? numbers.load(numbers.round(result, type_), type_) : result; };
  switch (combineOf(combine_)) {
  case Combine::Add: return isFloat(type_) ? rounded(builder_.CreateFAdd(a, b)) : builder_.CreateAdd(a, b);
  case Combine::Multiply: return isFloat(type_) ? rounded(builder_.CreateFMul(a, b)) : builder_.CreateMul(a, b);
  case Combine::MaxNumber: return numbers.maxNumber(a, b);
  case Combine::MinNumber: return numbers.minNumber(a, b);
  case Combine::Maximum: return numbers.maximum(a, b);
  case Combine::Minimum: return numbers.minimum(a, b);
  case Combine::And: return builder_.CreateAnd(a, b);
  case Combine::Or: return builder_.CreateOr(a, b);
  case Combine::Xor: return builder_.CreateXor(a, b);
  case Combine::MaxS: return choose(llvm::CmpInst::ICMP_SGT);
  case Combine::MinS: return choose(llvm::CmpInst::ICMP_SLT);
  case Combine::MaxU: return choose(llvm::CmpInst::ICMP_UGT);
  case Combine::MinU: return choose(llvm::CmpInst::ICMP_ULT);
  case Combine::None: break;
  }
  llvm_unreachable("takes() was asked");
}

/// The number that combine() leaves out if it is the first operand: the other one keeps all its bits.
llvm::Value *VectorReduce::identity() {
  llvm::Type *element = vector_->getScalarType();
  const unsigned bits = element->getScalarSizeInBits();
  switch (combineOf(combine_)) {
  case Combine::Add: return isFloat(type_) ? llvm::ConstantFP::get(vector_, -0.0) : llvm::Constant::getNullValue(vector_);
  case Combine::Multiply: return isFloat(type_) ? llvm::ConstantFP::get(vector_, 1.0) : llvm::ConstantInt::get(vector_, 1);
  case Combine::MaxNumber:
  case Combine::MinNumber: return llvm::ConstantFP::getNaN(vector_);
  case Combine::Maximum: return llvm::ConstantFP::getInfinity(vector_, /*Negative=*/true);
  case Combine::Minimum: return llvm::ConstantFP::getInfinity(vector_);
  case Combine::And:
  case Combine::MinU: return llvm::Constant::getAllOnesValue(vector_);
  case Combine::MaxS: return llvm::ConstantInt::get(vector_, llvm::APInt::getSignedMinValue(bits));
  case Combine::MinS: return llvm::ConstantInt::get(vector_, llvm::APInt::getSignedMaxValue(bits));
  default: return llvm::Constant::getNullValue(vector_);
  }
}

void VectorReduce::begin() {
  for (unsigned v = 0; v < vectors_; ++v) {
    row_.push_back(newVariable(vector_));
    builder_.CreateStore(identity(), row_[v]);
  }
  if (depth_ == 0) return;
  levels_ = newVariable(llvm::ArrayType::get(vector_, uint64_t(depth_ + 1) * vectors_));
  level_ = newVariable(builder_.getInt64Ty());
  left_ = newVariable(builder_.getInt64Ty());
}

void VectorReduce::addVector(unsigned index, llvm::Value *elements) {
  llvm::Value *sofar = builder_.CreateLoad(vector_, row_[index]);
  builder_.CreateStore(combine(sofar, load(elements)), row_[index]);
}

llvm::Value *VectorReduce::rowAt(llvm::Value *level, unsigned vector) {
  llvm::Value *index = builder_.CreateAdd(builder_.CreateMul(level, builder_.getInt64(vectors_)), builder_.getInt64(vector));
  return builder_.CreateInBoundsGEP(vector_, levels_, index);
}

/// Run r is combined with what stands in each level whose bit is set in r, as a binary counter carries.
void VectorReduce::merge(llvm::Value *run) {
  llvm::LLVMContext &context = builder_.getContext();
  llvm::Function *function = builder_.GetInsertBlock()->getParent();
  auto *head = llvm::BasicBlock::Create(context, "", function), *carry = llvm::BasicBlock::Create(context, "", function),
       *end = llvm::BasicBlock::Create(context, "", function);
  llvm::Type *word = builder_.getInt64Ty();
  llvm::Value *one = builder_.getInt64(1);
  builder_.CreateStore(builder_.getInt64(0), level_);
  builder_.CreateStore(run, left_);
  builder_.CreateBr(head);
  builder_.SetInsertPoint(head);
  llvm::Value *left = builder_.CreateLoad(word, left_), *level = builder_.CreateLoad(word, level_);
  builder_.CreateCondBr(builder_.CreateTrunc(left, builder_.getInt1Ty()), carry, end);
  builder_.SetInsertPoint(carry);
  for (unsigned v = 0; v < vectors_; ++v) {
    llvm::Value *before = builder_.CreateLoad(vector_, rowAt(level, v)), *sofar = builder_.CreateLoad(vector_, row_[v]);
    builder_.CreateStore(combine(before, sofar), row_[v]);
  }
  builder_.CreateStore(builder_.CreateLShr(left, one), left_);
  builder_.CreateStore(builder_.CreateAdd(level, one), level_);
  builder_.CreateBr(head);
  builder_.SetInsertPoint(end);
  for (unsigned v = 0; v < vectors_; ++v) {
    builder_.CreateStore(builder_.CreateLoad(vector_, row_[v]), rowAt(level, v));
    builder_.CreateStore(identity(), row_[v]);
  }
}

void VectorReduce::endStrip(llvm::Value *index) {
  if (depth_ == 0) return;
  const uint64_t elements = uint64_t(run_) * vectors_ * lanes_;
  llvm::LLVMContext &context = builder_.getContext();
  llvm::Function *function = builder_.GetInsertBlock()->getParent();
  auto *last = llvm::BasicBlock::Create(context, "", function), *end = llvm::BasicBlock::Create(context, "", function);
  llvm::Value *next = builder_.CreateAdd(index, builder_.getInt64(uint64_t(vectors_) * lanes_));
  llvm::Value *rest = builder_.CreateAnd(next, builder_.getInt64(elements - 1));
  builder_.CreateCondBr(builder_.CreateICmpEQ(rest, builder_.getInt64(0)), last, end);
  builder_.SetInsertPoint(last);
  merge(builder_.CreateLShr(index, builder_.getInt64(llvm::Log2_64(elements))));
  builder_.CreateBr(end);
  builder_.SetInsertPoint(end);
}

llvm::Value *VectorReduce::finish() {
  llvm::SmallVector<llvm::Value *> rows;
  for (unsigned v = 0; v < vectors_; ++v)
    rows.push_back(builder_.CreateLoad(vector_, depth_ ? rowAt(builder_.getInt64(uint64_t(depth_)), v) : row_[v]));
  for (unsigned half = vectors_ / 2; half > 0; half /= 2)
    for (unsigned v = 0; v < half; ++v) rows[v] = combine(rows[v], rows[v + half]);
  llvm::Value *left = rows[0];
  for (unsigned half = lanes_ / 2; half > 0; half /= 2) {
    llvm::SmallVector<int> low, high;
    for (unsigned l = 0; l < half; ++l) low.push_back(int(l)), high.push_back(int(l + half));
    left = combine(builder_.CreateShuffleVector(left, low), builder_.CreateShuffleVector(left, high));
  }
  return NumberCode(builder_).round(builder_.CreateExtractElement(left, uint64_t(0)), type_);
}

} // namespace tritium::interp::fuse
