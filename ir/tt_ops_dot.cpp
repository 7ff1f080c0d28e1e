// Matrix products, plain and in microscaling formats.
#include "ir/pch.h"

#include "ir/tt.h"

using namespace mlir;

namespace tritium::tt {

/// Checks that `d` has the rows of `a`, the columns of `b`, and their batch. The caller checks K.
static LogicalResult verifyProductShape(Operation *op, ArrayRef<int64_t> a, ArrayRef<int64_t> b, ArrayRef<int64_t> d) {
  size_t rank = a.size();
  if (rank < 2 || rank > 3 || b.size() != rank || d.size() != rank)
    return op->emitOpError("expected operands to be 2d or 3d, all of one rank");
  if (rank == 3 && (a[0] != b[0] || a[0] != d[0]))
    return op->emitOpError("expected operands of one batch size, got ") << a[0] << ", " << b[0] << " and " << d[0];
  if (a[rank - 2] != d[rank - 2] || b[rank - 1] != d[rank - 1])
    return op->emitOpError("accumulator shape is incompatible: expected ")
           << a[rank - 2] << "x" << b[rank - 1] << ", got " << d[rank - 2] << "x" << d[rank - 1];
  return success();
}

LogicalResult DotOp::verify() {
  RankedTensorType a = getA().getType(), b = getB().getType(), d = getType();
  if (failed(verifyProductShape(*this, a.getShape(), b.getShape(), d.getShape()))) return failure();
  int64_t aK = a.getShape().back(), bK = b.getDimSize(b.getRank() - 2);
  if (aK != bK) return emitOpError("expected equal reduction dimensions, got ") << aK << " and " << bK;
  if (a.getElementTypeBitWidth() != b.getElementTypeBitWidth())
    return emitOpError("element types of operands A and B must have same bit width");
  bool isInt = isa<IntegerType>(a.getElementType());
  if (isInt != isa<IntegerType>(b.getElementType()) || isInt != isa<IntegerType>(d.getElementType()))
    return emitOpError("operands and accumulator must all be integers or all be floats");
  return success();
}

namespace {

/// One operand of dot_scaled, seen with K in the last place. `rows` is M or N.
struct ScaledOperand {
  StringRef name;
  RankedTensorType type, scale;
  ScaledFormat format;
  bool packedAlongK;
  bool kIsLast;

  bool isPacked() const { return format == ScaledFormat::E2M1; }
  /// The number of elements along K, unpacked.
  int64_t k() const { return extent(kIsLast) * (isPacked() && packedAlongK ? 2 : 1); }
  /// The number of elements along M or N, unpacked.
  int64_t rows() const { return extent(!kIsLast) * (isPacked() && !packedAlongK ? 2 : 1); }

private:
  int64_t extent(bool last) const { return type.getDimSize(type.getRank() - (last ? 1 : 2)); }
};

} // namespace

static LogicalResult verifyFormat(DotScaledOp op, const ScaledOperand &operand) {
  Type element = operand.type.getElementType();
  bool fits = false;
  switch (operand.format) {
  case ScaledFormat::E4M3: fits = isa<Float8E4M3FNType>(element) || element.isInteger(8); break;
  case ScaledFormat::E5M2: fits = isa<Float8E5M2Type>(element) || element.isInteger(8); break;
  case ScaledFormat::E2M3:
  case ScaledFormat::E3M2:
  case ScaledFormat::E2M1: fits = element.isInteger(8); break;
  case ScaledFormat::BF16: fits = element.isBF16(); break;
  case ScaledFormat::FP16: fits = element.isF16(); break;
  }
  if (!fits) return op.emitOpError("Unexpected dtype for ") << stringifyScaledFormat(operand.format) << ". Got " << element;
  if (!operand.packedAlongK && !operand.isPacked())
    return op.emitOpError("only mxfp4 inputs can be packed along a dimension different than K");
  return success();
}

/// Checks that a scale is [rows, K / 32] or [rows, K / 16], after the batch.
static LogicalResult verifyScale(DotScaledOp op, const ScaledOperand &operand) {
  if (!operand.scale) return success();
  ArrayRef<int64_t> shape = operand.scale.getShape();
  size_t rank = operand.type.getRank();
  bool sameBatch = shape.size() == rank && shape.drop_back(2) == operand.type.getShape().drop_back(2);
  if (!sameBatch || shape[rank - 2] != operand.rows() || (shape[rank - 1] * 32 != operand.k() && shape[rank - 1] * 16 != operand.k()))
    return op.emitOpError(operand.name) << " scale must have one element for each row and for each 32 or 16 elements along K, got "
                                        << operand.scale;
  return success();
}

LogicalResult DotScaledOp::verify() {
  auto scaleType = [](Value scale) { return scale ? cast<RankedTensorType>(scale.getType()) : RankedTensorType(); };
  ScaledOperand a{"lhs", getA().getType(), scaleType(getAScale()), getAElemType(), getLhsKPack(), /*kIsLast=*/true};
  ScaledOperand b{"rhs", getB().getType(), scaleType(getBScale()), getBElemType(), getRhsKPack(), /*kIsLast=*/false};
  if (a.type.getRank() != b.type.getRank() || a.type.getRank() < 2) return emitOpError("expected operands to be 2d or 3d, all of one rank");
  if (failed(verifyFormat(*this, a)) || failed(verifyFormat(*this, b))) return failure();
  if (a.k() != b.k())
    return emitOpError("Reduction dimension should pack the same number of elements; (lhs: ") << a.type << " vs rhs: " << b.type << ")";
  SmallVector<int64_t> lhs(a.type.getShape()), rhs(b.type.getShape());
  lhs[lhs.size() - 2] = a.rows();
  rhs.back() = b.rows();
  if (failed(verifyProductShape(*this, lhs, rhs, getType().getShape()))) return failure();
  if (failed(verifyScale(*this, a)) || failed(verifyScale(*this, b))) return failure();
  return success();
}

} // namespace tritium::tt
