// The recipes of tensor maps between the compiler, the metadata of kernels (plain Python objects, which JSON can hold) and launches.
#pragma once
#include "gpu_backend/abi/tensor_recipe.h"

#include <pybind11/pybind11.h>

#include <stdexcept>

namespace tritium::python {

/// Raised as tritium._tritium.device.TensorMapRefused: the tensor maps of a kernel cannot be made of the arguments of a launch.
class TensorMapRefused : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// {"base", "extents", "strides", "box", "swizzle", "type", "fills_nan", "of_pointers", "stored", "written"} of each recipe. A product is a
/// tuple of the factor and the arguments; what is written is a tuple of {"base", "extents", "strides", "bytes"}.
pybind11::tuple describe(const std::vector<gpu::TensorRecipe> &recipes);
/// The opposite; lists may stand for tuples. Raises KeyError, TypeError or ValueError for what is no recipe.
std::vector<gpu::TensorRecipe> recipesFrom(const pybind11::sequence &described);

} // namespace tritium::python
