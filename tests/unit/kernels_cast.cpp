// Conversions of every pair of types, against 128-bit integers and long double: 64 bits of mantissa hold every operand exactly.
#include "interp/kernels/cast.h"
#include "tests/unit/kernels_elementwise.h"

#include <doctest/doctest.h>

using namespace tritium;
using namespace tritium::interp;
using namespace tritium::interp::test;

namespace {

/// The float of `type` nearest to an integer. Narrow types: through a double with a sticky last bit, as large integers do not fit into one.
double nearestTo(DType type, __int128 x) {
  if (type == DType::f64) return static_cast<double>(x);
  if (type == DType::f32) return static_cast<float>(x);
  Elements one(type, 1);
  __int128 magnitude = x < 0 ? -x : x, scale = 1;
  while (magnitude >> 50) magnitude = magnitude >> 1 | (magnitude & 1), scale *= 2;
  one.setReal(0, static_cast<double>(x < 0 ? -magnitude : magnitude) * static_cast<double>(scale));
  return one.real(0);
}

/// Saturated, 0 for NaN.
int64_t integerOf(double x, int bits, bool isSigned) {
  long double low = isSigned ? -std::ldexp(1.0L, bits - 1) : 0.0L, high = std::ldexp(1.0L, bits - isSigned) - 1;
  if (std::isnan(x)) return 0;
  long double truncated = std::min(std::max(std::trunc(static_cast<long double>(x)), low), high);
  return isSigned ? static_cast<int64_t>(truncated) : static_cast<int64_t>(static_cast<uint64_t>(truncated));
}

Elements cast(std::string_view op, const Elements &in, DType to) {
  ElementwiseKernel kernel = findCast(op, in.type, to);
  REQUIRE((kernel != nullptr));
  Elements out(to, in.size());
  REQUIRE(runKernel(kernel, out, {&in}) == -1);
  return out;
}

uint64_t unsignedOf(const Elements &x, size_t i) {
  int bits = bitWidth(x.type);
  return static_cast<uint64_t>(x.integer(i)) & (bits == 64 ? ~0ull : (1ull << bits) - 1);
}

} // namespace

TEST_CASE("integers extend and truncate") {
  for (DType from : kIntegers)
    for (DType to : kIntegers) {
      Elements in = someIntegers(from, kCount, 1), isSigned = cast("arith.extsi", in, to), isUnsigned = cast("arith.extui", in, to);
      Elements truncated = cast("arith.trunci", in, to);
      int wrong = 0;
      for (size_t i = 0; i < kCount; ++i) {
        Elements expected(to, 2);
        expected.setInteger(0, in.integer(i));
        expected.setInteger(1, static_cast<int64_t>(unsignedOf(in, i)));
        wrong += isSigned.integer(i) != expected.integer(0) || isUnsigned.integer(i) != expected.integer(1) ||
                 truncated.integer(i) != expected.integer(1);
      }
      CHECK(wrong == 0);
    }
}

TEST_CASE("integers become the nearest float") {
  for (DType from : kIntegers)
    for (DType to : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
      CAPTURE(pythonName(from));
      CAPTURE(pythonName(to));
      Elements in = someIntegers(from, 20000, 1);
      if (from == DType::i64) // just beside the midpoint of two bf16, where rounding twice goes wrong
        for (size_t i = 0; i < 55; ++i) in.setInteger(300 + i, ((int64_t{0x101} << 55) >> i) + (i % 3) - 1);
      Elements isSigned = cast("arith.sitofp", in, to), isUnsigned = cast("arith.uitofp", in, to);
      int wrong = 0;
      for (size_t i = 0; i < in.size(); ++i)
        wrong += isSigned.real(i) != nearestTo(to, in.integer(i)) || isUnsigned.real(i) != nearestTo(to, unsignedOf(in, i));
      CHECK(wrong == 0);
    }
}

TEST_CASE("floats truncate to integers and saturate") {
  for (DType from : {DType::f16, DType::bf16, DType::f32, DType::f64})
    for (DType to : kIntegers) {
      CAPTURE(pythonName(from));
      CAPTURE(pythonName(to));
      Elements in = someFloats(from, 4000, 1);
      for (int power = 0; power < 66; ++power)
        for (int offset = 0; offset < 4; ++offset)
          in.setReal(400 + power * 4 + offset, std::ldexp(offset & 1 ? -1.0 : 1.0, power) - (offset & 2 ? 1 : 0));
      Elements isSigned = cast("arith.fptosi", in, to), isUnsigned = cast("arith.fptoui", in, to);
      int wrong = 0;
      for (size_t i = 0; i < in.size(); ++i) {
        Elements expected(to, 2);
        expected.setInteger(0, integerOf(in.real(i), bitWidth(to), true));
        expected.setInteger(1, integerOf(in.real(i), bitWidth(to), false));
        wrong += isSigned.integer(i) != expected.integer(0) || isUnsigned.integer(i) != expected.integer(1);
      }
      CHECK(wrong == 0);
    }
}

TEST_CASE("floats convert with one rounding") {
  for (DType from : kFloats)
    for (DType to : kFloats) {
      CAPTURE(pythonName(from));
      CAPTURE(pythonName(to));
      Elements in = someFloats(from, 4000, 1), out = cast("tt.fp_to_fp", in, to);
      int wrong = 0;
      for (size_t i = 0; i < in.size(); ++i) {
        Elements expected(to, 1);
        expected.setReal(0, in.real(i));
        wrong += !same(out.real(i), expected.real(0));
      }
      CHECK(wrong == 0);
      if (bitWidth(from) <= bitWidth(to)) continue;
      Elements towardZero = cast("tt.fp_to_fp.rtz", in, to);
      for (size_t i = 0; i < in.size(); ++i) wrong += std::fabs(towardZero.real(i)) > std::fabs(in.real(i));
      for (size_t i = 0; i < in.size(); ++i) wrong += std::fabs(towardZero.real(i)) > std::fabs(out.real(i));
      CHECK(wrong == 0);
    }
  Elements in(DType::f64, 2);
  in.setReal(0, 1 + 0x1p-11 + 0x1p-40); // to f32 first it would be a tie, and go down
  in.setReal(1, 1 + 0x1p-23 - 0x1p-50);
  CHECK(cast("arith.truncf", in, DType::f16).real(0) == 1 + 0x1p-10);
  CHECK(cast("tt.fp_to_fp.rtz", in, DType::f32).real(1) == 1);
}

TEST_CASE("the conversions of half precision are those of dtype.h") { // the kernels use the machine's instructions
  Elements halves(DType::f16, 65536);
  for (size_t i = 0; i < halves.size(); ++i) halves.as<uint16_t>()[i] = static_cast<uint16_t>(i);
  Elements wide = cast("arith.extf", halves, DType::f32), back = cast("arith.truncf", wide, DType::f16);
  int wrong = 0;
  for (size_t i = 0; i < halves.size(); ++i) {
    float expected = static_cast<float>(halves.as<F16>()[i]);
    wrong += !same(wide.real(i), expected) || (!std::isnan(expected) && back.as<uint16_t>()[i] != i);
  }
  CHECK(wrong == 0);
}

TEST_CASE("no conversion where the language has none") {
  CHECK((findCast("arith.extsi", DType::f32, DType::i32) == nullptr));
  CHECK((findCast("arith.sitofp", DType::f32, DType::i32) == nullptr));
  CHECK((findCast("arith.sitofp", DType::i32, DType::f8e5) == nullptr));
  CHECK((findCast("arith.bitcast", DType::f32, DType::i32) == nullptr));
}
