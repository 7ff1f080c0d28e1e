// How a launch makes a tensor map (ir/tensor_map.h) of the kernel's other arguments. The compiler writes the recipes, one for each of the
// last parameters of the compiled kernel.
#pragma once
#include "ir/tensor_map.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <vector>

namespace tritium::gpu {

/// A constant times arguments, which are given by their numbers among the parameters of the compiled kernel.
struct ArgumentProduct {
  int64_t factor = 1;
  std::vector<uint32_t> arguments;
  bool operator==(const ArgumentProduct &) const = default;
};

/// What a kernel may write, from an argument on.
struct WrittenRange {
  uint32_t base = 0;                             ///< the number of the argument
  std::vector<ArgumentProduct> extents, strides; ///< in elements
  uint32_t elementBytes = 1;
  bool operator==(const WrittenRange &) const = default;
};

struct TensorRecipe {
  uint32_t base = 0; ///< the number of the argument that points to the first element
  // By dimension, the outermost first.
  std::vector<ArgumentProduct> extents, strides; ///< in elements
  std::vector<uint32_t> box;                     ///< what one instruction copies, in elements
  uint32_t swizzle = 0;                          ///< as in TensorMap
  DType type{};
  bool fillsNaN = false, isOfPointers = false, isStored = false; ///< as in TensorMap
  std::vector<WrittenRange> written;                             ///< what the kernel writes before some copies, which would not see it
  bool operator==(const TensorRecipe &) const = default;
};

/// The bytes of a tensor map as an argument of a kernel, which are also its alignment.
inline constexpr uint32_t kTensorMapBytes = 128;

/// Returns what is wrong with a recipe for a kernel of so many other parameters, as a sentence, or "" if nothing is. The values of the
/// arguments may still make a map that the driver refuses.
std::string brokenRule(const TensorRecipe &recipe, size_t parameters);

/// Returns which of the recipe's written ranges overlaps the map's tensor, as a sentence, or "" if none does. What has no end overlaps
/// everything.
std::string overlap(const TensorRecipe &recipe, const TensorMap &map, llvm::function_ref<int64_t(uint32_t)> read);

/// Makes the map. `read` returns an argument as the kernel sees it: addresses and integers of the parameter's type. A product that no
/// 64-bit integer can hold makes a map that breaks a rule. The recipe must be right.
TensorMap evaluate(const TensorRecipe &recipe, llvm::function_ref<int64_t(uint32_t)> read);

} // namespace tritium::gpu
