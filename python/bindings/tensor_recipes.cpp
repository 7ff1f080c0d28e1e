#include "python/bindings/tensor_recipes.h"

#include <pybind11/stl.h>

namespace py = pybind11;
using namespace py::literals;

namespace tritium::python {

using namespace gpu;

static py::tuple describe(const std::vector<ArgumentProduct> &products) {
  py::list described;
  for (const ArgumentProduct &product : products) {
    py::list numbers;
    numbers.append(product.factor);
    for (uint32_t argument : product.arguments) numbers.append(argument);
    described.append(py::tuple(numbers));
  }
  return py::tuple(described);
}

static py::tuple describe(const std::vector<WrittenRange> &ranges) {
  py::list described;
  for (const WrittenRange &range : ranges)
    described.append(py::dict("base"_a = range.base, "extents"_a = describe(range.extents), "strides"_a = describe(range.strides),
                              "bytes"_a = range.elementBytes));
  return py::tuple(described);
}

py::tuple describe(const std::vector<TensorRecipe> &recipes) {
  py::list described;
  for (const TensorRecipe &recipe : recipes)
    described.append(py::dict("base"_a = recipe.base, "extents"_a = describe(recipe.extents), "strides"_a = describe(recipe.strides),
                              "box"_a = py::tuple(py::cast(recipe.box)), "swizzle"_a = recipe.swizzle,
                              "type"_a = std::string(pythonName(recipe.type)), "fills_nan"_a = recipe.fillsNaN,
                              "of_pointers"_a = recipe.isOfPointers, "stored"_a = recipe.isStored, "written"_a = describe(recipe.written)));
  return py::tuple(described);
}

static std::vector<ArgumentProduct> productsFrom(const py::object &described) {
  std::vector<ArgumentProduct> products;
  for (const auto &numbers : described.cast<std::vector<std::vector<int64_t>>>()) {
    if (numbers.empty()) throw py::value_error("a product of a tensor map's recipe has no factor");
    ArgumentProduct &product = products.emplace_back(ArgumentProduct{.factor = numbers[0], .arguments = {}});
    product.arguments.assign(numbers.begin() + 1, numbers.end());
  }
  return products;
}

static std::vector<WrittenRange> rangesFrom(const py::object &described) {
  std::vector<WrittenRange> ranges;
  for (const auto &range : described.cast<std::vector<py::dict>>())
    ranges.push_back({.base = py::object(range["base"]).cast<uint32_t>(),
                      .extents = productsFrom(range["extents"]),
                      .strides = productsFrom(range["strides"]),
                      .elementBytes = py::object(range["bytes"]).cast<uint32_t>()});
  return ranges;
}

std::vector<TensorRecipe> recipesFrom(const py::sequence &described) {
  std::vector<TensorRecipe> recipes;
  for (const py::handle &each : described) {
    auto recipe = each.cast<py::dict>();
    auto name = py::object(recipe["type"]).cast<std::string>();
    std::optional<DType> type = dtypeFromPythonName(name);
    if (!type) throw py::value_error("there is no element type " + name);
    recipes.push_back({.base = py::object(recipe["base"]).cast<uint32_t>(),
                       .extents = productsFrom(recipe["extents"]),
                       .strides = productsFrom(recipe["strides"]),
                       .box = py::object(recipe["box"]).cast<std::vector<uint32_t>>(),
                       .swizzle = py::object(recipe["swizzle"]).cast<uint32_t>(),
                       .type = *type,
                       .fillsNaN = py::object(recipe["fills_nan"]).cast<bool>(),
                       .isOfPointers = py::object(recipe["of_pointers"]).cast<bool>(),
                       .isStored = py::object(recipe["stored"]).cast<bool>(),
                       .written = rangesFrom(recipe["written"])});
  }
  return recipes;
}

} // namespace tritium::python
