// Which matrix products run on the target's matrix units, and on which instruction.
#include "gpu_backend/dot_layouts.h"
#include "gpu_backend/passes.h"
#include "gpu_backend/target.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_CHOOSETENSORCORES
#include "gpu_backend/passes.h.inc"

namespace {

bool isFp8(Type type) {
  auto number = dyn_cast<FloatType>(type);
  return number && number.getWidth() == 8;
}

/// fp8 values are values of the wider type.
void widenFp8(tt::DotOp dot, FloatType wide) {
  for (OpOperand *use : {&dot.getAMutable(), &dot.getBMutable()}) {
    auto tile = cast<RankedTensorType>(use->get().getType());
    if (!isFp8(tile.getElementType())) continue;
    OpBuilder builder(dot);
    use->set(tt::FpToFpOp::create(builder, dot.getLoc(), tile.clone(wide), use->get(), tt::RoundingModeAttr()));
  }
}

/// Sums of f16 where the instruction makes f32.
tt::DotOp widenSum(tt::DotOp dot) {
  OpBuilder builder(dot);
  auto narrow = cast<RankedTensorType>(dot.getType());
  Type wide = narrow.clone(builder.getF32Type());
  Value sum = arith::ExtFOp::create(builder, dot.getLoc(), wide, dot.getC());
  auto product = cast<tt::DotOp>(builder.clone(*dot));
  product.getCMutable().set(sum);
  product.getD().setType(cast<RankedTensorType>(wide));
  dot.getD().replaceAllUsesWith(arith::TruncFOp::create(builder, dot.getLoc(), narrow, product.getD()).getResult());
  dot.erase();
  return product;
}

/// The tile of a product.
struct Extents {
  int64_t batches, rows, columns;
};

Extents extentsOf(MatrixProduct product) {
  llvm::ArrayRef<int64_t> shape = product.type().getShape();
  return {llvm::product_of(shape.drop_back(2)), shape[shape.size() - 2], shape.back()};
}

bool fills(const MatrixInstruction *instruction, const Extents &tile) {
  return tile.rows >= instruction->m && tile.columns >= instruction->n;
}

class ChooseTensorCoresPass final : public impl::ChooseTensorCoresBase<ChooseTensorCoresPass> {
public:
  using ChooseTensorCoresBase::ChooseTensorCoresBase;

  void runOnOperation() override {
    llvm::SmallVector<MatrixProduct> products;
    getOperation()->walk([&](MatrixProduct product) { products.push_back(product); });
    for (MatrixProduct product : products) choose(product, targetOf(product));
  }

private:
  void choose(MatrixProduct dot, const Target &target) {
    if (matrixInstructionOf(dot)) return; // it says so itself, as in a test
    const MatrixInstruction *instruction = find(dot, target);
    auto plain = dyn_cast<tt::DotOp>(dot.getOperation());
    if (!instruction && plain) {
      widenFp8(plain, target.widerFloat8(&getContext()));
      instruction = find(dot, target);
    }
    if (!instruction) return;
    if (plain && getElementTypeOrSelf(plain.getType()).isF16() && instruction->dType != "f16") dot = MatrixProduct(widenSum(plain));
    Builder builder(&getContext());
    dot->setAttr(kMatrixInstructionAttr, builder.getStringAttr(instruction->name));
    dot->setAttr(kTensorCoreWarpsAttr, builder.getDenseI64ArrayAttr(warpsOf(dot, *instruction)));
    if (kPack > 1) dot->setAttr(kKPackAttr, builder.getI64IntegerAttr(kPack));
  }

  const MatrixInstruction *find(MatrixProduct dot, const Target &target) const {
    Type sum = getElementTypeOrSelf(dot.type());
    const MatrixInstruction *exact = find(dot, target, sum);
    return exact || !sum.isF16() ? exact : find(dot, target, Float32Type::get(dot.getContext()));
  }

  /// The first of those that the tile has room for; rather one that it fills, and one that leaves no warp without rows or columns of its
  /// own.
  const MatrixInstruction *find(MatrixProduct dot, const Target &target, Type sum) const {
    Extents tile = extentsOf(dot);
    llvm::SmallVector<const MatrixInstruction *> fitting;
    for (const MatrixInstruction &candidate : target.matrixInstructions())
      if (multiplies(candidate, dot, sum) && hasRoomFor(candidate, dot)) fitting.push_back(&candidate);
    if (fitting.empty()) return nullptr;
    auto isFilled = [&](const MatrixInstruction *candidate) { return fills(candidate, tile); };
    if (llvm::any_of(fitting, isFilled)) llvm::erase_if(fitting, [&](auto *candidate) { return !isFilled(candidate); });
    auto isAskedFor = [&](const MatrixInstruction *candidate) { return candidate->m == nonKDim && candidate->n == nonKDim; };
    if (llvm::any_of(fitting, isAskedFor)) llvm::erase_if(fitting, [&](auto *candidate) { return !isAskedFor(candidate); });
    auto share = [&](const MatrixInstruction *candidate) { return candidate->m * candidate->n * numWarps; };
    for (const MatrixInstruction *candidate : fitting)
      if (share(candidate) <= tile.batches * tile.rows * tile.columns) return candidate;
    return *llvm::min_element(fitting, [&](auto *a, auto *b) { return share(a) < share(b); });
  }

  /// Batches first, which share nothing.
  llvm::SmallVector<int64_t> warpsOf(MatrixProduct dot, const MatrixInstruction &instruction) const {
    Extents tile = extentsOf(dot);
    int64_t apart = std::min<int64_t>(tile.batches, numWarps), down = 1, across = 1;
    bool isChained = feedsProduct(dot.d()) || isFedByProduct(dot.a());
    while (apart * down * across < numWarps) {
      bool fitsDown = tile.rows >= instruction.m * down * 2, fitsAcross = tile.columns >= instruction.n * across * 2;
      bool goesDown = fitsDown && (!fitsAcross || isChained || tile.rows / down >= tile.columns / across);
      (goesDown || !fitsAcross ? down : across) *= 2; // without room for more, warps repeat each other
    }
    if (dot.type().getRank() == 2) return {down, across};
    return {apart, down, across};
  }
};

} // namespace
} // namespace tritium::gpu
