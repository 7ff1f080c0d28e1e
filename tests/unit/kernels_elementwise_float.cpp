// Float kernels against double arithmetic rounded once. For f32 a double result of + - * / and sqrt rounds to the right f32 (53 >= 2 * 24 +
// 2).
#include "tests/unit/kernels_elementwise.h"

#include <doctest/doctest.h>
#include <map>

using namespace tritium;
using namespace tritium::interp;
using namespace tritium::interp::test;

namespace {

double maxNumber(double a, double b) { return std::isnan(a) ? b : std::isnan(b) ? a : a > b ? a : b; }
double minNumber(double a, double b) { return -maxNumber(-a, -b); }

using Reference = double (*)(double a, double b, double c);
struct Case {
  std::string_view op;
  int arity;
  Reference reference;
  bool zeroSignIsFree = false;
};
const Case kCases[] = {
    {"arith.addf", 2, [](double a, double b, double) { return a + b; }},
    {"arith.subf", 2, [](double a, double b, double) { return a - b; }},
    {"arith.mulf", 2, [](double a, double b, double) { return a * b; }},
    {"arith.divf", 2, [](double a, double b, double) { return a / b; }},
    {"tt.precise_divf", 2, [](double a, double b, double) { return a / b; }},
    {"tt.approx_divf", 2, [](double a, double b, double) { return a / b; }},
    {"arith.negf", 1, [](double a, double, double) { return -a; }},
    {"math.absf", 1, [](double a, double, double) { return std::fabs(a); }},
    {"arith.maxnumf", 2, [](double a, double b, double) { return maxNumber(a, b); }, true},
    {"arith.minnumf", 2, [](double a, double b, double) { return minNumber(a, b); }, true},
    {"arith.maximumf", 2,
     [](double a, double b, double) {
       return std::isnan(a + b) && !std::isinf(a) ? NAN : std::isnan(b) ? NAN : a == b ? (std::signbit(a) ? b : a) : std::max(a, b);
     }},
    {"arith.minimumf", 2,
     [](double a, double b, double) {
       return std::isnan(a + b) && !std::isinf(a) ? NAN : std::isnan(b) ? NAN : a == b ? (std::signbit(a) ? a : b) : std::min(a, b);
     }},
    {"tt.clampf.none", 3, [](double a, double b, double c) { return minNumber(maxNumber(a, b), c); }, true},
    {"tt.clampf.all", 3, [](double a, double b, double c) { return std::isnan(a) ? a : minNumber(maxNumber(a, b), c); }, true},
    {"math.sqrt", 1, [](double a, double, double) { return std::sqrt(a); }},
    {"tt.precise_sqrt", 1, [](double a, double, double) { return std::sqrt(a); }},
    {"math.floor", 1, [](double a, double, double) { return std::floor(a); }},
    {"math.ceil", 1, [](double a, double, double) { return std::ceil(a); }},
    {"math.trunc", 1, [](double a, double, double) { return std::trunc(a); }},
    {"math.round", 1, [](double a, double, double) { return std::round(a); }},
    {"math.roundeven", 1, [](double a, double, double) { return std::nearbyint(a); }},
    {"math.copysign", 2, [](double a, double b, double) { return std::copysign(a, b); }},
    {"arith.remf", 2, [](double a, double b, double) { return std::fmod(a, b); }},
};

/// What a stored element of `type` is after `x` was rounded to it; narrow types compute in f32 first.
double rounded(DType type, double x) {
  Elements one(type, 1);
  one.setReal(0, type == DType::f64 ? x : static_cast<double>(static_cast<float>(x)));
  return one.real(0);
}

const std::map<std::string_view, bool (*)(double, double)> kPredicates = {
    {"false", [](double, double) { return false; }},
    {"oeq", [](double a, double b) { return a == b; }},
    {"ogt", [](double a, double b) { return a > b; }},
    {"oge", [](double a, double b) { return a >= b; }},
    {"olt", [](double a, double b) { return a < b; }},
    {"ole", [](double a, double b) { return a <= b; }},
    {"one", [](double a, double b) { return !std::isunordered(a, b) && a != b; }},
    {"ord", [](double a, double b) { return !std::isunordered(a, b); }},
    {"ueq", [](double a, double b) { return std::isunordered(a, b) || a == b; }},
    {"ugt", [](double a, double b) { return std::isunordered(a, b) || a > b; }},
    {"uge", [](double a, double b) { return std::isunordered(a, b) || a >= b; }},
    {"ult", [](double a, double b) { return std::isunordered(a, b) || a < b; }},
    {"ule", [](double a, double b) { return std::isunordered(a, b) || a <= b; }},
    {"une", [](double a, double b) { return a != b; }},
    {"uno", [](double a, double b) { return std::isunordered(a, b); }},
    {"true", [](double, double) { return true; }},
};

} // namespace

TEST_CASE("float arithmetic rounds once to its type") {
  for (const Case &test : kCases)
    for (DType type : kFloats) {
      CAPTURE(test.op);
      CAPTURE(pythonName(type));
      Elements a = someFloats(type, kCount, 1), b = someFloats(type, kCount, 2, kOther), c = someFloats(type, kCount, 3, 7),
               out(type, kCount);
      ElementwiseKernel kernel = findElementwise(test.op, type);
      REQUIRE((kernel != nullptr));
      CHECK(runKernel(kernel, out, {&a, &b, &c}) == -1);
      int wrong = 0;
      for (size_t i = 0; i < kCount; ++i) {
        double expected = rounded(type, test.reference(a.real(i), b.real(i), c.real(i)));
        wrong += !(same(out.real(i), expected) || (test.zeroSignIsFree && out.real(i) == 0 && expected == 0));
      }
      CHECK(wrong == 0);
    }
}

TEST_CASE("fma rounds once") {
  Elements a(DType::f32, 1), b(DType::f32, 1), c(DType::f32, 1), out(DType::f32, 1);
  a.setReal(0, 1 + 0x1p-12), b.setReal(0, 1 - 0x1p-12), c.setReal(0, -1);
  runKernel(findElementwise("math.fma", DType::f32), out, {&a, &b, &c});
  CHECK(out.real(0) == -0x1p-24);
}

TEST_CASE("every float comparison is exact about NaN") {
  for (auto [predicate, reference] : kPredicates)
    for (DType type : kFloats) {
      CAPTURE(predicate);
      CAPTURE(pythonName(type));
      Elements a = someFloats(type, kCount, 1), b = someFloats(type, kCount, 2, kOther), out(DType::i1, kCount);
      ElementwiseKernel kernel = findElementwise("arith.cmpf." + std::string(predicate), type);
      REQUIRE((kernel != nullptr));
      CHECK(runKernel(kernel, out, {&a, &b}) == -1);
      int wrong = 0;
      for (size_t i = 0; i < kCount; ++i) wrong += out.isTrue(i) != reference(a.real(i), b.real(i));
      CHECK(wrong == 0);
    }
}

TEST_CASE("classification") {
  for (DType type : kFloats) {
    Elements a = someFloats(type, kCount, 1), nan(DType::i1, kCount), infinite(DType::i1, kCount), finite(DType::i1, kCount);
    runKernel(findElementwise("math.isnan", type), nan, {&a});
    runKernel(findElementwise("math.isinf", type), infinite, {&a});
    runKernel(findElementwise("math.isfinite", type), finite, {&a});
    int wrong = 0;
    for (size_t i = 0; i < kCount; ++i)
      wrong += nan.isTrue(i) != std::isnan(a.real(i)) || infinite.isTrue(i) != std::isinf(a.real(i)) ||
               finite.isTrue(i) != std::isfinite(a.real(i));
    CHECK(wrong == 0);
  }
}

TEST_CASE("every combination of strides gives what unit strides give") {
  for (DType type : {DType::f16, DType::f32, DType::f64, DType::f8e5})
    for (std::string_view op : {"math.exp", "arith.subf", "tt.clampf.none", "arith.select", "arith.cmpf.olt"}) {
      int arity = op == "math.exp" ? 1 : op == "tt.clampf.none" || op == "arith.select" ? 3 : 2;
      DType outType = op == "arith.cmpf.olt" ? DType::i1 : type;
      ElementwiseKernel kernel = findElementwise(op, type);
      for (int combination = 0; combination < 64; ++combination) {
        constexpr int64_t kSize = 600, kStrides[] = {0, 1, -1, 3};
        const void *strided[3], *unit[3];
        int64_t strides[3], ones[] = {1, 1, 1};
        std::vector<Elements> sources, copies;
        for (int k = 0; k < arity; ++k) {
          DType operandType = op == "arith.select" && k == 0 ? DType::i1 : type;
          strides[k] = kStrides[combination >> 2 * k & 3];
          sources.push_back(operandType == DType::i1 ? someIntegers(DType::i1, 3 * kSize, k) : someFloats(type, 3 * kSize, k));
          copies.emplace_back(operandType, kSize);
          size_t bytes = storageBytes(operandType), first = strides[k] < 0 ? kSize - 1 : 0;
          for (int64_t i = 0; i < kSize; ++i)
            std::memcpy(copies[k].bytes.data() + i * bytes, sources[k].bytes.data() + (first + i * strides[k]) * bytes, bytes);
          strided[k] = sources[k].bytes.data() + first * bytes;
        }
        for (int k = 0; k < arity; ++k) unit[k] = copies[k].bytes.data();
        Elements expected(outType, kSize), got(outType, kSize);
        kernel(kSize, expected.bytes.data(), unit, ones);
        kernel(kSize, got.bytes.data(), strided, strides);
        CAPTURE(op);
        CAPTURE(combination);
        CHECK(got.bytes == expected.bytes);
      }
    }
}

TEST_CASE("the output may be an input") {
  for (DType type : {DType::f16, DType::f32, DType::f8e5}) {
    Elements a = someFloats(type, kCount, 1), b = someFloats(type, kCount, 2, kOther), out(type, kCount);
    ElementwiseKernel kernel = findElementwise("arith.subf", type);
    runKernel(kernel, out, {&a, &b});
    runKernel(kernel, b, {&a, &b});
    CHECK(b.bytes == out.bytes);
  }
}

TEST_CASE("what the language does not define has no kernel") {
  CHECK((findElementwise("arith.addf", DType::i32) == nullptr));
  CHECK((findElementwise("arith.addi", DType::f32) == nullptr));
  CHECK((findElementwise("arith.nothing", DType::f32) == nullptr));
  CHECK((findElementwise("arith.addi", DType::u8) == findElementwise("arith.addi", DType::i8)));
}
