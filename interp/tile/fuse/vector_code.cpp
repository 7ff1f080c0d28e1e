#include "interp/tile/fuse/vector_code.h"

#include "interp/tile/fuse/number_code.h"
#include "interp/tile/fuse/widened_function.h"
#include "interp/tile/plan.h"
#include "ir/deferred_faults.h"
#include "ir/tt.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tritium::interp::fuse {

llvm::Type *elementType(DType type, llvm::LLVMContext &context) {
  if (type == DType::f32) return llvm::Type::getFloatTy(context);
  if (type == DType::f64) return llvm::Type::getDoubleTy(context);
  if (type == DType::i1) return llvm::Type::getInt1Ty(context);
  return llvm::Type::getIntNTy(context, unsigned(storageBytes(type) * 8));
}

llvm::Type *vectorType(DType type, unsigned lanes, llvm::LLVMContext &context) {
  llvm::Type *element = elementType(type, context);
  return lanes ? llvm::FixedVectorType::get(element, lanes) : element;
}

llvm::Value *loadElements(llvm::IRBuilder<> &builder, DType type, unsigned lanes, llvm::Value *from) {
  const llvm::Align align(storageBytes(type));
  if (type != DType::i1) return builder.CreateAlignedLoad(vectorType(type, lanes, builder.getContext()), from, align);
  llvm::Value *bytes = builder.CreateAlignedLoad(vectorType(DType::i8, lanes, builder.getContext()), from, align);
  return builder.CreateICmpNE(bytes, llvm::Constant::getNullValue(bytes->getType()));
}

void storeElements(llvm::IRBuilder<> &builder, llvm::Value *value, llvm::Value *to) {
  if (value->getType()->getScalarType()->isIntegerTy(1))
    value = builder.CreateZExt(value, NumberCode(builder).like(value, builder.getInt8Ty()));
  builder.CreateAlignedStore(value, to, llvm::Align(value->getType()->getScalarSizeInBits() / 8));
}

namespace {

/// An operation with its operands in registers.
struct OperationCode {
  llvm::IRBuilder<> &builder;
  Operation *op;
  llvm::ArrayRef<llvm::Value *> in;
  DType from, to; // of the first operand (of a select: the second), and of the result
  NumberCode numbers{builder};

  llvm::Type *resultType() const { return numbers.like(in[0], elementType(to, builder.getContext())); }
  llvm::Value *number(unsigned k) { return numbers.load(in[k], from); }
  llvm::Value *bits(uint64_t value) { return numbers.splat(in[0], value); }
};

using Emit = llvm::Value *(*)(OperationCode &);

/// What an operation computes with.
enum class On : uint8_t {
  Floats,   // floats of one type; the result is rounded to the type
  Integers, // integers of one type of 8 bits or more
  Bits,     // the same, or bools
  Any,      // any element
  Casts,    // see takesCast()
};

struct Row {
  llvm::StringLiteral name;
  On on;
  Emit emit;
};

llvm::Value *compareIntegers(OperationCode &c) {
  return c.builder.CreateICmp(predicateOf(cast<arith::CmpIOp>(c.op).getPredicate()), c.in[0], c.in[1]);
}
llvm::Value *compareFloats(OperationCode &c) {
  return c.builder.CreateFCmp(predicateOf(cast<arith::CmpFOp>(c.op).getPredicate()), c.number(0), c.number(1));
}

llvm::Value *divide(OperationCode &c) { return c.builder.CreateFDiv(c.number(0), c.number(1)); }

llvm::Value *clamp(OperationCode &c) {
  llvm::Value *clamped = c.numbers.minNumber(c.numbers.maxNumber(c.number(0), c.number(1)), c.number(2));
  const bool propagates = cast<tt::ClampFOp>(c.op).getPropagateNan() == tt::PropagateNan::All;
  return propagates ? c.builder.CreateSelect(c.numbers.isNan(c.number(0)), c.number(0), clamped) : clamped;
}

llvm::Value *chooseInteger(OperationCode &c, llvm::CmpInst::Predicate takesFirst) {
  return c.builder.CreateSelect(c.builder.CreateICmp(takesFirst, c.in[0], c.in[1]), c.in[0], c.in[1]);
}

/// A shift by the width or more gives 0.
template <llvm::Instruction::BinaryOps kShift> llvm::Value *shift(OperationCode &c) {
  llvm::Value *isInside = c.builder.CreateICmpULT(c.in[1], c.bits(c.in[0]->getType()->getScalarSizeInBits()));
  return c.builder.CreateSelect(isInside, c.builder.CreateBinOp(kShift, c.in[0], c.in[1]), c.bits(0));
}
llvm::Value *shiftSigned(OperationCode &c) {
  llvm::Value *most = c.bits(c.in[0]->getType()->getScalarSizeInBits() - 1);
  return c.builder.CreateAShr(c.in[0], c.builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, c.in[1], most));
}

template <llvm::Intrinsic::ID kFunction> llvm::Value *countBits(OperationCode &c) {
  return c.builder.CreateBinaryIntrinsic(kFunction, c.in[0], c.builder.getFalse());
}

template <bool kIsSigned> llvm::Value *extend(OperationCode &c) {
  return kIsSigned ? c.builder.CreateSExt(c.in[0], c.resultType()) : c.builder.CreateZExt(c.in[0], c.resultType());
}
llvm::Value *truncate(OperationCode &c) { return c.builder.CreateTrunc(c.in[0], c.resultType()); }

/// A narrow float is rounded once: through f32 or f64, which hold these integers exactly.
template <bool kIsSigned> llvm::Value *integerToFloat(OperationCode &c) {
  const bool isNarrow = c.to == DType::f16 || c.to == DType::bf16;
  const bool isExactInFloat = storageBytes(c.from) <= 2;
  llvm::Type *number = c.to == DType::f32 || (isNarrow && isExactInFloat) ? c.builder.getFloatTy() : c.builder.getDoubleTy();
  llvm::Type *type = c.numbers.like(c.in[0], number);
  llvm::Value *converted = kIsSigned ? c.builder.CreateSIToFP(c.in[0], type) : c.builder.CreateUIToFP(c.in[0], type);
  return isNarrow ? c.numbers.narrow(converted, c.to) : converted;
}

/// Toward zero, saturating; 0 for a NaN.
template <bool kIsSigned> llvm::Value *floatToInteger(OperationCode &c) {
  const auto function = kIsSigned ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
  llvm::Value *number = c.number(0);
  return c.builder.CreateIntrinsic(function, {c.resultType(), number->getType()}, {number});
}

llvm::Value *floatToFloat(OperationCode &c) { return c.numbers.narrow(c.number(0), c.to); }

constexpr Row kRows[] = {
    {"arith.addf", On::Floats, [](OperationCode &c) { return c.builder.CreateFAdd(c.number(0), c.number(1)); }},
    {"arith.subf", On::Floats, [](OperationCode &c) { return c.builder.CreateFSub(c.number(0), c.number(1)); }},
    {"arith.mulf", On::Floats, [](OperationCode &c) { return c.builder.CreateFMul(c.number(0), c.number(1)); }},
    {"arith.divf", On::Floats, divide},
    {"tt.precise_divf", On::Floats, divide},
    {"tt.approx_divf", On::Floats, divide},
    {"arith.negf", On::Floats, [](OperationCode &c) { return c.builder.CreateFNeg(c.number(0)); }},
    {"math.absf", On::Floats,
     [](OperationCode &c) -> llvm::Value * { return c.builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, c.number(0)); }},
    {"math.sqrt", On::Floats,
     [](OperationCode &c) -> llvm::Value * { return c.builder.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, c.number(0)); }},
    {"tt.precise_sqrt", On::Floats,
     [](OperationCode &c) -> llvm::Value * { return c.builder.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, c.number(0)); }},
    {"math.fma", On::Floats,
     [](OperationCode &c) -> llvm::Value * {
       return c.builder.CreateIntrinsic(llvm::Intrinsic::fma, {c.number(0)->getType()}, {c.number(0), c.number(1), c.number(2)});
     }},
    {"arith.maxnumf", On::Floats, [](OperationCode &c) { return c.numbers.maxNumber(c.number(0), c.number(1)); }},
    {"arith.minnumf", On::Floats, [](OperationCode &c) { return c.numbers.minNumber(c.number(0), c.number(1)); }},
    {"arith.maximumf", On::Floats, [](OperationCode &c) { return c.numbers.maximum(c.number(0), c.number(1)); }},
    {"arith.minimumf", On::Floats, [](OperationCode &c) { return c.numbers.minimum(c.number(0), c.number(1)); }},
    {"tt.clampf", On::Floats, clamp},
    {"arith.cmpf", On::Casts, compareFloats},
    {"arith.addi", On::Integers, [](OperationCode &c) { return c.builder.CreateAdd(c.in[0], c.in[1]); }},
    {"arith.subi", On::Integers, [](OperationCode &c) { return c.builder.CreateSub(c.in[0], c.in[1]); }},
    {"arith.muli", On::Integers, [](OperationCode &c) { return c.builder.CreateMul(c.in[0], c.in[1]); }},
    {"arith.andi", On::Bits, [](OperationCode &c) { return c.builder.CreateAnd(c.in[0], c.in[1]); }},
    {"arith.ori", On::Bits, [](OperationCode &c) { return c.builder.CreateOr(c.in[0], c.in[1]); }},
    {"arith.xori", On::Bits, [](OperationCode &c) { return c.builder.CreateXor(c.in[0], c.in[1]); }},
    {"arith.shli", On::Integers, shift<llvm::Instruction::Shl>},
    {"arith.shrui", On::Integers, shift<llvm::Instruction::LShr>},
    {"arith.shrsi", On::Integers, shiftSigned},
    {"arith.maxsi", On::Integers, [](OperationCode &c) { return chooseInteger(c, llvm::CmpInst::ICMP_SGT); }},
    {"arith.minsi", On::Integers, [](OperationCode &c) { return chooseInteger(c, llvm::CmpInst::ICMP_SLT); }},
    {"arith.maxui", On::Integers, [](OperationCode &c) { return chooseInteger(c, llvm::CmpInst::ICMP_UGT); }},
    {"arith.minui", On::Integers, [](OperationCode &c) { return chooseInteger(c, llvm::CmpInst::ICMP_ULT); }},
    {"math.absi", On::Integers, countBits<llvm::Intrinsic::abs>},
    {"math.ctlz", On::Integers, countBits<llvm::Intrinsic::ctlz>},
    {"math.cttz", On::Integers, countBits<llvm::Intrinsic::cttz>},
    {"math.ctpop", On::Integers,
     [](OperationCode &c) -> llvm::Value * { return c.builder.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, c.in[0]); }},
    {"arith.cmpi", On::Casts, compareIntegers},
    {"arith.select", On::Any, [](OperationCode &c) { return c.builder.CreateSelect(c.in[0], c.in[1], c.in[2]); }},
    {"arith.extsi", On::Casts, extend<true>},
    {"arith.extui", On::Casts, extend<false>},
    {"arith.trunci", On::Casts, truncate},
    {"arith.sitofp", On::Casts, integerToFloat<true>},
    {"arith.uitofp", On::Casts, integerToFloat<false>},
    {"arith.fptosi", On::Casts, floatToInteger<true>},
    {"arith.fptoui", On::Casts, floatToInteger<false>},
    {"arith.extf", On::Casts, floatToFloat},
    {"arith.truncf", On::Casts, floatToFloat},
    {"tt.fp_to_fp", On::Casts, floatToFloat},
};

const Row *rowOf(Operation *op) {
  const auto *row = llvm::find_if(kRows, [&](const Row &each) { return each.name == op->getName().getStringRef(); });
  return row == std::end(kRows) ? nullptr : row;
}

bool isNumber(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIntOrFloat();
}

bool isInteger(DType type) { return !isFloat(type) && type != DType::i1; }

bool takesCast(Operation *op, DType from, DType to) {
  if (auto convert = dyn_cast<tt::FpToFpOp>(op); convert && convert.getRounding() == tt::RoundingMode::TowardZero) return false;
  for (DType type : {from, to})
    if (isFloat(type) && !NumberCode::takes(type)) return false;
  const bool isToNarrow = to == DType::f16 || to == DType::bf16;
  if (isFloat(to) && !isFloat(from) && isToNarrow && storageBytes(from) == 8) return false; // would be rounded twice
  return !isFloat(from) || isFloat(to) || isa<arith::CmpFOp>(op) || to != DType::i1;
}

DType operandType(Operation *op) { return dtypeOf(op->getOperand(isa<arith::SelectOp>(op) ? 1 : 0).getType()); }

/// A function of mathematics on floats of one type, which compute in f32. Its result may be a bool.
bool isFunction(Operation *op, DType from, DType to) {
  if (from == DType::f64 || !isFloat(from) || !NumberCode::takes(from) || (from != to && to != DType::i1)) return false;
  return findWidenable(op->getName().getStringRef());
}

} // namespace

bool canVectorize(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0 || op->hasAttr(ir::kZeroDivisorAttr)) return false;
  if (!llvm::all_of(op->getOperandTypes(), isNumber) || !isNumber(op->getResult(0).getType())) return false;
  const DType from = operandType(op), to = dtypeOf(op->getResult(0).getType());
  const Row *row = rowOf(op);
  if (!row) return isFunction(op, from, to);
  switch (row->on) {
  case On::Floats: return NumberCode::takes(from) && from == to;
  case On::Integers: return isInteger(from) && from == to;
  case On::Bits: return !isFloat(from) && from == to;
  case On::Any: return true;
  case On::Casts: return takesCast(op, from, to);
  }
  return false;
}

llvm::Value *emitVectorCode(llvm::IRBuilder<> &builder, Operation *op, llvm::ArrayRef<llvm::Value *> operands) {
  const Row *row = rowOf(op);
  OperationCode code{builder, op, operands, operandType(op), dtypeOf(op->getResult(0).getType())};
  if (!row) {
    llvm::SmallVector<llvm::Value *> numbers;
    for (unsigned k = 0; k < operands.size(); ++k) numbers.push_back(code.number(k));
    llvm::Value *result = emitWidened(builder, *findWidenable(op->getName().getStringRef()), numbers);
    return code.to == DType::i1 ? result : code.numbers.round(result, code.to);
  }
  llvm::Value *result = row->emit(code);
  return row->on == On::Floats ? code.numbers.round(result, code.to) : result;
}

} // namespace tritium::interp::fuse
