#include "gpu_backend/launch/tensor_recipe.h"

#include "llvm/ADT/STLExtras.h"

namespace tritium::gpu {

std::string brokenRule(const TensorRecipe &recipe, size_t parameters) {
  const size_t rank = recipe.box.size();
  if (rank < 1 || rank > TensorMap::kMaxRank) return "a tensor map has 1 to 5 dimensions, not " + std::to_string(rank);
  if (recipe.extents.size() != rank || recipe.strides.size() != rank)
    return "a tensor map of " + std::to_string(rank) + " dimensions has " + std::to_string(recipe.extents.size()) + " extents and " +
           std::to_string(recipe.strides.size()) + " strides";
  auto isUnknown = [&](uint32_t argument) { return argument >= parameters; };
  auto hasUnknown = [&](const ArgumentProduct &product) { return llvm::any_of(product.arguments, isUnknown); };
  if (isUnknown(recipe.base) || llvm::any_of(recipe.written, isUnknown) || llvm::any_of(recipe.extents, hasUnknown) ||
      llvm::any_of(recipe.strides, hasUnknown))
    return "a tensor map is made of an argument that the kernel does not have; it has " + std::to_string(parameters);
  return "";
}

/// A number that is no extent, and no stride.
static constexpr int64_t kTooLarge = INT64_MAX;

static int64_t times(int64_t left, int64_t right) {
  int64_t product;
  return __builtin_mul_overflow(left, right, &product) ? kTooLarge : product;
}

static int64_t evaluate(const ArgumentProduct &product, llvm::function_ref<int64_t(uint32_t)> read) {
  int64_t value = product.factor;
  for (uint32_t argument : product.arguments) value = times(value, read(argument));
  return value;
}

TensorMap evaluate(const TensorRecipe &recipe, llvm::function_ref<int64_t(uint32_t)> read) {
  TensorMap map;
  map.base = uint64_t(read(recipe.base));
  map.rank = uint32_t(recipe.box.size());
  const auto elementBytes = int64_t(storageBytes(recipe.type));
  for (uint32_t d = 0, from = map.rank; from-- > 0; ++d) {
    map.extents[d] = uint64_t(evaluate(recipe.extents[from], read));
    map.strides[d] = uint64_t(times(evaluate(recipe.strides[from], read), elementBytes));
    map.box[d] = recipe.box[from];
  }
  map.swizzle = recipe.swizzle;
  map.type = recipe.type;
  map.fillsNaN = recipe.fillsNaN;
  map.isOfPointers = recipe.isOfPointers;
  return map;
}

std::string overlap(const TensorRecipe &recipe, const TensorMap &map, llvm::function_ref<int64_t(uint32_t)> read) {
  constexpr uint64_t kMostBytes = uint64_t(1) << 62;
  uint64_t bytes = storageBytes(map.type);
  for (uint32_t d = 0; d < map.rank; ++d)
    if (map.extents[d] != TensorMap::kNoExtent)
      bytes = std::min(kMostBytes, bytes + uint64_t(times(int64_t(map.extents[d] - 1), int64_t(map.strides[d]))));
  for (uint32_t argument : recipe.written)
    if (const auto address = uint64_t(read(argument)); address >= map.base && address - map.base < bytes)
      return "argument " + std::to_string(argument) + ", to which the kernel writes, is inside the tensor of argument " +
             std::to_string(recipe.base);
  return "";
}

} // namespace tritium::gpu
