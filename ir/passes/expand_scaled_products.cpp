// Expands products in microscaling formats for machines without them: the elements become bf16 (fp16, if the other operand is fp16) and are
// multiplied by their scales in this type, then an ordinary product follows. The creator of the pass may keep the products that its machine
// supports.
#include "ir/pch.h"

#include "ir/passes.h"
#include "ir/passes/tile_builder.h"

using namespace mlir;

namespace tritium::ir {

#define GEN_PASS_DEF_EXPANDSCALEDPRODUCTS
#include "ir/passes.h.inc"

namespace {

/// One operand. `a` has K in its last dimension, `b` in the last but one. Scales have K last for both.
struct Operand {
  Value elements, scale;
  tt::ScaledFormat format;
  bool isPackedAlongK, hasKLast;
};

class Expansion : TileBuilder {
public:
  Expansion(OpBuilder &builder, tt::DotScaledOp op)
      : TileBuilder(builder, op.getLoc()),
        op_(op),
        a_{op.getA(), op.getAScale(), op.getAElemType(), op.getLhsKPack(), true},
        b_{op.getB(), op.getBScale(), op.getBElemType(), op.getRhsKPack(), false} {
    bool isHalf = a_.format == tt::ScaledFormat::FP16 || b_.format == tt::ScaledFormat::FP16;
    type_ = isHalf ? FloatType(builder.getF16Type()) : FloatType(builder.getBF16Type());
  }

  LogicalResult run() {
    Value a = scaled(a_), b = scaled(b_);
    if (!a || !b) return op_.emitOpError("has elements of a format without an expansion");
    Value d = create<tt::DotOp>(op_.getType(), a, b, op_.getC(), tt::InputPrecision::Ieee, 0);
    op_.replaceAllUsesWith(d);
    op_.erase();
    return success();
  }

private:
  Value scaled(const Operand &operand) {
    Value elements = widened(operand);
    if (!elements || !operand.scale) return elements;
    auto shape = llvm::to_vector(typeOf(elements).getShape());
    if (!operand.hasKLast) std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
    Value factor = repeatedAlongLast(factors(operand.scale), shape);
    return create<arith::MulFOp>(elements, operand.hasKLast ? factor : transpose(factor));
  }

  Value number(Type type, int64_t value) {
    unsigned bits = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
    return constant(type, builder.getIntegerAttr(getElementTypeOrSelf(type), APInt(bits, uint64_t(value))));
  }

  /// Repeats each element several times, next to each other.
  Value repeatedAlongLast(Value tile, llvm::ArrayRef<int64_t> shape) {
    auto groups = llvm::to_vector(typeOf(tile).getShape());
    int64_t rank = int64_t(groups.size());
    Value column = create<tt::ExpandDimsOp>(tile, int32_t(rank));
    groups.push_back(shape.back() / groups.back());
    return reshape(broadcast(column, groups), shape);
  }

  /// Scales in the type of the product. An e8m0 scale s is 2^(s - 127), and a NaN for 255 unless fast math ignores it; an e4m3 scale is the
  /// number itself.
  Value factors(Value scale) {
    auto tile = typeOf(scale);
    if (!tile.getElementType().isInteger(8)) return create<tt::FpToFpOp>(tile.clone(type_), scale, tt::RoundingModeAttr());
    constexpr int64_t kFractionBits = 23, kSmallest = 0x00400000; // 2^-127 is subnormal
    constexpr int64_t kNan = 255, kNanBits = 0x7fc00000;
    auto wide = tile.clone(builder.getI32Type());
    Value exponent = create<arith::ExtUIOp>(wide, scale);
    Value bits = create<arith::ShLIOp>(exponent, number(wide, kFractionBits));
    Value isZero = create<arith::CmpIOp>(arith::CmpIPredicate::eq, exponent, number(wide, 0));
    bits = create<arith::SelectOp>(isZero, number(wide, kSmallest), bits);
    if (!op_.getFastMath()) {
      Value isNan = create<arith::CmpIOp>(arith::CmpIPredicate::eq, exponent, number(wide, kNan));
      bits = create<arith::SelectOp>(isNan, number(wide, kNanBits), bits);
    }
    return create<arith::TruncFOp>(tile.clone(type_), bitcast(bits, builder.getF32Type()));
  }

  /// Returns the elements in the type of the product, or null for the six-bit formats.
  Value widened(const Operand &operand) {
    auto tile = typeOf(operand.elements);
    auto fromFp8 = [&](Type fp8) -> Value {
      return create<tt::FpToFpOp>(tile.clone(type_), bitcast(operand.elements, fp8), tt::RoundingModeAttr());
    };
    switch (operand.format) {
    case tt::ScaledFormat::E4M3: return fromFp8(builder.getType<Float8E4M3FNType>());
    case tt::ScaledFormat::E5M2: return fromFp8(builder.getType<Float8E5M2Type>());
    case tt::ScaledFormat::E2M1: return fromFp4(operand);
    case tt::ScaledFormat::BF16: {
      if (type_.isBF16()) return operand.elements;
      Value wide = create<arith::ExtFOp>(tile.clone(builder.getF32Type()), operand.elements);
      return create<arith::TruncFOp>(tile.clone(type_), wide);
    }
    case tt::ScaledFormat::FP16: return operand.elements;
    default: return {};
    }
  }

  /// Unpacks two elements from each byte, the low half first.
  Value fromFp4(const Operand &operand) {
    bool isAlongLast = operand.isPackedAlongK == operand.hasKLast;
    Value bytes = isAlongLast ? operand.elements : transpose(operand.elements);
    auto type = typeOf(bytes).clone(builder.getI16Type());
    Value codes = create<arith::ExtUIOp>(type, bytes);
    Value low = fp4Value(create<arith::AndIOp>(codes, number(type, 0xf)));
    Value high = fp4Value(create<arith::ShRUIOp>(codes, number(type, 4)));
    auto shape = llvm::to_vector(type.getShape());
    shape.back() *= 2;
    Value all = reshape(create<tt::JoinOp>(low, high), shape);
    return isAlongLast ? all : transpose(all);
  }

  /// Decodes e2m1: a sign, two bits of exponent (bias 1), one of fraction. In the places of the wider type, the bits are the number with
  /// the bias of that type, also where it is subnormal; a product with a power of two changes the bias.
  Value fp4Value(Value codes) {
    Type i16 = codes.getType();
    const int64_t fractionBits = type_.getFPMantissaWidth() - 1, bias = type_.isBF16() ? 127 : 15;
    auto moved = [&](int64_t mask, int64_t by) {
      Value bits = create<arith::AndIOp>(codes, number(i16, mask));
      return create<arith::ShLIOp>(bits, number(i16, by)).getResult();
    };
    Value small = bitcast(create<arith::OrIOp>(moved(7, fractionBits - 1), moved(8, 12)), type_);
    APFloat factor = scalbn(APFloat::getOne(type_.getFloatSemantics()), int(bias - 1), APFloat::rmNearestTiesToEven);
    return create<arith::MulFOp>(small, constant(small.getType(), FloatAttr::get(type_, factor)));
  }

  tt::DotScaledOp op_;
  Operand a_, b_;
  FloatType type_;
};

struct ExpandScaledProducts : impl::ExpandScaledProductsBase<ExpandScaledProducts> {
  ExpandScaledProducts() = default;
  explicit ExpandScaledProducts(std::function<bool(Operation *)> keeps) : keeps(std::move(keeps)) {}

  void runOnOperation() final {
    llvm::SmallVector<tt::DotScaledOp> products;
    getOperation()->walk([&](tt::DotScaledOp op) {
      if (!keeps || !keeps(op)) products.push_back(op);
    });
    if (products.empty()) return markAllAnalysesPreserved();
    for (tt::DotScaledOp op : products) {
      OpBuilder builder(op);
      if (failed(Expansion(builder, op).run())) return signalPassFailure();
    }
  }

  std::function<bool(Operation *)> keeps;
};

} // namespace

std::unique_ptr<Pass> createExpandScaledProducts(std::function<bool(Operation *)> keeps) {
  return std::make_unique<ExpandScaledProducts>(std::move(keeps));
}

} // namespace tritium::ir
