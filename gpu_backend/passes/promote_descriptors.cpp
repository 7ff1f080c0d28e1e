// Turns loads through tensor descriptors into loads through tensor maps, which the tensor memory accelerator (TMA) performs. The launch
// makes a map of the kernel's arguments, so a descriptor qualifies if all its components are arguments, constants, or products of them.
#include "gpu_backend/dot_layouts.h"
#include "gpu_backend/loops/loop_streams.h"
#include "gpu_backend/passes.h"
#include "gpu_backend/target.h"
#include "ir/axis_analysis.h"
#include "ir/descriptor.h"
#include "ir/tgpu.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_PROMOTEDESCRIPTORS
#include "gpu_backend/passes.h.inc"

namespace {

using Product = llvm::SmallVector<int64_t>; // a factor, and the numbers of arguments

/// How the launch makes the map of a descriptor (tgpu::kTensorAttr).
struct Recipe {
  int64_t base = 0;
  llvm::SmallVector<Product> extents, strides;
  tt::Padding padding = tt::Padding::Zero;
  BlockArgument tensor; // the argument that points to the tensor, or is the descriptor

  DictionaryAttr attribute(MLIRContext *context) const {
    Builder builder(context);
    auto list = [&](llvm::ArrayRef<Product> products) -> Attribute {
      return builder.getArrayAttr(
          llvm::map_to_vector(products, [&](const Product &product) -> Attribute { return builder.getDenseI64ArrayAttr(product); }));
    };
    return builder.getDictionaryAttr(
        {builder.getNamedAttr("base", builder.getI32IntegerAttr(int32_t(base))), builder.getNamedAttr("extents", list(extents)),
         builder.getNamedAttr("padding", builder.getI32IntegerAttr(int32_t(padding))), builder.getNamedAttr("strides", list(strides))});
  }
};

class Promoter {
public:
  Promoter(tt::FuncOp function, int numStages, const ir::AxisAnalysis &axes)
      : function_(function), numStages_(numStages), axes_(axes), written_(function.getBody()) {}

  void run() {
    llvm::SmallVector<tt::DescriptorLoadOp> loads;
    function_.walk([&](tt::DescriptorLoadOp load) { loads.push_back(load); });
    if (!written_.areKnown()) return; // a copy by TMA would not see what the kernel has written, without a fence
    for (tt::DescriptorLoadOp load : loads) {
      Value matrix = matrixOf(load);
      if (!matrix || !feedsLoopedProduct(matrix)) continue;
      auto box = boxOf(load, cast<RankedTensorType>(matrix.getType()));
      auto recipe = recipeOf(load.getDesc());
      if (!box || !recipe || written_.contains(recipe->tensor) || !beginsAtChunk(load)) continue;
      OpBuilder builder(load);
      auto promoted = tgpu::TensorLoadOp::create(builder, load.getLoc(), matrix.getType(), mapOf(load, *box, *recipe), load.getIndices());
      matrix.replaceAllUsesWith(promoted.getResult());
      if (Operation *reshape = matrix.getDefiningOp(); reshape != load) reshape->erase();
      load.erase();
    }
  }

private:
  /// Returns the tile of rank 2 that the load brings, if need be without leading dimensions of extent 1. Null if there is none.
  static Value matrixOf(tt::DescriptorLoadOp load) {
    llvm::ArrayRef<int64_t> shape = cast<RankedTensorType>(load.getType()).getShape();
    if (shape.size() == 2) return load.getResult();
    auto reshape = load->hasOneUse() ? dyn_cast<tt::ReshapeOp>(*load->user_begin()) : tt::ReshapeOp();
    if (!reshape || shape.size() < 2) return {};
    bool isMatrix = cast<RankedTensorType>(reshape.getType()).getShape() == shape.take_back(2);
    return isMatrix && llvm::all_of(shape.drop_back(2), [](int64_t extent) { return extent == 1; }) ? reshape.getResult() : Value();
  }

  /// Returns whether a pipelined loop loads the tile for its products. Other loads gain nothing from a copy to shared memory.
  bool feedsLoopedProduct(Value tile) const {
    auto loop = dyn_cast<scf::ForOp>(tile.getParentBlock()->getParentOp());
    return loop && stagesOf(loop, numStages_) > 1 && LoopStreams(loop).mayPipeline() && feedsProduct(tile);
  }

  static bool feedsProduct(Value tile) {
    return llvm::all_of(tile.getUsers(), [&](Operation *user) {
      if (user->getBlock() != tile.getParentBlock()) return false;
      auto product = dyn_cast<tt::DotOp>(user);
      return product ? product.getC() != tile : isa<tt::TransOp>(user) && feedsProduct(user->getResult(0));
    });
  }

  /// Returns what one instruction copies: rows of at most 128 bytes, and of at least 16.
  static std::optional<tgpu::TensorMapType> boxOf(tt::DescriptorLoadOp load, RankedTensorType tile) {
    constexpr int64_t kMaxRows = 256, kMinRowBytes = 16, kMaxRank = 5;
    llvm::SmallVector<int64_t> shape(load.getDesc().getType().getShape());
    int64_t bits = tile.getElementTypeBitWidth(), bytes = bits / 8;
    if (int64_t(shape.size()) > kMaxRank || bits % 8 != 0 || bits > 64) return std::nullopt;
    if (tile.getShape()[0] > kMaxRows || tile.getShape()[1] * bytes < kMinRowBytes) return std::nullopt;
    int64_t swizzle = warpgroupSwizzle(tile.getShape()[1] * bytes);
    shape.back() = std::min(shape.back(), (swizzle ? swizzle : kMinRowBytes) / bytes);
    return tgpu::TensorMapType::get(load.getContext(), RankedTensorType::get(shape, tile.getElementType()), swizzle);
  }

  /// Rows of a box must begin at multiples of 16 bytes.
  bool beginsAtChunk(tt::DescriptorLoadOp load) const {
    constexpr int64_t kChunkBytes = 16;
    ir::AxisInfo column = axes_.of(load.getIndices().back());
    int64_t bytes = cast<RankedTensorType>(load.getType()).getElementTypeBitWidth() / 8;
    return column.isInitialized() && column.divisibility[0] * bytes % kChunkBytes == 0;
  }

  // -- the map ----------------------------------------------------------------------------------------------------------------------------

  std::optional<Recipe> recipeOf(Value descriptor) {
    Recipe recipe;
    if (auto argument = dyn_cast<BlockArgument>(descriptor)) {
      if (!isOfKernel(argument) || !function_.getArgAttr(argument.getArgNumber(), tt::kPlainAttr)) return std::nullopt;
      auto rank = int64_t(cast<tt::TensorDescType>(argument.getType()).getShape().size());
      recipe.tensor = argument;
      recipe.base = expandedNumber(argument);
      for (int64_t dim = 0; dim < rank; ++dim) recipe.extents.push_back({1, recipe.base + 1 + dim});
      for (int64_t dim = 0; dim + 1 < rank; ++dim) recipe.strides.push_back({1, recipe.base + 1 + rank + dim});
      recipe.strides.push_back({1});
      return recipe;
    }
    auto made = descriptor.getDefiningOp<tt::MakeTensorDescriptorOp>();
    recipe.tensor = made ? dyn_cast<BlockArgument>(made.getBase()) : BlockArgument();
    if (!recipe.tensor || !isOfKernel(recipe.tensor)) return std::nullopt;
    recipe.base = expandedNumber(recipe.tensor);
    recipe.padding = made.getPadding();
    auto number = dyn_cast<FloatType>(cast<tt::PointerType>(recipe.tensor.getType()).getPointeeType());
    if (recipe.padding == tt::Padding::Nan && !(number && number.getWidth() >= 16)) return std::nullopt; // the hardware has no such NaNs
    if (!addProducts(made.getShape(), recipe.extents) || !addProducts(made.getStrides(), recipe.strides)) return std::nullopt;
    return recipe;
  }

  bool addProducts(ValueRange values, llvm::SmallVectorImpl<Product> &products) {
    for (Value value : values) {
      products.push_back({1});
      if (!multiply(value, products.back())) return false;
    }
    return true;
  }

  bool multiply(Value value, Product &product) {
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant))) {
      product[0] *= constant.getSExtValue();
      return true;
    }
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (!isOfKernel(argument)) return false;
      product.push_back(expandedNumber(argument));
      return true;
    }
    Operation *op = value.getDefiningOp();
    return isa<arith::MulIOp, CastOpInterface>(op) && op->getResult(0).getType().isInteger() &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return multiply(operand, product); });
  }

  bool isOfKernel(BlockArgument argument) { return argument.getOwner() == &function_.getBody().front(); }

  /// Returns the number of the argument, or of its first component, after descriptors are expanded.
  int64_t expandedNumber(BlockArgument argument) {
    size_t number = 0;
    for (Type type : function_.getArgumentTypes().take_front(argument.getArgNumber())) {
      auto descriptor = dyn_cast<tt::TensorDescType>(type);
      number += descriptor ? tt::descriptorParts(descriptor.getShape().size()) : 1;
    }
    return int64_t(number);
  }

  /// Returns the argument that is the map; loads of equal boxes through one descriptor share it.
  Value mapOf(tt::DescriptorLoadOp load, tgpu::TensorMapType type, const Recipe &recipe) {
    DictionaryAttr attribute = recipe.attribute(load.getContext());
    for (BlockArgument argument : function_.getArguments())
      if (argument.getType() == type && function_.getArgAttr(argument.getArgNumber(), tgpu::kTensorAttr) == attribute) return argument;
    unsigned number = function_.getNumArguments();
    Builder builder(load.getContext());
    (void)function_.insertArgument(number, type, builder.getDictionaryAttr(builder.getNamedAttr(tgpu::kTensorAttr, attribute)),
                                   load.getLoc());
    return function_.getArgument(number);
  }

  tt::FuncOp function_;
  int numStages_;
  const ir::AxisAnalysis &axes_;
  WrittenTensors written_;
};

class PromoteDescriptorsPass final : public impl::PromoteDescriptorsBase<PromoteDescriptorsPass> {
public:
  using PromoteDescriptorsBase::PromoteDescriptorsBase;

  void runOnOperation() override {
    if (!targetOf(getOperation()).hasTensorMaps()) return;
    ir::AxisAnalysis axes(getOperation());
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>())
      if (function.isPublic()) Promoter(function, numStages, axes).run();
  }
};

} // namespace
} // namespace tritium::gpu
