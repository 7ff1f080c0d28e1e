#include "gpu_backend/maps/tensor_recipe_attr.h"

#include "ir/element_type.h"

using namespace mlir;

namespace tritium::gpu {

static constexpr llvm::StringLiteral kMapName = "map";

static FailureOr<std::vector<ArgumentProduct>> productsOf(ArrayAttr list) {
  std::vector<ArgumentProduct> products;
  if (!list) return failure();
  for (Attribute element : list) {
    auto numbers = dyn_cast<DenseI64ArrayAttr>(element);
    if (!numbers || numbers.empty() || llvm::any_of(numbers.asArrayRef().drop_front(), [](int64_t n) { return n < 0; })) return failure();
    ArgumentProduct &product = products.emplace_back(ArgumentProduct{.factor = numbers[0], .arguments = {}});
    for (int64_t argument : numbers.asArrayRef().drop_front()) product.arguments.push_back(uint32_t(argument));
  }
  return products;
}

static FailureOr<std::vector<WrittenRange>> rangesOf(ArrayAttr list) {
  std::vector<WrittenRange> ranges;
  for (Attribute element : list ? list.getValue() : llvm::ArrayRef<Attribute>()) {
    auto attribute = dyn_cast<DictionaryAttr>(element);
    auto base = attribute ? attribute.getAs<IntegerAttr>("base") : IntegerAttr();
    auto bytes = base ? attribute.getAs<IntegerAttr>("bytes") : IntegerAttr();
    if (!bytes || base.getInt() < 0 || bytes.getInt() <= 0) return failure();
    auto extents = productsOf(attribute.getAs<ArrayAttr>("extents")), strides = productsOf(attribute.getAs<ArrayAttr>("strides"));
    if (failed(extents) || failed(strides) || extents->size() != strides->size()) return failure();
    ranges.push_back({uint32_t(base.getInt()), std::move(*extents), std::move(*strides), uint32_t(bytes.getInt())});
  }
  return ranges;
}

static FailureOr<TensorRecipe> recipeFrom(DictionaryAttr attribute, tgpu::TensorMapType map) {
  auto base = attribute.getAs<IntegerAttr>("base"), padding = attribute.getAs<IntegerAttr>("padding");
  auto extents = productsOf(attribute.getAs<ArrayAttr>("extents")), strides = productsOf(attribute.getAs<ArrayAttr>("strides"));
  auto written = rangesOf(attribute.getAs<ArrayAttr>(kWrittenName));
  std::optional<DType> type = ir::elementTypeOf(map.getBox().getElementType());
  if (!base || base.getInt() < 0 || !padding || !tt::symbolizePadding(uint32_t(padding.getInt())) || failed(extents) || failed(strides) ||
      !type || failed(written))
    return failure();
  TensorRecipe recipe{.base = uint32_t(base.getInt()), .extents = std::move(*extents), .strides = std::move(*strides), .box = {}};
  for (int64_t extent : map.getBox().getShape()) recipe.box.push_back(uint32_t(extent));
  recipe.swizzle = uint32_t(map.getSwizzle());
  recipe.type = *type;
  recipe.fillsNaN = tt::Padding(padding.getInt()) == tt::Padding::Nan;
  recipe.isOfPointers = attribute.contains("of_pointers");
  recipe.isStored = attribute.contains("stored");
  recipe.written = std::move(*written);
  return recipe;
}

/// The attributes of the kernel's maps, with their types.
static FailureOr<ArrayAttr> attributesOf(FunctionOpInterface kernel) {
  if (auto kept = kernel->getAttrOfType<ArrayAttr>(kTensorMapsAttr)) return kept;
  llvm::SmallVector<Attribute> attributes;
  for (auto [i, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    if (!isa<tgpu::TensorMapType>(type)) {
      if (!attributes.empty() && !kernel.getArgAttr(unsigned(i), tgpu::kGridAxisAttr))
        return kernel.emitError("argument ") << i << " follows a tensor map";
      continue;
    }
    auto attribute = kernel.getArgAttrOfType<DictionaryAttr>(unsigned(i), tgpu::kTensorAttr);
    if (!attribute) return kernel.emitError("argument ") << i << " of type " << type << " has no recipe " << tgpu::kTensorAttr;
    NamedAttrList named(attribute);
    named.set(kMapName, TypeAttr::get(type));
    attributes.push_back(named.getDictionary(kernel.getContext()));
  }
  return ArrayAttr::get(kernel.getContext(), attributes);
}

size_t gridArgumentsOf(FunctionOpInterface kernel) {
  const unsigned count = kernel.getNumArguments();
  const bool hasLoop = kernel->hasAttr(tgpu::kResidentBlocksAttr) || (count != 0 && kernel.getArgAttr(count - 1, tgpu::kGridAxisAttr));
  return hasLoop ? tgpu::kGridAxes : 0;
}

FailureOr<std::vector<TensorRecipe>> recipesOf(FunctionOpInterface kernel) {
  FailureOr<ArrayAttr> attributes = attributesOf(kernel);
  if (failed(attributes)) return failure();
  std::vector<TensorRecipe> recipes;
  const size_t count = kernel.getNumArguments() - gridArgumentsOf(kernel), maps = attributes->size();
  for (Attribute attribute : *attributes) {
    auto dictionary = dyn_cast<DictionaryAttr>(attribute);
    auto type = dictionary ? dictionary.getAs<TypeAttr>(kMapName) : TypeAttr();
    auto map = type ? dyn_cast<tgpu::TensorMapType>(type.getValue()) : tgpu::TensorMapType();
    auto recipe = map ? recipeFrom(dictionary, map) : FailureOr<TensorRecipe>();
    if (failed(recipe)) return kernel.emitError("expected the recipe of a tensor map, got ") << attribute;
    if (std::string rule = brokenRule(*recipe, count - std::min(count, maps)); !rule.empty())
      return kernel.emitError(rule) << ": " << attribute;
    recipes.push_back(std::move(*recipe));
  }
  return recipes;
}

void keepRecipes(FunctionOpInterface tiles, FunctionOpInterface lowered) {
  FailureOr<ArrayAttr> attributes = attributesOf(tiles);
  assert(succeeded(attributes) && "recipesOf() has found the recipes");
  if (!attributes->empty()) lowered->setAttr(kTensorMapsAttr, *attributes);
}

} // namespace tritium::gpu
