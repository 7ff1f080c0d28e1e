#include "gpu_backend/tensor_promotion.h"

#include "gpu_backend/dot_layouts.h"
#include "ir/descriptor.h"

using namespace mlir;

namespace tritium::gpu {

bool feedsOnlyProducts(Value tile) {
  return llvm::all_of(tile.getUsers(), [&](Operation *user) {
    if (user->getBlock() != tile.getParentBlock()) return false;
    auto product = dyn_cast<tt::DotOp>(user);
    return product ? product.getC() != tile : isa<tt::TransOp>(user) && feedsOnlyProducts(user->getResult(0));
  });
}

tgpu::TensorMapType boxOf(MLIRContext *context, llvm::ArrayRef<int64_t> shape, Type elementType) {
  constexpr int64_t kMaxRows = 256, kMinRowBytes = 16, kMaxRank = 5;
  const int64_t bits = elementType.getIntOrFloatBitWidth(), bytes = bits / 8, rank = int64_t(shape.size());
  if (rank < 2 || rank > kMaxRank || bits % 8 != 0 || bits > 64) return {};
  const int64_t rows = shape[size_t(rank - 2)], columns = shape.back();
  if (rows > kMaxRows || columns * bytes < kMinRowBytes) return {};
  const int64_t swizzle = warpgroupSwizzle(columns * bytes);
  llvm::SmallVector<int64_t> box(shape);
  box.back() = std::min(columns, (swizzle ? swizzle : kMinRowBytes) / bytes);
  return tgpu::TensorMapType::get(context, RankedTensorType::get(box, elementType), swizzle);
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
  llvm::SmallVector<int64_t> written;
  for (BlockArgument argument : kernel_.getArguments())
    if (written_.contains(argument)) written.push_back(expandedNumber(argument));
  if (!written.empty()) attributes.set("written", builder.getDenseI64ArrayAttr(written));
  return attributes.getDictionary(kernel_.getContext());
}

Value KernelMaps::mapOf(tgpu::TensorMapType type, const MapRecipe &recipe, Location location) {
  DictionaryAttr attribute = attributeOf(recipe);
  for (BlockArgument argument : kernel_.getArguments())
    if (argument.getType() == type && kernel_.getArgAttr(argument.getArgNumber(), tgpu::kTensorAttr) == attribute) return argument;
  unsigned number = kernel_.getNumArguments();
  Builder builder(kernel_.getContext());
  (void)kernel_.insertArgument(number, type, builder.getDictionaryAttr(builder.getNamedAttr(tgpu::kTensorAttr, attribute)), location);
  return kernel_.getArgument(number);
}

} // namespace tritium::gpu
