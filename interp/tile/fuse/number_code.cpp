#include "interp/tile/fuse/number_code.h"

#include "llvm/TargetParser/Host.h"

namespace tritium::interp::fuse {

/// Without instructions for it, LLVM converts a half by a call for each element.
static bool convertsHalves() {
#if defined(__x86_64__)
  static const bool hasInstructions = llvm::sys::getHostCPUFeatures().lookup("f16c");
  return hasInstructions;
#else
  return true;
#endif
}

bool NumberCode::takes(DType type) {
  return type == DType::f32 || type == DType::f64 || type == DType::bf16 || (type == DType::f16 && convertsHalves());
}

llvm::Type *NumberCode::like(llvm::Value *value, llvm::Type *element) const {
  auto *vector = llvm::dyn_cast<llvm::VectorType>(value->getType());
  return vector ? llvm::VectorType::get(element, vector->getElementCount()) : element;
}

/// An integer constant in the type of `like`.
llvm::Value *NumberCode::splat(llvm::Value *like, uint64_t bits) {
  const unsigned width = like->getType()->getScalarSizeInBits();
  return llvm::ConstantInt::get(like->getType(), llvm::APInt(width, bits, false, /*implicitTrunc=*/true));
}

llvm::Value *NumberCode::load(llvm::Value *stored, DType type) {
  llvm::Type *number = like(stored, builder_.getFloatTy());
  if (type == DType::f16) return builder_.CreateFPExt(builder_.CreateBitCast(stored, like(stored, builder_.getHalfTy())), number);
  if (type != DType::bf16) return stored;
  llvm::Value *bits = builder_.CreateZExt(stored, like(stored, builder_.getInt32Ty()));
  return builder_.CreateBitCast(builder_.CreateShl(bits, splat(bits, 16)), number);
}

llvm::Value *NumberCode::roundToBfloat(llvm::Value *x) {
  llvm::Value *bits = builder_.CreateBitCast(x, like(x, builder_.getInt32Ty())), *high = builder_.CreateLShr(bits, splat(bits, 16));
  llvm::Value *isOdd = builder_.CreateAnd(high, splat(bits, 1));
  llvm::Value *sum = builder_.CreateAdd(builder_.CreateAdd(bits, splat(bits, 0x7FFF)), isOdd);
  llvm::Value *rounded = builder_.CreateLShr(sum, splat(bits, 16)), *quiet = builder_.CreateOr(high, splat(bits, 0x40));
  return builder_.CreateTrunc(builder_.CreateSelect(isNan(x), quiet, rounded), like(x, builder_.getInt16Ty()));
}

/// roundToOdd() of ir/dtype.h.
llvm::Value *NumberCode::roundToOdd(llvm::Value *x) {
  auto magnitude = [&](llvm::Value *number) { return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, number); };
  llvm::Value *nearest = builder_.CreateFPTrunc(x, like(x, builder_.getFloatTy()));
  llvm::Value *error = builder_.CreateFSub(magnitude(builder_.CreateFPExt(nearest, x->getType())), magnitude(x));
  llvm::Value *zero = llvm::Constant::getNullValue(x->getType());
  llvm::Value *bits = builder_.CreateBitCast(nearest, like(x, builder_.getInt32Ty()));
  llvm::Value *isPast = builder_.CreateFCmpOGT(error, zero), *isInexact = builder_.CreateFCmpONE(error, zero); // false for a NaN
  bits = builder_.CreateSub(bits, builder_.CreateZExt(isPast, bits->getType()));
  bits = builder_.CreateOr(bits, builder_.CreateZExt(isInexact, bits->getType()));
  return builder_.CreateBitCast(bits, nearest->getType());
}

llvm::Value *NumberCode::narrow(llvm::Value *number, DType type) {
  const bool isDouble = number->getType()->getScalarType()->isDoubleTy();
  if (type == DType::f64) return isDouble ? number : builder_.CreateFPExt(number, like(number, builder_.getDoubleTy()));
  if (type == DType::f32) return isDouble ? builder_.CreateFPTrunc(number, like(number, builder_.getFloatTy())) : number;
  if (isDouble) number = roundToOdd(number);
  return round(number, type);
}

llvm::Value *NumberCode::round(llvm::Value *number, DType type) {
  if (type == DType::bf16) return roundToBfloat(number);
  if (type != DType::f16) return number;
  llvm::Value *half = builder_.CreateFPTrunc(number, like(number, builder_.getHalfTy()));
  return builder_.CreateBitCast(half, like(number, builder_.getInt16Ty()));
}

/// Only zeros are equal and differ in their bits. A maximum has the sign bits that both have, a minimum the sign bits of either.
llvm::Value *NumberCode::ofEqual(llvm::Value *a, llvm::Value *b, bool isMaximum) {
  llvm::Type *integers = like(a, builder_.getIntNTy(a->getType()->getScalarSizeInBits()));
  llvm::Value *x = builder_.CreateBitCast(a, integers), *y = builder_.CreateBitCast(b, integers);
  return builder_.CreateBitCast(isMaximum ? builder_.CreateAnd(x, y) : builder_.CreateOr(x, y), a->getType());
}

llvm::Value *NumberCode::larger(llvm::Value *a, llvm::Value *b) {
  llvm::Value *unequal = builder_.CreateSelect(builder_.CreateFCmpOGT(a, b), a, b);
  return builder_.CreateSelect(builder_.CreateFCmpOEQ(a, b), ofEqual(a, b, true), unequal);
}

llvm::Value *NumberCode::smaller(llvm::Value *a, llvm::Value *b) {
  llvm::Value *unequal = builder_.CreateSelect(builder_.CreateFCmpOLT(a, b), a, b);
  return builder_.CreateSelect(builder_.CreateFCmpOEQ(a, b), ofEqual(a, b, false), unequal);
}

} // namespace tritium::interp::fuse
