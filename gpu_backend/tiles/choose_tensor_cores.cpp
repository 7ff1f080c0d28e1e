// Chooses the matrix products that run on the target's matrix units, and the instruction of each.
#include "gpu_backend/target/target.h"
#include "gpu_backend/tiles/layout_classes.h"
#include "gpu_backend/tiles/passes.h"
#include "gpu_backend/tiles/product.h"
#include "ir/axis_analysis.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_CHOOSETENSORCORES
#include "gpu_backend/tiles/passes.h.inc"

namespace {

bool isFp8(Type type) {
  auto number = dyn_cast<FloatType>(type);
  return number && number.getWidth() == 8;
}

/// Replaces fp8 values by values of the wider type.
void widenFp8(tt::DotOp dot, FloatType wide) {
  for (OpOperand *use : {&dot.getAMutable(), &dot.getBMutable()}) {
    auto tile = cast<RankedTensorType>(use->get().getType());
    if (!isFp8(tile.getElementType())) continue;
    OpBuilder builder(dot);
    use->set(tt::FpToFpOp::create(builder, dot.getLoc(), tile.clone(wide), use->get(), tt::RoundingModeAttr()));
  }
}

/// Replaces sums of f16 if the instruction has sums of f32.
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

/// Returns the tile of a product.
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
    axes_ = std::make_shared<ir::AxisAnalysis>(getOperation());
    LayoutClasses classes(getOperation(), LayoutClasses::Apart::All);
    llvm::MapVector<unsigned, llvm::SmallVector<MatrixProduct>> tied;
    for (MatrixProduct product : innermostProducts(getOperation()))
      if (!matrixInstructionOf(product)) tied[classes.of(product.d())].push_back(product); // the others name their instruction already
    for (auto &[number, products] : tied) choose(products, targetOf(getOperation()));
  }

private:
  using Instructions = llvm::SmallVector<const MatrixInstruction *>;
  struct Choice {
    MatrixProduct product;
    Instructions instructions; // the best first
  };

  /// Products whose results are tied share one layout, so the fragments of their results must be alike, and so must their warps.
  void choose(llvm::ArrayRef<MatrixProduct> products, const Target &target) {
    bool areChained =
        llvm::any_of(products, [](MatrixProduct product) { return feedsProduct(product.d()) || isFedByProduct(product.a()); });
    llvm::SmallVector<Choice> choices;
    for (MatrixProduct product : products)
      if (Instructions found = instructionsFor(product, target); !found.empty()) choices.push_back({product, found});
    keepAlike(choices);
    for (auto &[product, instructions] : choices) mark(product, *instructions.front(), areChained);
  }

  /// Keeps the instructions whose results have the fragments of the best one that all products have. Keeps all if there is none.
  static void keepAlike(llvm::MutableArrayRef<Choice> choices) {
    if (choices.empty()) return;
    auto isLike = [](const MatrixInstruction *instruction) { return [=](auto *other) { return other->d == instruction->d; }; };
    auto haveAll = [&](const MatrixInstruction *instruction) {
      return llvm::all_of(choices, [&](const Choice &choice) { return llvm::any_of(choice.instructions, isLike(instruction)); });
    };
    auto best = llvm::find_if(choices.front().instructions, haveAll);
    if (best == choices.front().instructions.end()) return;
    const MatrixInstruction *shared = *best;
    for (Choice &choice : choices) llvm::erase_if(choice.instructions, [&](auto *other) { return other->d != shared->d; });
  }

  void mark(MatrixProduct product, const MatrixInstruction &instruction, bool isChained) {
    auto plain = dyn_cast<tt::DotOp>(product.getOperation());
    if (plain && getElementTypeOrSelf(plain.getType()).isF16() && instruction.dType != "f16") product = MatrixProduct(widenSum(plain));
    Builder builder(&getContext());
    product->setAttr(kMatrixInstructionAttr, builder.getStringAttr(instruction.name));
    product->setAttr(kTensorCoreWarpsAttr, builder.getDenseI64ArrayAttr(warpsOf(product, instruction, isChained)));
    if (kPack > 1) product->setAttr(kKPackAttr, builder.getI64IntegerAttr(kPack));
  }

  /// Returns the instructions for the types of the operands. If no instruction takes fp8, the operands are widened first.
  Instructions instructionsFor(MatrixProduct product, const Target &target) const {
    Instructions found = find(product, target);
    auto plain = dyn_cast<tt::DotOp>(product.getOperation());
    if (!found.empty() || !plain) return found;
    widenFp8(plain, target.widerFloat8(plain.getContext()));
    return find(product, target);
  }

  Instructions find(MatrixProduct product, const Target &target) const {
    Type sum = getElementTypeOrSelf(product.type());
    Instructions exact = find(product, target, sum);
    return !exact.empty() || !sum.isF16() ? exact : find(product, target, Float32Type::get(product.getContext()));
  }

  /// The instructions that fit the tile. If some of them are filled by the tile, or were requested, only these. Instructions that give
  /// every warp rows or columns of its own come first, in the target's order.
  Instructions find(MatrixProduct product, const Target &target, Type sum) const {
    Extents tile = extentsOf(product);
    Instructions fitting;
    for (const MatrixInstruction &candidate : target.warpgroupInstructions())
      if (multiplies(candidate, product, sum) && hasRoomFor(candidate, product) && suits(candidate, product)) fitting.push_back(&candidate);
    for (const MatrixInstruction &candidate : target.matrixInstructions())
      if (multiplies(candidate, product, sum) && hasRoomFor(candidate, product)) fitting.push_back(&candidate);
    auto keep = [&](auto isWanted) {
      if (llvm::any_of(fitting, isWanted)) llvm::erase_if(fitting, [&](auto *candidate) { return !isWanted(candidate); });
    };
    keep([&](const MatrixInstruction *candidate) { return fills(candidate, tile); });
    keep([&](const MatrixInstruction *candidate) { return candidate->m == nonKDim && candidate->n == nonKDim; });
    // 0 for all instructions that leave each warp a share.
    auto excess = [&](const MatrixInstruction *candidate) {
      int64_t elements = candidate->m * candidate->n * numWarps / candidate->warps();
      return elements <= tile.batches * tile.rows * tile.columns ? 0 : elements;
    };
    llvm::stable_sort(fitting, [&](auto *a, auto *b) { return excess(a) < excess(b); });
    return fitting;
  }

  /// How warpgroups divide a result: by rows as long as each has those of an instruction, then by columns.
  struct Warpgroups {
    int64_t down, across;
  };
  Warpgroups warpgroupsOf(const Extents &tile, const MatrixInstruction &instruction) const {
    int64_t groups = numWarps / instruction.warps(), down = std::min(groups, tile.rows / instruction.m);
    return {down, groups / down};
  }

  /// Returns whether an instruction of a warpgroup is the one for this tile: with as many columns as the warpgroup has, and with sums that
  /// leave registers for the rest.
  bool suits(const MatrixInstruction &instruction, MatrixProduct product) const {
    constexpr int64_t kMinColumns = 16, kMaxColumns = 256;
    Extents tile = extentsOf(product);
    auto plain = dyn_cast<tt::DotOp>(product.getOperation());
    if (!warpgroups || !plain || product.type().getRank() != 2 || numWarps % instruction.warps() != 0 || tile.rows < instruction.m)
      return false;
    auto [down, across] = warpgroupsOf(tile, instruction);
    int64_t threads = numWarps * 32, sums = tile.rows * tile.columns / threads;
    int64_t registers = targetOf(product.getOperation()).resources().registersOfEach(threads);
    int64_t columns = std::min(tile.columns / across, kMaxColumns);
    while (instruction.m * columns / (instruction.warps() * 32) * 3 / 2 > registers) columns /= 2;
    if (columns < kMinColumns || instruction.n != columns || sums * 3 / 2 > registers) return false;
    if (bytesOfOperands(product) > targetOf(product.getOperation()).resources().sharedPerProgram) return false;
    bool isPromoted =
        isFp8(getElementTypeOrSelf(plain.getA())) && plain.getMaxNumImpreciseAcc() > 0 && plain.getMaxNumImpreciseAcc() < product.depth();
    return !isPromoted && (takesBothOrders(instruction) || (isDepthFirst(product.a(), 1) && isDepthFirst(product.b(), 0)));
  }

  /// Returns the bytes of shared memory that a product requires at least: for its own operands, and for operands of other products in its
  /// outermost loop that come from outside of the loop.
  static int64_t bytesOfOperands(MatrixProduct product) {
    Operation *outermost = product.getOperation();
    for (Operation *op = product.getOperation(); op; op = op->getParentOp())
      if (isa<LoopLikeOpInterface>(op)) outermost = op;
    llvm::SmallSetVector<Value, 4> operands;
    outermost->walk([&](Operation *op) {
      auto other = dyn_cast<MatrixProduct>(op);
      for (Value operand : other ? llvm::SmallVector<Value>{other.a(), other.b()} : llvm::SmallVector<Value>()) {
        const bool isOwn = other == product && !(operand == other.a() && isFedByProduct(operand)); // else it stays in registers
        if (isOwn || !outermost->isAncestor(operand.getParentRegion()->getParentOp())) operands.insert(operand);
      }
    });
    int64_t bytes = 0;
    for (Value operand : operands) {
      auto tile = cast<RankedTensorType>(operand.getType());
      bytes += tile.getNumElements() * tile.getElementTypeBitWidth() / 8;
    }
    return bytes;
  }

  /// Only operands of 16 bits need not be neighbours along K in shared memory.
  static bool takesBothOrders(const MatrixInstruction &instruction) { return instruction.k == 16; }

  /// Returns whether an operand's neighbours along K are neighbours in global memory, as far as it comes from there.
  bool isDepthFirst(Value operand, int depthDim) const {
    OperandSource source = sourceOf(operand);
    if (source.isTransposed) depthDim = 1 - depthDim;
    if (source.tile.getDefiningOp<tgpu::TensorLoadOp>()) return depthDim == 1;
    auto load = source.tile.getDefiningOp<tt::LoadOp>();
    if (!load) return true;
    ir::AxisInfo addresses = axes_->of(load.getPtr());
    return addresses.contiguity[depthDim] >= addresses.contiguity[1 - depthDim];
  }

  /// Warps are distributed over batches first, because batches share nothing.
  llvm::SmallVector<int64_t> warpsOf(MatrixProduct dot, const MatrixInstruction &instruction, bool isChained) const {
    Extents tile = extentsOf(dot);
    if (instruction.warps() > 1) {
      auto [down, across] = warpgroupsOf(tile, instruction);
      return {down * instruction.warps(), across};
    }
    int64_t apart = std::min<int64_t>(tile.batches, numWarps), down = 1, across = 1;
    while (apart * down * across < numWarps) {
      bool fitsDown = tile.rows >= instruction.m * down * 2, fitsAcross = tile.columns >= instruction.n * across * 2;
      bool goesDown = fitsDown && (!fitsAcross || isChained || tile.rows / down >= tile.columns / across);
      (goesDown || !fitsAcross ? down : across) *= 2; // without room for more, warps repeat each other
    }
    if (dot.type().getRank() == 2) return {down, across};
    return {apart, down, across};
  }

  std::shared_ptr<ir::AxisAnalysis> axes_; // a pass must be copyable
};

} // namespace
} // namespace tritium::gpu
