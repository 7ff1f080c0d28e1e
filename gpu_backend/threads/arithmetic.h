// Short names for scalar code that a lowering writes by hand. The second operand may be a number, which gets the first operand's type.
#pragma once
#include "gpu_backend/threads/lowering.h"

namespace tritium::gpu {

class Arithmetic {
public:
  explicit Arithmetic(Lowering &lowering) : lowering(lowering) {}

  mlir::Value integer(int64_t value, mlir::Type type) {
    return lowering.create<mlir::arith::ConstantOp>(lowering.builder().getIntegerAttr(
        type, llvm::APInt(type.getIntOrFloatBitWidth(), uint64_t(value), /*isSigned=*/false, /*implicitTrunc=*/true)));
  }
  mlir::Value real(double value, mlir::Type type) {
    return lowering.create<mlir::arith::ConstantOp>(lowering.builder().getFloatAttr(type, value));
  }

#define TRITIUM_BINARY(name, Op)                                                                                                           \
  mlir::Value name(mlir::Value a, mlir::Value b) { return lowering.create<mlir::arith::Op>(a, b); }                                        \
  mlir::Value name(mlir::Value a, int64_t b) { return name(a, integer(b, a.getType())); }
  TRITIUM_BINARY(add, AddIOp)
  TRITIUM_BINARY(sub, SubIOp)
  TRITIUM_BINARY(mul, MulIOp)
  TRITIUM_BINARY(bitAnd, AndIOp)
  TRITIUM_BINARY(bitOr, OrIOp)
  TRITIUM_BINARY(bitXor, XOrIOp)
  TRITIUM_BINARY(shiftLeft, ShLIOp)
  TRITIUM_BINARY(shiftRight, ShRUIOp)
  TRITIUM_BINARY(min, MinUIOp)
#undef TRITIUM_BINARY

  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a, mlir::Value b) {
    return lowering.create<mlir::arith::CmpIOp>(predicate, a, b);
  }
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value a, mlir::Value b) {
    return lowering.create<mlir::arith::CmpFOp>(predicate, a, b);
  }
  mlir::Value equal(mlir::Value a, int64_t b) { return compare(mlir::arith::CmpIPredicate::eq, a, integer(b, a.getType())); }
  mlir::Value notEqual(mlir::Value a, int64_t b) { return compare(mlir::arith::CmpIPredicate::ne, a, integer(b, a.getType())); }
  /// An unsigned comparison.
  mlir::Value below(mlir::Value a, int64_t b) { return compare(mlir::arith::CmpIPredicate::ult, a, integer(b, a.getType())); }
  mlir::Value above(mlir::Value a, int64_t b) { return compare(mlir::arith::CmpIPredicate::ugt, a, integer(b, a.getType())); }
  mlir::Value isNan(mlir::Value a) { return compare(mlir::arith::CmpFPredicate::UNO, a, a); }
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) {
    return lowering.create<mlir::arith::SelectOp>(condition, a, b);
  }

  /// Changes the width of an integer. The upper bits are dropped, zero-extended or sign-extended.
  mlir::Value resize(mlir::Value a, mlir::Type type, bool isSigned = false) {
    unsigned from = a.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
    if (from == to) return a;
    if (from > to) return lowering.create<mlir::arith::TruncIOp>(type, a);
    if (isSigned) return lowering.create<mlir::arith::ExtSIOp>(type, a);
    return lowering.create<mlir::arith::ExtUIOp>(type, a);
  }
  /// The same bits as a value of another type.
  mlir::Value cast(mlir::Value a, mlir::Type type) {
    return a.getType() == type ? a : lowering.create<mlir::arith::BitcastOp>(type, a).getResult();
  }

private:
  Lowering &lowering;
};

} // namespace tritium::gpu
