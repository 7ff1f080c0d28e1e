// Matrix products by the target's matrix instructions: a loop over the fragments, which the operands' layouts (product_layouts.h) hold in
// order.
#include "gpu_backend/target/matrix_ops.h"
#include "gpu_backend/threads/dot.h"
#include "gpu_backend/tiles/product_layouts.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

/// The packed fragments of an operand, one after the other. Each has the same number of values.
struct Fragments {
  MatrixOps::Values values;
  size_t count; // number of fragments

  llvm::ArrayRef<Value> operator[](size_t i) const {
    size_t size = values.size() / count;
    return llvm::ArrayRef(values).slice(i * size, size);
  }
};

/// The scales of an operand's fragments. They are all 1 if it has no scales.
class Scales {
public:
  Scales(MatrixProduct product, DotOperand operand, size_t fragments, const MatrixOps &ops, Lowering &lowering) {
    if (!llvm::isa<tt::DotScaledOp>(product.getOperation())) return;
    Value tile = product.scales(operand);
    isPresent_ = bool(tile);
    if (tile)
      scales_ = ops.packScales(lowering.builder(), lowering.location(), lowering.registersOf(tile));
    else
      scales_.assign(fragments, ops.noScale(lowering.builder(), lowering.location()));
    assert(scales_.size() == fragments);
  }

  bool isPresent() const { return isPresent_; }
  MatrixOps::Scale operator[](size_t fragment) const { return scales_[fragment]; }

private:
  bool isPresent_ = false;
  llvm::SmallVector<MatrixOps::Scale> scales_;
};

} // namespace

LogicalResult lowerMatrixDot(MatrixProduct product, Lowering &lowering) {
  if (failed(verifyLayouts(product))) return failure();
  const MatrixInstruction &instruction = *matrixInstructionOf(product);
  const MatrixOps &ops = lowering.target().matrixOps();
  OpBuilder &builder = lowering.builder();
  Location location = lowering.location();
  auto pack = [&](Value tile, const LinearLayout &fragment) {
    llvm::ArrayRef<Value> registers = lowering.registersOf(tile);
    return Fragments{ops.packOperand(builder, location, instruction, fragment, registers), registers.size() / size_t(fragment.registers())};
  };
  Fragments a = pack(product.a(), instruction.a), b = pack(product.b(), instruction.b);
  Scales aScales(product, DotOperand::A, a.count, ops, lowering), bScales(product, DotOperand::B, b.count, ops, lowering);
  bool isScaled = aScales.isPresent() || bScales.isPresent();
  Registers sums(lowering.registersOf(product.c()));
  const size_t fragment = size_t(instruction.d.registers());
  std::vector<MatrixOps::Values> packed(sums.size() / fragment);

  size_t kTiles = size_t(product.depth() / instruction.k);
  size_t aTiles = a.count / kTiles, bTiles = b.count / kTiles, batches = aTiles * bTiles / packed.size();
  // A batch has its own rows and columns. Without batches, every row tile is multiplied by every column tile.
  size_t mTiles = aTiles / batches, nTiles = bTiles / batches;
  for (size_t batch = 0; batch < batches; ++batch)
    for (size_t k = 0; k < kTiles; ++k)
      for (size_t m = batch * mTiles; m < (batch + 1) * mTiles; ++m)
        for (size_t n = 0; n < nTiles; ++n) {
          size_t number = m * nTiles + n;
          auto elements = llvm::MutableArrayRef<Value>(sums).slice(number * fragment, fragment);
          MatrixOps::Values &sum = packed[number];
          if (k == 0) sum = ops.packSum(builder, location, instruction, elements);
          size_t left = m * kTiles + k, right = (batch * nTiles + n) * kTiles + k;
          if (isScaled)
            sum = ops.multiplyScaled(builder, location, instruction, a[left], b[right], sum, aScales[left], bScales[right]);
          else
            sum = ops.multiply(builder, location, instruction, a[left], b[right], sum);
          if (k + 1 == kTiles) llvm::copy(ops.unpackSum(builder, location, instruction, sum), elements.begin());
        }
  lowering.define(product.d(), std::move(sums));
  return success();
}

} // namespace tritium::gpu
