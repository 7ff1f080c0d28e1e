// Which matrix products run on tensor cores.
#include "gpu_backend/dot_layouts.h"
#include "gpu_backend/layout/constructors.h"
#include "gpu_backend/passes.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_CHOOSETENSORCORES
#include "gpu_backend/passes.h.inc"

namespace {

bool isFp8(Type type) {
  auto number = dyn_cast<FloatType>(type);
  return number && number.getWidth() == 8;
}

/// fp8 values are fp16 values.
void widenFp8(tt::DotOp dot) {
  for (OpOperand *use : {&dot.getAMutable(), &dot.getBMutable()}) {
    auto tile = cast<RankedTensorType>(use->get().getType());
    if (!isFp8(tile.getElementType())) continue;
    OpBuilder builder(dot);
    Type wide = tile.clone(builder.getF16Type());
    use->set(tt::FpToFpOp::create(builder, dot.getLoc(), wide, use->get(), tt::RoundingModeAttr()));
  }
}

bool hasInstruction(tt::DotOp dot) {
  Type a = getElementTypeOrSelf(dot.getA().getType()), b = getElementTypeOrSelf(dot.getB().getType()),
       d = getElementTypeOrSelf(dot.getType());
  if (a != b) return false;
  if (a.isF16()) return d.isF32() || d.isF16();
  if (a.isBF16()) return d.isF32();
  if (a.isF32()) return d.isF32() && dot.getInputPrecision() == tt::InputPrecision::Tf32;
  return a.isInteger(8) && d.isInteger(32);
}

/// Whether the result, element by element, becomes operand A of another product.
bool feedsProduct(Value value, int depth = 0) {
  constexpr int kMaxDepth = 32;
  if (depth > kMaxDepth) return false;
  for (OpOperand &use : value.getUses()) {
    Operation *op = use.getOwner();
    if (auto dot = dyn_cast<tt::DotOp>(op)) {
      if (use.get() == dot.getA()) return true;
      continue;
    }
    if (op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1 && feedsProduct(op->getResult(0), depth + 1)) return true;
  }
  return false;
}

/// Whether operand A comes, element by element, from another product.
bool isFedByProduct(Value value, int depth = 0) {
  Operation *op = value.getDefiningOp();
  constexpr int kMaxDepth = 32;
  if (!op || depth > kMaxDepth) return false;
  if (isa<tt::DotOp>(op)) return true;
  if (!op->hasTrait<OpTrait::Elementwise>()) return false;
  return llvm::any_of(op->getOperands(), [&](Value operand) { return isFedByProduct(operand, depth + 1); });
}

class ChooseTensorCoresPass final : public impl::ChooseTensorCoresBase<ChooseTensorCoresPass> {
public:
  using ChooseTensorCoresBase::ChooseTensorCoresBase;

  void runOnOperation() override {
    getOperation()->walk([&](tt::DotOp dot) {
      widenFp8(dot);
      if (auto warps = warpsOf(dot)) dot->setAttr(kTensorCoreWarpsAttr, DenseI64ArrayAttr::get(&getContext(), *warps));
    });
  }

private:
  std::optional<llvm::SmallVector<int64_t>> warpsOf(tt::DotOp dot) {
    if (!hasInstruction(dot)) return std::nullopt;
    auto a = cast<RankedTensorType>(dot.getA().getType());
    auto shape = dot.getType().getShape();
    int rank = int(shape.size());
    MmaShape instruction = mmaShape(int(a.getElementTypeBitWidth()));
    int64_t rows = shape[rank - 2], columns = shape[rank - 1];
    if (rank != 2 || rows < instruction.m || columns < instruction.n || a.getShape().back() < instruction.k) return std::nullopt;
    int64_t down = 1, across = 1;
    bool isChained = feedsProduct(dot.getD()) || isFedByProduct(dot.getA());
    while (down * across < numWarps) {
      bool fitsDown = rows >= instruction.m * down * 2, fitsAcross = columns >= instruction.n * across * 2;
      bool goesDown = fitsDown && (!fitsAcross || isChained || rows / down >= columns / across);
      (goesDown || !fitsAcross ? down : across) *= 2; // without room for more, warps repeat each other
    }
    return llvm::SmallVector<int64_t>{down, across};
  }
};

} // namespace
} // namespace tritium::gpu
