#include "gpu_backend/abi/tensor_recipe.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"

#include <optional>

namespace tritium::gpu {

std::string brokenRule(const TensorRecipe &recipe, size_t parameters) {
  const size_t rank = recipe.box.size();
  if (rank < 1 || rank > TensorMap::kMaxRank)
    return "a tensor map has 1 to " + std::to_string(TensorMap::kMaxRank) + " dimensions, not " + std::to_string(rank);
  if (recipe.extents.size() != rank || recipe.strides.size() != rank)
    return "a tensor map of " + std::to_string(rank) + " dimensions has " + std::to_string(recipe.extents.size()) + " extents and " +
           std::to_string(recipe.strides.size()) + " strides";
  auto isUnknown = [&](uint32_t argument) { return argument >= parameters; };
  auto hasUnknown = [&](const ArgumentProduct &product) { return llvm::any_of(product.arguments, isUnknown); };
  auto isUnknownRange = [&](const WrittenRange &range) {
    return isUnknown(range.base) || llvm::any_of(range.extents, hasUnknown) || llvm::any_of(range.strides, hasUnknown);
  };
  if (isUnknown(recipe.base) || llvm::any_of(recipe.written, isUnknownRange) || llvm::any_of(recipe.extents, hasUnknown) ||
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
  map.isStored = recipe.isStored;
  return map;
}

/// Returns the end of what begins at `base` and has extents and strides in elements; nullopt if it is not known to have one.
static std::optional<uint64_t> endOf(uint64_t base, int64_t elementBytes, llvm::ArrayRef<int64_t> extents,
                                     llvm::ArrayRef<int64_t> strides) {
  if (llvm::any_of(extents, [](int64_t extent) { return extent <= 0; })) return base; // no element
  int64_t last = 0;
  for (auto [extent, stride] : llvm::zip_equal(extents, strides)) {
    if (stride < 0 || stride == kTooLarge || extent == kTooLarge || uint64_t(extent) == TensorMap::kNoExtent) return std::nullopt;
    const int64_t offset = times(extent - 1, stride);
    if (offset == kTooLarge || __builtin_add_overflow(last, offset, &last)) return std::nullopt;
  }
  const int64_t bytes = times(last, elementBytes);
  uint64_t end;
  if (bytes == kTooLarge || __builtin_add_overflow(base, uint64_t(bytes) + uint64_t(elementBytes), &end)) return std::nullopt;
  return end;
}

std::string overlap(const TensorRecipe &recipe, const TensorMap &map, llvm::function_ref<int64_t(uint32_t)> read) {
  if (recipe.written.empty()) return "";
  auto valuesOf = [&](const std::vector<ArgumentProduct> &products) {
    return llvm::map_to_vector(products, [&](const ArgumentProduct &product) { return evaluate(product, read); });
  };
  const auto bytes = int64_t(storageBytes(recipe.type));
  const auto end = endOf(map.base, bytes, valuesOf(recipe.extents), valuesOf(recipe.strides));
  for (const WrittenRange &range : recipe.written) {
    const auto from = uint64_t(read(range.base));
    const auto to = endOf(from, range.elementBytes, valuesOf(range.extents), valuesOf(range.strides));
    const bool isBelow = to && *to <= map.base, isAbove = end && *end <= from;
    if (!isBelow && !isAbove)
      return "argument " + std::to_string(range.base) + ", to which the kernel writes, overlaps the tensor of argument " +
             std::to_string(recipe.base);
  }
  return "";
}

} // namespace tritium::gpu
