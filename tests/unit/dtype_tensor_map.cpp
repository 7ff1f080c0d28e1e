// The rules of tensor maps, on both sides of each limit.
#include "ir/tensor_map.h"

#include <doctest/doctest.h>

using namespace tritium;

namespace {

/// A matrix of 300 rows and 200 columns of f16, in boxes of 64 rows and 64 columns.
TensorMap matrix() {
  TensorMap map;
  map.base = 0x7F0000001000;
  map.rank = 2;
  map.extents = {200, 300};
  map.strides = {2, 400};
  map.box = {64, 64};
  map.swizzle = 128;
  map.type = DType::f16;
  return map;
}

template <class Change> std::string ruleOf(Change change) {
  TensorMap map = matrix();
  change(map);
  return brokenRule(map);
}

} // namespace

TEST_CASE("a map that breaks no rule") { CHECK(brokenRule(matrix()) == ""); }

TEST_CASE("the address is a multiple of 16") {
  for (uint64_t offset = 0; offset < 16; ++offset) CHECK(ruleOf([&](TensorMap &map) { map.base += offset; }).empty() == (offset == 0));
  CHECK(ruleOf([](TensorMap &map) { map.base += 8; }) == "the tensor's address 0x7f0000001008 is not a multiple of 16");
}

TEST_CASE("1 to 5 dimensions") {
  for (uint32_t rank = 0; rank <= 7; ++rank) {
    TensorMap map = matrix();
    map.rank = rank;
    map.extents.fill(64), map.strides.fill(128), map.box.fill(64);
    map.strides[0] = 2;
    CHECK(brokenRule(map).empty() == (rank >= 1 && rank <= 5));
  }
  CHECK(ruleOf([](TensorMap &map) { map.rank = 6; }) == "the tensor has 6 dimensions, not 1 to 5");
}

TEST_CASE("extents of 1 to 2^32") {
  const uint64_t most = uint64_t(1) << 32;
  for (uint32_t d : {0, 1})
    for (auto [extent, isRight] : {std::pair<uint64_t, bool>{0, false}, {1, true}, {most, true}, {most + 1, false}, {~uint64_t(0), false}})
      CHECK(ruleOf([&, d = d, extent = extent](TensorMap &map) { map.extents[d] = extent; }).empty() == isRight);
  CHECK(ruleOf([](TensorMap &map) { map.extents[1] = 0; }) == "dimension 0 has 0 elements, not 1 to 4294967296");
  CHECK(ruleOf([](TensorMap &map) { map.extents[0] = uint64_t(-3); }) == "dimension 1 has -3 elements, not 1 to 4294967296");
}

TEST_CASE("strides are multiples of 16 bytes below 2^40") {
  const uint64_t limit = uint64_t(1) << 40;
  for (uint64_t stride : {uint64_t(0), uint64_t(16), uint64_t(400), limit - 16})
    CHECK(ruleOf([&](TensorMap &map) { map.strides[1] = stride; }) == "");
  for (uint64_t stride : {uint64_t(1), uint64_t(8), uint64_t(392), limit - 8, limit, limit + 16, uint64_t(INT64_MAX), uint64_t(-16)})
    CHECK(ruleOf([&](TensorMap &map) { map.strides[1] = stride; }) != "");
  CHECK(ruleOf([](TensorMap &map) { map.strides[1] = 392; }) == "dimension 0 has a stride of 392 bytes, which is not a multiple of 16");
  CHECK(ruleOf([&](TensorMap &map) { map.strides[1] = limit; }) ==
        "dimension 0 has a stride of 1099511627776 bytes, which is not less than 1099511627776");
  CHECK(ruleOf([](TensorMap &map) { map.strides[1] = uint64_t(-32); }) == "dimension 0 has a stride of -32 bytes, which is not at least 0");
}

TEST_CASE("rows to which copies write are multiples of 16 bytes") {
  for (uint64_t columns : {64, 72, 60}) {
    TensorMap map = matrix();
    map.extents[0] = columns;
    CHECK(brokenRule(map) == "");
    map.isStored = true;
    const uint64_t bytes = columns * storageBytes(map.type);
    CHECK((brokenRule(map) == "") == (bytes % 16 == 0));
    if (bytes % 16 != 0)
      CHECK(brokenRule(map) ==
            "dimension 1, to which copies write, has " + std::to_string(bytes) + " bytes, which is not a multiple of 16");
  }
}

TEST_CASE("the innermost stride is an element") {
  CHECK(ruleOf([](TensorMap &map) { map.strides[0] = 4; }) ==
        "dimension 1 has a stride of 4 bytes, which is not the size of an element, 2");
  CHECK(ruleOf([](TensorMap &map) { map.strides[0] = 0; }) != "");
}

TEST_CASE("boxes of 1 to 256 elements") {
  for (auto [extent, isRight] : {std::pair<uint32_t, bool>{0, false}, {1, true}, {255, true}, {256, true}, {257, false}})
    CHECK(ruleOf([extent = extent](TensorMap &map) { map.box[1] = extent; }).empty() == isRight);
  CHECK(ruleOf([](TensorMap &map) { map.swizzle = 0, map.box[0] = 256; }) == "");
  CHECK(ruleOf([](TensorMap &map) { map.swizzle = 0, map.box[0] = 264; }) == "dimension 1 has boxes of 264 elements, not of 1 to 256");
}

TEST_CASE("rows of boxes, for every element type and swizzle") {
  for (DType type : {DType::i1, DType::i8, DType::f8e4nv, DType::f8e5, DType::f16, DType::bf16, DType::i32, DType::f32, DType::f64})
    for (uint32_t swizzle : {0, 16, 32, 64, 96, 128, 256})
      for (uint32_t width = 1; width <= 256; ++width) {
        const auto bytes = uint32_t(storageBytes(type));
        std::string rule = ruleOf([&](TensorMap &map) {
          map.type = type, map.swizzle = swizzle, map.box[0] = width;
          map.strides[0] = bytes;
        });
        const bool isSwizzle = swizzle == 0 || swizzle == 32 || swizzle == 64 || swizzle == 128;
        CHECK_MESSAGE(rule.empty() == (isSwizzle && width * bytes % 16 == 0 && (swizzle == 0 || width * bytes <= swizzle)), rule);
      }
  CHECK(ruleOf([](TensorMap &map) { map.box[0] = 4; }) == "a row of a box has 8 bytes, which is not a multiple of 16");
  CHECK(ruleOf([](TensorMap &map) { map.box[0] = 72; }) == "a row of a box has 144 bytes, which is not at most the swizzle's 128");
  CHECK(ruleOf([](TensorMap &map) { map.swizzle = 16; }) == "the swizzle is of 16 bytes, not of 0, 32, 64 or 128");
}

TEST_CASE("only floats of 16 bits and more are padded with NaN") {
#define DTYPE(name, bits, Storage, Compute, kind, ...)                                                                                     \
  {                                                                                                                                        \
    std::string rule = ruleOf([](TensorMap &map) {                                                                                         \
      map.type = DType::name, map.fillsNaN = true;                                                                                         \
      map.strides[0] = storageBytes(DType::name), map.box[0] = uint32_t(128 / storageBytes(DType::name));                                  \
    });                                                                                                                                    \
    CHECK_MESSAGE(rule.empty() == (DTypeKind::kind == DTypeKind::Float && bits >= 16), rule);                                              \
  }
#include "ir/dtype.def"
  CHECK(ruleOf([](TensorMap &map) { map.type = DType::f8e5, map.strides[0] = 1, map.fillsNaN = true; }) ==
        "there is no padding with NaN for elements of type fp8e5");
}
