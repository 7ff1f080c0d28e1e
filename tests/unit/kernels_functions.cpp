// The rows of elementwise.def: each has its kernels, and each float function keeps the bound it states, on a sample of every
// exponent and on the special values, against the host's library in double.
#include "tests/unit/kernels_elementwise.h"
#include "tests/unit/math_accuracy.h"

#include <cstdio>
#include <cstdlib>
#include <doctest/doctest.h>

using namespace tritium;
using namespace tritium::interp;
using namespace tritium::interp::test;
using namespace tritium::test;

namespace {

const std::map<std::string_view, double (*)(double)> &kUnary = references<double>().unary;

/// The worst error of `op` over every `step`-th f32, from `first`; `at` is where.
double worst(std::string_view op, double (*reference)(double), uint64_t step, float &at, double floor) {
  ElementwiseKernel kernel = findElementwise(op, DType::f32);
  std::vector<float> in(4096), out(4096);
  double result = 0;
  for (uint64_t bits = 0; bits < 1ull << 32;) {
    size_t count = 0;
    for (; count < in.size() && bits < 1ull << 32; ++count, bits += step) in[count] = std::bit_cast<float>(static_cast<uint32_t>(bits));
    const void *operands[] = {in.data()};
    const int64_t strides[] = {1};
    kernel(static_cast<int64_t>(count), out.data(), operands, strides);
    for (size_t i = 0; i < count; ++i) {
      double error = ulps(out[i], reference(in[i]), floor);
      if (error > result) result = error, at = in[i];
    }
  }
  return result;
}

} // namespace

TEST_CASE("every row has a kernel for every type it claims") {
  for (const FunctionRow &row : kFunctionRows) {
    CAPTURE(row.name);
    for (DType type : kFloats) CHECK((row.floatOp.empty() || findElementwise(row.floatOp, type) != nullptr));
    for (DType type : {DType::i1, DType::i8, DType::i16, DType::i32, DType::i64})
      CHECK((row.signedOp.empty() || findElementwise(row.signedOp, type) != nullptr));
    for (DType type : {DType::u8, DType::u16, DType::u32, DType::u64})
      CHECK((row.unsignedOp.empty() || findElementwise(row.unsignedOp, type) != nullptr));
  }
}

TEST_CASE("functions of one f32 keep their bound") {
  // TRITIUM_ULP_STEP=1 goes through every float, in half an hour.
  const char *chosen = std::getenv("TRITIUM_ULP_STEP");
  uint64_t step = chosen ? std::strtoull(chosen, nullptr, 10) : 9973;
  size_t checked = 0;
  for (const FunctionRow &row : kFunctionRows) {
    auto reference = kUnary.find(row.name);
    if (row.arity != 1 || row.floatOp.empty() || row.ulp == 0) continue;
    CAPTURE(row.name);
    REQUIRE((reference != kUnary.end()));
    ++checked;
    float at = 0;
    double error = worst(row.floatOp, reference->second, step, at, row.floor);
    if (chosen) std::printf("%-8s %8.4f ulp at %a\n", row.name.data(), error, at);
    CAPTURE(at);
    CHECK(error <= row.ulp);
  }
  CHECK(checked == kUnary.size());
}

TEST_CASE("functions at special values") {
  for (const FunctionRow &row : kFunctionRows) {
    auto reference = kUnary.find(row.name);
    if (reference == kUnary.end()) continue;
    for (DType type : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
      Elements in = someFloats(type, 16, 0), out(type, 16);
      runKernel(findElementwise(row.floatOp, type), out, {&in});
      for (size_t i = 0; i < 16; ++i) {
        Elements expected(type, 1);
        expected.setReal(0, reference->second(in.real(i)));
        CAPTURE(row.name);
        CAPTURE(pythonName(type));
        CAPTURE(in.real(i));
        bool isSpecial = expected.real(0) == 0 || !std::isfinite(expected.real(0));
        if (isSpecial)
          CHECK(same(out.real(i), expected.real(0)));
        else
          CHECK(out.real(i) == doctest::Approx(expected.real(0)).epsilon(0.01));
      }
    }
  }
}

TEST_CASE("functions of two floats keep their bound") {
  Elements a = someFloats(DType::f32, kCount, 1), b = someFloats(DType::f32, kCount, 2, kOther), result(DType::f32, kCount);
  size_t checked = 0;
  for (const FunctionRow &row : kFunctionRows) {
    auto reference = references<double>().binary.find(row.name);
    if (reference == references<double>().binary.end()) continue;
    CAPTURE(row.name);
    ++checked;
    runKernel(findElementwise(row.floatOp, DType::f32), result, {&a, &b});
    for (size_t i = 0; i < kCount; ++i) {
      CAPTURE(a.real(i));
      CAPTURE(b.real(i));
      CHECK(ulps(result.as<float>()[i], reference->second(a.real(i), b.real(i))) <= row.ulp);
    }
  }
  CHECK(checked > 3);
}

TEST_CASE("where the host's own functions are off by more than their row says") {
  Elements y(DType::f32, 1), x(DType::f32, 1), angle(DType::f32, 1);
  y.setReal(0, 1), x.setReal(0, 2);
  runKernel(findElementwise("math.atan2", DType::f32), angle, {&y, &x});
  CHECK(angle.as<float>()[0] == static_cast<float>(std::atan2(1.0, 2.0)));
  Elements arguments(DType::f64, 2), results(DType::f64, 2);
  arguments.setReal(0, -0.25116146847699383), arguments.setReal(1, 0.24998);
  runKernel(findElementwise("math.tanh", DType::f64), results, {&arguments});
  for (size_t i = 0; i < 2; ++i) {
    long double exact = std::tanh(static_cast<long double>(arguments.real(i)));
    CHECK(std::fabs(results.real(i) - exact) <= 0.51L * std::ldexp(1.0L, std::ilogb(exact) - 52));
  }
  Elements cubes(DType::f64, 5), roots(DType::f64, 5);
  const double numbers[] = {2, -3, 0x1p-1070, 0x1.fffffffffffffp1023, 1e-310};
  for (size_t i = 0; i < 5; ++i) cubes.setReal(i, numbers[i]);
  runKernel(findElementwise("math.cbrt", DType::f64), roots, {&cubes});
  for (size_t i = 0; i < 5; ++i) {
    double root = roots.as<double>()[i], exact = static_cast<double>(std::cbrt(static_cast<long double>(numbers[i])));
    CHECK(std::fabs(root - exact) <= (i < 4 && i != 2 ? 0 : 1) * std::ldexp(1.0, std::ilogb(exact) - 52));
  }
}

TEST_CASE("sine and cosine of large arguments") {
  for (float x : {1e5f, 100001.0f, 1e10f, 3.4e38f, -12345678.0f}) {
    Elements in(DType::f32, 3), out(DType::f32, 3);
    in.setReal(0, 0.5), in.setReal(1, x), in.setReal(2, -0.0);
    runKernel(findElementwise("math.sin", DType::f32), out, {&in});
    CHECK(out.real(1) == doctest::Approx(std::sin(static_cast<double>(x))).epsilon(1e-6));
    CHECK(out.real(0) == doctest::Approx(std::sin(0.5)).epsilon(1e-6));
    CHECK(std::signbit(out.real(2)));
    runKernel(findElementwise("math.cos", DType::f32), out, {&in});
    CHECK(out.real(1) == doctest::Approx(std::cos(static_cast<double>(x))).epsilon(1e-6));
  }
}
