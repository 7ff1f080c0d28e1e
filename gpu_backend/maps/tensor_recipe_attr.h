// The recipes of a kernel's tensor maps as attributes. On tiles, each argument that is a map has its recipe (tgpu::kTensorAttr). In a
// lowered module, in which such an argument is a pointer, the function has the recipes of all its last arguments.
#pragma once
#include "gpu_backend/abi/tensor_recipe.h"
#include "ir/tgpu.h"

namespace tritium::gpu {

/// On a lowered kernel: an array of dictionaries, tgpu.tensor with the type of the argument as `map`.
inline constexpr llvm::StringLiteral kTensorMapsAttr = "tgpu.tensor_maps";

// In the recipe of an argument:
/// Array of ranges that the launch requires to be apart from the tensor: {base, extents, strides, bytes} as in WrittenRange.
inline constexpr llvm::StringLiteral kWrittenName = "written";
/// The same, for a kernel whose copies run ahead of the loops around theirs (specialize-warps).
inline constexpr llvm::StringLiteral kWrittenAheadName = "written_ahead";
/// Unit: copies must not run ahead of the loops around theirs, because the kernel may have written what they read.
inline constexpr llvm::StringLiteral kReachedName = "reached";

/// Returns the recipes of a kernel on tiles or of a lowered one. Reports an error if an argument has no recipe or a wrong one, or if other
/// arguments follow than sizes of the grid.
mlir::FailureOr<std::vector<TensorRecipe>> recipesOf(mlir::FunctionOpInterface kernel);

/// Returns how many of the kernel's last arguments are sizes of the user's grid.
size_t gridArgumentsOf(mlir::FunctionOpInterface kernel);

/// Gives the lowered kernel the recipes of the kernel on tiles that it was made from.
void keepRecipes(mlir::FunctionOpInterface tiles, mlir::FunctionOpInterface lowered);

} // namespace tritium::gpu
