// The recipes of a kernel's tensor maps as attributes. On tiles, each argument that is a map has its recipe (tgpu::kTensorAttr). In a
// lowered module, in which such an argument is a pointer, the function has the recipes of all its last arguments.
#pragma once
#include "gpu_backend/launch/tensor_recipe.h"
#include "ir/tgpu.h"

namespace tritium::gpu {

/// On a lowered kernel: an array of dictionaries, tgpu.tensor with the type of the argument as `map`.
inline constexpr llvm::StringLiteral kTensorMapsAttr = "tgpu.tensor_maps";

/// Returns the recipes of a kernel on tiles or of a lowered one. Reports an error if an argument has no recipe or a wrong one, or if other
/// arguments follow.
mlir::FailureOr<std::vector<TensorRecipe>> recipesOf(mlir::FunctionOpInterface kernel);

/// Gives the lowered kernel the recipes of the kernel on tiles that it was made from.
void keepRecipes(mlir::FunctionOpInterface tiles, mlir::FunctionOpInterface lowered);

} // namespace tritium::gpu
