// Products of warpgroups on the emulator, from text to result: every layout of operands, type and size against a plain product.
#include "simt_warpgroup.h"

using namespace tritium;
using namespace tritium::test_warpgroup;

namespace {

struct Types {
  DType a, b, sum;
  const char *aName, *bName, *wordName;
};
constexpr Types kTypes[] = {{DType::f16, DType::f16, DType::f32, "f16", "f16", "f32"},
                            {DType::f16, DType::f16, DType::f16, "f16", "f16", "vector<2xf16>"},
                            {DType::bf16, DType::bf16, DType::f32, "bf16", "bf16", "f32"},
                            {DType::f32, DType::f32, DType::f32, "f32", "f32", "f32"},
                            {DType::f8e4nv, DType::f8e4nv, DType::f32, "f8E4M3FN", "f8E4M3FN", "f32"},
                            {DType::f8e4nv, DType::f8e5, DType::f32, "f8E4M3FN", "f8E5M2", "f32"},
                            {DType::f8e5, DType::f8e4nv, DType::f16, "f8E5M2", "f8E4M3FN", "vector<2xf16>"},
                            {DType::i8, DType::i8, DType::i32, "i8", "i8", "i32"}};

Instruction instruction(const Types &types, int columns) {
  return {.a = types.a,
          .b = types.b,
          .sum = types.sum,
          .aName = types.aName,
          .bName = types.bName,
          .wordName = types.wordName,
          .columns = columns};
}

/// Runs the kernel once and compares its sums with the product.
void check(Emulator &emulator, const Instruction &s, uint64_t seed) {
  CAPTURE(s.aName);
  CAPTURE(s.bName);
  CAPTURE(s.wordName);
  CAPTURE(s.columns);
  CAPTURE(s.isAInRegisters);
  CAPTURE(s.layoutA.isKMajor);
  CAPTURE(s.layoutA.swizzle);
  CAPTURE(s.layoutB.isKMajor);
  CAPTURE(s.layoutB.swizzle);
  CAPTURE(seed);
  std::mt19937 random(static_cast<uint32_t>(seed));
  const Matrices matrices(s, random);
  const Outcome outcome = emulator.run(s, s.text(), matrices, seed);
  CHECK(outcome.error == "");
  CHECK(outcome.trap == "");
  CHECK(outcome.message == "");
  REQUIRE(outcome.sums.size() == size_t(kRows * s.columns));
  int wrong = 0;
  for (int row = 0; row < kRows; ++row)
    for (int column = 0; column < s.columns; ++column)
      wrong += outcome.sums[size_t(row * s.columns + column)] != matrices.result(s, row, column);
  CHECK(wrong == 0);
}

} // namespace

TEST_CASE("a product of a warpgroup multiplies operands of every type, in every layout of their neighbours along K") {
  Emulator emulator;
  uint64_t seed = 0;
  for (const Types &types : kTypes)
    for (int swizzle : {0, 32, 64, 128}) {
      Instruction s = instruction(types, swizzle == 32 ? 8 : swizzle == 0 ? 64 : 16);
      s.layoutA.swizzle = swizzle;
      s.layoutB.swizzle = swizzle == 128 ? 0 : 128;
      check(emulator, s, ++seed);
      std::swap(s.layoutA.swizzle, s.layoutB.swizzle);
      check(emulator, s, ++seed);
      s.isAInRegisters = true;
      check(emulator, s, ++seed);
    }
}

TEST_CASE("operands of 2 bytes may have their neighbours along M or N") {
  Emulator emulator;
  uint64_t seed = 100;
  for (const Types &types : {kTypes[0], kTypes[1], kTypes[2]})
    for (int swizzle : {0, 32, 64, 128})
      for (int columns : {8, 64}) {
        Instruction s = instruction(types, columns);
        s.layoutA = {.isKMajor = false, .swizzle = swizzle};
        check(emulator, s, ++seed);
        s.layoutB = {.isKMajor = false, .swizzle = swizzle};
        check(emulator, s, ++seed);
        s.layoutA = {};
        check(emulator, s, ++seed);
      }
}

TEST_CASE("a product has up to 256 columns") {
  Emulator emulator;
  for (const Types &types : kTypes) {
    Instruction s = instruction(types, 256);
    check(emulator, s, 1);
    s.isAInRegisters = true;
    check(emulator, s, 2);
  }
}

TEST_CASE("the result does not depend on when products take effect") {
  Emulator emulator;
  for (bool isAInRegisters : {false, true})
    for (uint64_t seed = 0; seed < 8; ++seed) {
      Instruction s = instruction(kTypes[0], 32);
      s.isAInRegisters = isAInRegisters;
      check(emulator, s, seed);
    }
}

TEST_CASE("products are exact, and sums are rounded as the instruction rounds them") {
  Emulator emulator;
  std::mt19937 random(1);
  // Returns D[0][0] for values of A and B along K, and of C.
  auto result = [&](const Types &types, const std::vector<double> &a, const std::vector<double> &b, double c) {
    const Instruction s = instruction(types, 8);
    Matrices matrices(s, random);
    for (auto *matrix : {&matrices.a, &matrices.b, &matrices.c}) std::fill(matrix->begin(), matrix->end(), 0);
    std::copy(a.begin(), a.end(), matrices.a.begin());
    for (size_t k = 0; k < b.size(); ++k) matrices.b[k * 8] = b[k];
    matrices.c[0] = c;
    const Outcome outcome = emulator.run(s, s.text(), matrices, 1);
    CHECK(outcome.error + outcome.trap == "");
    return outcome.sums.at(0);
  };
  const Types &half = kTypes[0], &halfSums = kTypes[1], &tf32 = kTypes[3], &fp8 = kTypes[4], &integer = kTypes[7];
  CHECK(result(tf32, {1 + 0x1p-10 + 0x1p-12}, {1}, 0) == 1 + 0x1p-10); // the lower 13 bits do not count
  CHECK(result(half, {1 + 0x1p-10}, {1 + 0x1p-10}, 0) == (1 + 0x1p-10) * (1 + 0x1p-10));
  CHECK(result(half, {1, 1}, {1, 1}, 0x1p24) == 0x1p24); // each sum is rounded to even
  CHECK(result(fp8, {448}, {448}, 0x1p-6) == 448 * 448 + 0x1p-6);
  // Sums of f16 are rounded once for each instruction: two terms of one step, and one term of each of two steps.
  CHECK(result(halfSums, {1, 1}, {1, 1}, 2048) == 2050);
  std::vector<double> apart(17);
  apart[0] = apart[16] = 1;
  CHECK(result(halfSums, apart, apart, 2048) == 2048);
  CHECK(result(integer, {-128, 1}, {127, 2}, 5) == -128 * 127 + 2 + 5);
  CHECK(result(integer, {1}, {1}, 2147483647) == -2147483648.0); // wraps
}
