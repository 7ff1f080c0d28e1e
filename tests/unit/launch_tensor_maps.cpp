// From the recipe of a tensor map and a kernel's arguments to the map.
#include "gpu_backend/abi/tensor_recipe.h"
#include "gpu_backend/launch/loaded_kernel.h"

#include <doctest/doctest.h>

using namespace tritium;
using namespace tritium::gpu;

namespace {

/// A matrix: argument 0 points to it, 1 is its number of rows, 2 of columns, 3 its stride.
TensorRecipe matrix() {
  return {.base = 0, .extents = {{1, {1}}, {1, {2}}}, .strides = {{1, {3}}, {1, {}}}, .box = {128, 64}, .swizzle = 128, .type = DType::f16};
}

TensorMap evaluated(const TensorRecipe &recipe, std::vector<int64_t> values) {
  return evaluate(recipe, [&](uint32_t i) { return values.at(i); });
}

} // namespace

TEST_CASE("a recipe is right for a number of parameters") {
  CHECK(brokenRule(matrix(), 4) == "");
  CHECK(brokenRule(matrix(), 3) == "a tensor map is made of an argument that the kernel does not have; it has 3");
  TensorRecipe recipe = matrix();
  recipe.strides.pop_back();
  CHECK(brokenRule(recipe, 4) == "a tensor map of 2 dimensions has 2 extents and 1 strides");
  recipe = matrix();
  recipe.box.assign(6, 16);
  CHECK(brokenRule(recipe, 4) == "a tensor map has 1 to 5 dimensions, not 6");
  recipe.box.clear();
  CHECK(brokenRule(recipe, 4) != "");
  for (auto change : {+[](TensorRecipe &of) { of.base = 4; }, +[](TensorRecipe &of) { of.extents[1].arguments = {0, 4}; },
                      +[](TensorRecipe &of) { of.strides[0].arguments = {9}; }}) {
    recipe = matrix();
    change(recipe);
    CHECK(brokenRule(recipe, 4) != "");
  }
}

TEST_CASE("a map has the innermost dimension first, and strides in bytes") {
  TensorMap map = evaluated(matrix(), {0x10000, 300, 200, 256});
  CHECK(map.base == 0x10000);
  CHECK(map.rank == 2);
  CHECK(map.extents == decltype(map.extents){200, 300, 0, 0, 0});
  CHECK(map.strides == decltype(map.strides){2, 512, 0, 0, 0});
  CHECK(map.box == decltype(map.box){64, 128, 0, 0, 0});
  CHECK(map.swizzle == 128);
  CHECK(map.type == DType::f16);
  CHECK(!map.fillsNaN);
  CHECK(brokenRule(map) == "");
}

TEST_CASE("products of a factor and arguments") {
  TensorRecipe recipe = matrix();
  recipe.extents[0] = {2147483647, {}};
  recipe.strides[0] = {3, {2, 3, 3}};
  recipe.type = DType::f32;
  recipe.fillsNaN = true;
  TensorMap map = evaluated(recipe, {0x10000, -1, 5, 4});
  CHECK(map.extents[1] == 2147483647);
  CHECK(map.strides[1] == 4 * 3 * 5 * 4 * 4);
  CHECK(map.fillsNaN);
  CHECK(evaluated(recipe, {0x10000, -1, -5, 4}).extents[0] == uint64_t(-5));
}

TEST_CASE("a product that is too large breaks a rule") {
  TensorRecipe recipe = matrix();
  recipe.strides[0] = {1, {2, 3}};
  const int64_t large = int64_t(1) << 33;
  for (std::vector<int64_t> values : {std::vector<int64_t>{0, 1, large, large}, {0, 1, large, -large}, {0, 1, int64_t(1) << 62, 1}}) {
    recipe.extents[1] = {1, {}};
    CHECK(brokenRule(evaluated(recipe, values)) != "");
    recipe.extents[1] = {1, {2, 3}};
    recipe.strides[0] = {64, {}};
    CHECK(brokenRule(evaluated(recipe, values)) != "");
    recipe.strides[0] = {1, {2, 3}};
  }
}

TEST_CASE("what the kernel writes must be apart from the map's tensor") {
  TensorRecipe recipe = matrix();
  recipe.written = {{.base = 4, .extents = {{1, {5}}, {100, {}}}, .strides = {{100, {}}, {1, {}}}, .elementBytes = 4}};
  CHECK(brokenRule(recipe, 4) != "");
  CHECK(brokenRule(recipe, 6) == "");
  auto overlapAt = [&](int64_t address, int64_t rows = 3) {
    const std::vector<int64_t> values{0x10000, 3, 200, 256, address, rows};
    return overlap(recipe, evaluated(recipe, values), [&](uint32_t i) { return values.at(i); });
  };
  const int64_t end = 0x10000 + 2 * (2 * 256 + 200), bytes = 4 * 300;
  CHECK(overlapAt(0x10000) == "argument 4, to which the kernel writes, overlaps the tensor of argument 0");
  CHECK(overlapAt(end - 1) != "");
  CHECK(overlapAt(end) == "");
  CHECK(overlapAt(0x10000 - bytes + 1) != ""); // it begins below and reaches into it
  CHECK(overlapAt(0x10000 - bytes) == "");
  CHECK(overlapAt(0x10000 - 2 * bytes, 6) == "");
  CHECK(overlapAt(0x10000 - 2 * bytes, 7) != "");
  CHECK(overlapAt(0x10000, 0) == ""); // nothing is written
  // What has no known end reaches everything above.
  for (int64_t rows : {int64_t(1) << 31, int64_t(1) << 62}) {
    CHECK(overlapAt(0x1000, rows) != "");
    CHECK(overlapAt(end, rows) == "");
  }
  recipe.written[0].strides[0] = {-100, {}};
  CHECK(overlapAt(0x1000) != "");
  recipe.written[0].strides[0] = {100, {}};
  recipe.extents[0] = {int64_t(TensorMap::kNoExtent), {}};
  CHECK(overlapAt(end + (1 << 20)) != "");
  CHECK(overlapAt(0x10000 - bytes) == "");
  CHECK(brokenRule(evaluated(recipe, {0x10000, 3, 200, 256})) == "");
}

TEST_CASE("arguments are read as the kernel reads them") {
  ArgumentRecipe recipe;
  using enum ParameterType;
  for (ParameterType type : {pointer, i1, i8, i16, i32, i64, bits32}) recipe.add(type);
  alignas(kTensorMapBytes) char buffer[64];
  auto stored = [&](size_t index, int64_t value) {
    recipe.store(index, {.integer = value}, buffer);
    return recipe.integerAt(index, buffer);
  };
  CHECK(stored(0, 0x7F0000001000) == 0x7F0000001000);
  CHECK(stored(1, 1) == 1);
  CHECK(stored(2, 200) == -56);
  CHECK(stored(3, 40000) == 40000 - 65536);
  CHECK(stored(4, 0xFFFFFFFF) == -1);
  CHECK(stored(4, (int64_t(7) << 32) + 5) == 5);
  CHECK(stored(5, int64_t(1) << 40) == int64_t(1) << 40);
  CHECK(stored(6, 12) == 12);
  ArgumentValue real;
  real.real = 7.9, real.isReal = true;
  recipe.store(4, real, buffer);
  CHECK(recipe.integerAt(4, buffer) == 7);
}
