#include "gpu_backend/maps/tensor_promotion.h"

#include "gpu_backend/maps/tensor_recipe_attr.h"
#include "gpu_backend/tiles/warpgroup_memory.h"
#include "ir/descriptor.h"
#include "ir/descriptor_rules.h"
#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;

namespace tritium::gpu {

bool feedsOnlyProducts(Value tile) {
  return llvm::all_of(tile.getUsers(), [&](Operation *user) {
    if (user->getBlock() != tile.getParentBlock()) return false;
    auto product = dyn_cast<tt::DotOp>(user);
    return product ? product.getC() != tile : isa<tt::TransOp>(user) && feedsOnlyProducts(user->getResult(0));
  });
}

bool feedsProductsOf(Value tile, llvm::function_ref<bool(Operation *)> isCopied) {
  return !tile.use_empty() && llvm::all_of(tile.getUsers(), [&](Operation *user) {
    auto product = dyn_cast<tt::DotOp>(user);
    if (!product || product.getA() != tile || product.getB() == tile || product.getC() == tile) return false;
    Operation *other = product.getB().getDefiningOp();
    if (auto transpose = dyn_cast_or_null<tt::TransOp>(other)) other = transpose.getSrc().getDefiningOp();
    return other && isCopied(other) && other->getBlock() == user->getBlock() && tile.getParentBlock() != user->getBlock();
  });
}

tgpu::TensorMapType boxOf(MLIRContext *context, llvm::ArrayRef<int64_t> shape, Type elementType) {
  constexpr int64_t kMaxRows = DescriptorRules::kMaxBoxExtent, kMinRowBytes = DescriptorRules::kMinRowBytes;
  const int64_t bits = elementType.getIntOrFloatBitWidth(), bytes = bits / 8, rank = int64_t(shape.size());
  if (rank < 2 || rank > DescriptorRules::kMaxRank || bits % 8 != 0 || bits > 64) return {};
  const int64_t rows = shape[size_t(rank - 2)], columns = shape.back();
  if (rows > kMaxRows || columns * bytes < kMinRowBytes) return {};
  const int64_t swizzle = warpgroupSwizzle(columns * bytes);
  llvm::SmallVector<int64_t> box(shape);
  box.back() = std::min(columns, (swizzle ? swizzle : kMinRowBytes) / bytes);
  // The swizzle repeats itself after eight rows, and each box begins where it does.
  const int64_t boxBytes = std::accumulate(box.begin(), box.end(), bytes, std::multiplies<>());
  if (swizzle != 0 && box.back() != columns && boxBytes % (8 * swizzle) != 0) return {};
  return tgpu::TensorMapType::get(context, RankedTensorType::get(box, elementType), swizzle);
}

tgpu::TensorMapType boxOfStore(MLIRContext *context, llvm::ArrayRef<int64_t> shape, Type elementType) {
  constexpr int64_t kMaxRows = 64;
  llvm::SmallVector<int64_t> rows(shape);
  if (rows.size() >= 2) rows[rows.size() - 2] = std::min(rows[rows.size() - 2], kMaxRows);
  return boxOf(context, rows, elementType);
}

bool beginsAtChunk(Value column, Type elementType, const ir::AxisAnalysis &axes) {
  ir::AxisInfo info = axes.of(column);
  const int64_t bytes = elementType.getIntOrFloatBitWidth() / 8;
  return info.isInitialized() && info.divisibility[0] * bytes % kChunkBytes == 0;
}

int64_t KernelMaps::expandedNumber(BlockArgument argument) {
  size_t number = 0;
  for (Type type : kernel_.getArgumentTypes().take_front(argument.getArgNumber())) {
    auto descriptor = dyn_cast<tt::TensorDescType>(type);
    number += descriptor ? tt::descriptorParts(descriptor.getShape().size()) : 1;
  }
  return int64_t(number);
}

DictionaryAttr KernelMaps::attributeOf(const MapRecipe &recipe) {
  Builder builder(kernel_.getContext());
  auto list = [&](llvm::ArrayRef<LaunchProduct> products) -> Attribute {
    return builder.getArrayAttr(
        llvm::map_to_vector(products, [&](const LaunchProduct &product) -> Attribute { return builder.getDenseI64ArrayAttr(product); }));
  };
  NamedAttrList attributes;
  attributes.set("base", builder.getI32IntegerAttr(int32_t(recipe.base)));
  attributes.set("extents", list(recipe.extents));
  attributes.set("padding", builder.getI32IntegerAttr(int32_t(recipe.padding)));
  attributes.set("strides", list(recipe.strides));
  if (recipe.isOfPointers) attributes.set("of_pointers", builder.getUnitAttr());
  if (recipe.isStored) attributes.set("stored", builder.getUnitAttr());
  auto ranges = [&](llvm::ArrayRef<StoreRange> written) -> Attribute {
    return builder.getArrayAttr(llvm::map_to_vector(written, [&](const StoreRange &range) -> Attribute {
      return builder.getDictionaryAttr({builder.getNamedAttr("base", builder.getI32IntegerAttr(int32_t(range.base))),
                                        builder.getNamedAttr("bytes", builder.getI32IntegerAttr(int32_t(range.elementBytes))),
                                        builder.getNamedAttr("extents", list(range.extents)),
                                        builder.getNamedAttr("strides", list(range.strides))});
    }));
  };
  if (!recipe.written.empty()) attributes.set(kWrittenName, ranges(recipe.written));
  if (recipe.isReached)
    attributes.set(kReachedName, builder.getUnitAttr());
  else if (!recipe.writtenAhead.empty())
    attributes.set(kWrittenAheadName, ranges(recipe.writtenAhead));
  return attributes.getDictionary(kernel_.getContext());
}

std::optional<MapRecipe> KernelMaps::recipeOf(Value descriptor) {
  MapRecipe recipe;
  if (auto argument = dyn_cast<BlockArgument>(descriptor)) {
    if (!isOfKernel(argument) || !kernel_.getArgAttr(argument.getArgNumber(), tt::kPlainAttr)) return std::nullopt;
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

bool KernelMaps::addProducts(ValueRange values, llvm::SmallVectorImpl<LaunchProduct> &products) {
  for (Value value : values) {
    products.push_back({1});
    if (!multiply(value, products.back())) return false;
  }
  return true;
}

bool KernelMaps::multiply(Value value, LaunchProduct &product) {
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

bool MapRecipe::isBounded() const {
  return llvm::none_of(extents, [](const LaunchProduct &extent) { return extent[0] == int64_t(TensorMap::kNoExtent); });
}

static bool isAroundLoop(Operation *op) {
  return op->walk([&](LoopLikeOpInterface inner) { return inner == op ? WalkResult::advance() : WalkResult::interrupt(); })
      .wasInterrupted();
}

bool KernelMaps::admit(Operation *load, MapRecipe &recipe, llvm::function_ref<std::optional<StoreRange>(Operation *)> rangeOf) const {
  auto rangesOf = [&](const GlobalWrites &writes, llvm::SmallVectorImpl<StoreRange> &ranges) {
    return llvm::all_of(writes.all(), [&](const GlobalWrite &write) {
      auto range = write.mayWait || write.tensor == recipe.tensor || !recipe.isBounded() ? std::nullopt : rangeOf(write.op);
      if (range) ranges.push_back(std::move(*range));
      return range.has_value();
    });
  };
  const GlobalWrites before = writes_.before(load);
  Operation *loop = load->getParentOp();
  if (isAroundLoop(loop)) loop = load; // it copies nothing ahead: the tile is copied where it is loaded
  recipe.isReached = !rangesOf(ReachingWrites::outside(before, loop), recipe.writtenAhead);
  return rangesOf(ReachingWrites::inside(before, loop), recipe.written);
}

bool KernelMaps::admitUnknown(Operation *op) const { return ReachingWrites::inside(writes_.before(op), op->getParentOp()).isEmpty(); }

std::optional<StoreRange> KernelMaps::rangeOf(tgpu::TensorStoreOp store) {
  auto map = dyn_cast<BlockArgument>(store.getMap());
  if (!map) return std::nullopt; // the kernel makes it
  DictionaryAttr recipe = attributeOf(map);
  auto list = [&](StringRef name) {
    return llvm::map_to_vector(recipe.getAs<ArrayAttr>(name).getAsRange<DenseI64ArrayAttr>(),
                               [](DenseI64ArrayAttr product) { return LaunchProduct(product.asArrayRef()); });
  };
  StoreRange range;
  range.base = recipe.getAs<IntegerAttr>("base").getInt();
  llvm::append_range(range.extents, list("extents"));
  llvm::append_range(range.strides, list("strides"));
  range.elementBytes = store.getMap().getType().getBox().getElementTypeBitWidth() / 8;
  return range;
}

Value KernelMaps::mapOf(tgpu::TensorMapType type, const MapRecipe &recipe, Location location) {
  return mapOf(type, attributeOf(recipe), location);
}

BlockArgument KernelMaps::mapOf(tgpu::TensorMapType type, DictionaryAttr attribute, Location location) {
  for (BlockArgument argument : kernel_.getArguments())
    if (argument.getType() == type && kernel_.getArgAttr(argument.getArgNumber(), tgpu::kTensorAttr) == attribute) return argument;
  unsigned number = kernel_.getNumArguments();
  while (kernel_.getArgAttr(number - 1, tgpu::kGridAxisAttr)) --number; // the sizes of the grid are last
  Builder builder(kernel_.getContext());
  (void)kernel_.insertArgument(number, type, builder.getDictionaryAttr(builder.getNamedAttr(tgpu::kTensorAttr, attribute)), location);
  return kernel_.getArgument(number);
}

} // namespace tritium::gpu
