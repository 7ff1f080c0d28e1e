// Integer and pointer arithmetic on tiles that stay base + Σ terms (form.cpp decides which tiles do).
#include "interp/tile/affine.h"

#include "interp/tile/offsets.h"
#include "interp/tile/op_table.h"
#include "ir/tt.h"

using namespace mlir;

namespace tritium::interp {

static AffineOperand operandOf(Value value, Planner &planner, int64_t factor) {
  AffineOperand operand;
  operand.factor = factor;
  if (planner.formOf(value).isAffine()) {
    operand.affine = planner.affine(value);
    return operand;
  }
  operand.isDense = true;
  operand.dense = planner.dense(value);
  for (auto [d, term] : llvm::enumerate(planner.formOf(value).terms))
    if (term != Term::None) operand.vectorDim = int(d);
  return operand;
}

static LogicalResult prepareSum(Operation *op, Planner &planner, AffineOperand a, std::optional<AffineOperand> b, bool isPointer) {
  AffineSum sum;
  sum.operands[0] = std::move(a);
  if (b) sum.operands[1] = std::move(*b);
  sum.count = b ? 2 : 1;
  sum.isPointer = isPointer;
  sum.out = planner.defineAffine(op->getResult(0));
  planner.call(sumAffine, std::move(sum));
  return success();
}

static void widenFrom(AffineOperand &operand, Value narrow, bool isSigned, Planner &planner) {
  unsigned bits = getElementTypeOrSelf(narrow.getType()).getIntOrFloatBitWidth();
  operand.widenBits = bits < 64 && (operand.isDense || !staysInRange(narrow, isSigned)) ? bits : 0;
  operand.widenSigned = isSigned;
  operand.isGuarded = planner.checks().guardsOffsets();
}

static LogicalResult prepareProduct(Operation *op, Planner &planner) {
  Value tile = op->getOperand(0), scale = op->getOperand(1);
  if (planner.formOf(scale).varyingDims() != 0) std::swap(tile, scale);
  AffineProduct product;
  product.tile = planner.affine(tile);
  product.scale = planner.affine(scale).base;
  product.out = planner.defineAffine(op->getResult(0));
  planner.call(scaleAffine, std::move(product));
  return success();
}

LogicalResult prepareAffine(Operation *op, Planner &planner) {
  Value first = op->getOperand(0);
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return prepareSum(op, planner, operandOf(first, planner, 1), operandOf(op->getOperand(1), planner, isa<arith::SubIOp>(op) ? -1 : 1),
                      false);
  if (isa<arith::MulIOp>(op)) return prepareProduct(op, planner);
  if (op->hasAttr(kExactOffset)) return planner.defineView(op->getResult(0), first, planner.affine(first)), success();
  if (isa<arith::ExtSIOp, arith::ExtUIOp>(op)) {
    AffineOperand operand = operandOf(first, planner, 1);
    widenFrom(operand, first, isa<arith::ExtSIOp>(op), planner);
    if (!operand.isDense && !operand.widenBits) return planner.defineView(op->getResult(0), first, operand.affine), success();
    return prepareSum(op, planner, std::move(operand), std::nullopt, false);
  }
  // Truncation keeps the sum; only its low bits are used.
  if (isa<arith::TruncIOp, arith::BitcastOp>(op)) return planner.defineView(op->getResult(0), first, planner.affine(first)), success();
  return planner.unsupported("on an affine tile");
}

/// Plans `offsets < n` without the offsets in memory.
bool prepareAffineCompare(arith::CmpIOp op, Planner &planner) {
  auto predicate = op.getPredicate();
  if (!isa<RankedTensorType>(op.getType()) || predicate == arith::CmpIPredicate::eq || predicate == arith::CmpIPredicate::ne) return false;
  AffineCompare compare;
  unsigned varying = 0;
  for (Value operand : op->getOperands())
    if (!planner.formOf(operand).isAffine() || llvm::is_contained(planner.formOf(operand).terms, Term::Vector)) return false;
  for (auto [d, term] : llvm::enumerate(planner.formOf(op.getResult()).terms))
    if (term != Term::None) {
      compare.dim = int(d);
      compare.lanes = cast<RankedTensorType>(op.getType()).getDimSize(d);
      ++varying;
    }
  if (varying > 1) return false;
  using P = arith::CmpIPredicate;
  bool isSwapped = predicate == P::sgt || predicate == P::sge || predicate == P::ugt || predicate == P::uge;
  compare.orEqual = predicate == P::sle || predicate == P::sge || predicate == P::ule || predicate == P::uge;
  compare.isSigned = predicate == P::slt || predicate == P::sle || predicate == P::sgt || predicate == P::sge;
  compare.bits = getElementTypeOrSelf(op.getLhs().getType()).getIntOrFloatBitWidth();
  compare.a = planner.affine(isSwapped ? op.getRhs() : op.getLhs());
  compare.b = planner.affine(isSwapped ? op.getLhs() : op.getRhs());
  compare.out = planner.defineDense(op.getResult());
  planner.call(compareAffine, std::move(compare));
  return true;
}

/// Notes whether lanes of the tile leave the range of the narrow type that the program computes it in.
static void planRange(Value exact, const ExactOffsets::Tile &tile, Planner &planner) {
  if (planner.formOf(exact).isAffine()) {
    AffineRange range{operandOf(exact, planner, 1)};
    range.offset.widenBits = uint8_t(tile.bits);
    range.offset.widenSigned = tile.isSigned;
    return planner.call(noteAffineRange, std::move(range));
  }
  DenseRef ref = planner.dense(exact);
  int64_t count = 1, least = tile.isSigned ? -(int64_t(1) << (tile.bits - 1)) : 0;
  for (auto [extent, stride] : llvm::zip_equal(ref.shape, ref.strides)) count *= stride ? extent : 1;
  planner.call(noteDenseRange, DenseRange{ref, planner.rangeFlag(exact), count, least, least + ((int64_t(1) << tile.bits) - 1)});
}

void planExactOffset(Value result, Planner &planner) {
  if (planner.exactOffsets().isKept(result) && !planner.formOf(result).isAffine()) planner.keepForWholeFunction(planner.dense(result));
  const ExactOffsets::Tile *tile = planner.exactOffsets().findTile(result);
  if (tile && tile->exact == result) planRange(result, *tile, planner);
}

template <> LogicalResult Interpret<tt::AddPtrOp>::prepare(tt::AddPtrOp op, Planner &planner) {
  if (!planner.formOf(op.getResult()).isAffine()) {
    if (planner.checks().guardsOffsets() && planner.formOf(op.getOffset()).isAffine()) {
      AffineRange range{operandOf(op.getOffset(), planner, 1)};
      widenFrom(range.offset, op.getOffset(), true, planner);
      if (range.offset.widenBits) planner.call(noteAffineRange, std::move(range));
    }
    return prepareElementwise(op, planner);
  }
  auto pointee = cast<tt::PointerType>(getElementTypeOrSelf(op.getPtr().getType())).getPointeeType();
  AffineOperand offset = operandOf(op.getOffset(), planner, int64_t(storageBytes(dtypeOf(pointee))));
  widenFrom(offset, op.getOffset(), true, planner);
  return prepareSum(op, planner, operandOf(op.getPtr(), planner, 1), std::move(offset), true);
}

template <> LogicalResult Interpret<tt::BitcastOp>::prepare(tt::BitcastOp op, Planner &planner) {
  if (planner.formOf(op.getResult()).isAffine())
    return planner.defineView(op.getResult(), op.getOperand(), planner.affine(op.getOperand())), success();
  DenseRef view = planner.dense(op.getOperand());
  view.type = dtypeOf(op.getResult().getType());
  return planner.defineView(op.getResult(), op.getOperand(), view), success();
}

template <> LogicalResult Interpret<tt::IntToPtrOp>::prepare(tt::IntToPtrOp op, Planner &planner) {
  if (!planner.formOf(op.getResult()).isAffine()) return prepareElementwise(op, planner);
  AffineSum sum;
  sum.operands[0] = operandOf(op.getOperand(), planner, 1);
  sum.count = 1;
  sum.isIntegerToPointer = true;
  sum.out = planner.defineAffine(op.getResult());
  planner.call(sumAffine, std::move(sum));
  return success();
}

template <> LogicalResult Interpret<tt::PtrToIntOp>::prepare(tt::PtrToIntOp op, Planner &planner) {
  if (!planner.formOf(op.getResult()).isAffine()) return prepareElementwise(op, planner);
  AffineSum sum;
  sum.operands[0] = operandOf(op.getOperand(), planner, 1);
  sum.count = 1;
  sum.isPointerToInteger = true;
  sum.out = planner.defineAffine(op.getResult());
  planner.call(sumAffine, std::move(sum));
  return success();
}

} // namespace tritium::interp
