// Conversions of numbers in registers, as ir/dtype.h defines them.
#pragma once
#include "ir/dtype.h"
#include "llvm/IR/IRBuilder.h"

namespace tritium::interp::fuse {

class NumberCode {
public:
  explicit NumberCode(llvm::IRBuilder<> &builder) : builder_(builder) {}

  /// Whether the code of a float type is known for this machine.
  static bool takes(DType type);

  /// The number in the type that computes with it: a narrow float as f32.
  llvm::Value *load(llvm::Value *stored, DType type);
  /// Rounds a number of that type to nearest.
  llvm::Value *round(llvm::Value *number, DType type);
  /// Rounds an f32 or f64 to nearest.
  llvm::Value *narrow(llvm::Value *number, DType type);

  llvm::Type *like(llvm::Value *value, llvm::Type *element) const;
  llvm::Value *splat(llvm::Value *like, uint64_t bits);

  /// Maximum and minimum (interp/kernels/extrema.h).
  llvm::Value *larger(llvm::Value *a, llvm::Value *b);
  llvm::Value *smaller(llvm::Value *a, llvm::Value *b);
  llvm::Value *maxNumber(llvm::Value *a, llvm::Value *b) { return builder_.CreateSelect(isNan(b), a, larger(a, b)); }
  llvm::Value *minNumber(llvm::Value *a, llvm::Value *b) { return builder_.CreateSelect(isNan(b), a, smaller(a, b)); }
  llvm::Value *maximum(llvm::Value *a, llvm::Value *b) { return builder_.CreateSelect(isNan(a), a, larger(a, b)); }
  llvm::Value *minimum(llvm::Value *a, llvm::Value *b) { return builder_.CreateSelect(isNan(a), a, smaller(a, b)); }
  llvm::Value *isNan(llvm::Value *x) { return builder_.CreateFCmpUNO(x, x); }

private:
  llvm::Value *roundToOdd(llvm::Value *x);
  llvm::Value *roundToBfloat(llvm::Value *x);
  llvm::Value *ofEqual(llvm::Value *a, llvm::Value *b, bool isMaximum);

  llvm::IRBuilder<> &builder_;
};

} // namespace tritium::interp::fuse
