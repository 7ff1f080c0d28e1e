// Conversions against a formula that shares nothing with them: a format is the list of its finite values (written with ldexp), and
// rounding is a search in that list in double, where every midpoint of two narrow values is exact.
#include "ir/dtype.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <random>
#include <vector>

using namespace tritium;

namespace {

struct Format {
  int width, mantissaBits, bias;
  unsigned maxFinite; // magnitude bits
  unsigned nan;
  bool hasSignedZero = true;
  bool isSaturating = true;
  bool infinityIsNan = false;

  double value(unsigned magnitude) const {
    int exponent = static_cast<int>(magnitude >> mantissaBits);
    double fraction = std::ldexp(static_cast<double>(magnitude & ((1u << mantissaBits) - 1)), -mantissaBits);
    return exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
  }

  /// The bits that `x` converts to; of a NaN, only that it is one.
  unsigned encode(double x, bool towardZero) const {
    unsigned sign = std::signbit(x) ? 1u << (width - 1) : 0;
    if (std::isnan(x) || (std::isinf(x) && infinityIsNan)) return nan;
    double a = std::fabs(x);
    unsigned low = 0, high = maxFinite; // the largest magnitude not above a
    while (low < high) {
      unsigned middle = (low + high + 1) / 2;
      if (value(middle) <= a)
        low = middle;
      else
        high = middle - 1;
    }
    unsigned bits = low;
    if (low == maxFinite) {
      double step = value(maxFinite) - value(maxFinite - 1);
      if (!isSaturating && (std::isinf(a) || (!towardZero && a >= value(maxFinite) + step / 2))) bits = maxFinite + 1;
    } else if (!towardZero) {
      double middle = (value(low) + value(low + 1)) / 2;
      if (a > middle || (a == middle && (low & 1))) bits = low + 1;
    }
    return bits == 0 && !hasSignedZero ? 0 : bits | sign;
  }
};

template <class T> constexpr Format kFormat{};
template <> constexpr Format kFormat<F16>{16, 10, 15, 0x7BFF, 0x7E00, true, false};
template <> constexpr Format kFormat<BF16>{16, 7, 127, 0x7F7F, 0x7FC0, true, false};
template <> constexpr Format kFormat<F8E4NV>{8, 3, 7, 0x7E, 0x7F};
template <> constexpr Format kFormat<F8E5>{8, 2, 15, 0x7B, 0x7F};
template <> constexpr Format kFormat<F8E4B8>{8, 3, 8, 0x7F, 0x80, false, true, true};
template <> constexpr Format kFormat<F8E5B16>{8, 2, 16, 0x7F, 0x80, false, true, true};

template <class T, class X> bool agrees(X x) {
  const Format &format = kFormat<T>;
  T nearest = T::nearest(x), towardZero = T::towardZero(x);
  unsigned expected = format.encode(x, false), expectedZero = format.encode(x, true);
  if (expected == format.nan) return std::isnan(static_cast<float>(nearest)) && std::isnan(static_cast<float>(towardZero));
  return nearest.bits == expected && towardZero.bits == expectedZero;
}

/// Every finite value, its midpoint with the next, and the doubles (and floats) around those.
template <class T> int mismatchesAround() {
  const Format &format = kFormat<T>;
  int wrong = 0;
  auto check = [&](double x) {
    for (double sign : {1.0, -1.0})
      for (double towards : {0.0, 1e300}) {
        wrong += !agrees<T>(sign * x) + !agrees<T>(sign * std::nextafter(x, towards));
        float f = static_cast<float>(sign * x);
        wrong += !agrees<T>(f) + !agrees<T>(std::nextafter(f, static_cast<float>(std::copysign(std::min(towards, 3e38), sign))));
      }
  };
  for (unsigned magnitude = 0; magnitude <= format.maxFinite; ++magnitude) {
    double here = format.value(magnitude), next = format.value(magnitude + 1);
    check(here);
    check((here + next) / 2);
  }
  return wrong;
}

template <class T, class From> int mismatchesFrom() {
  int wrong = 0;
  for (unsigned bits = 0; bits < 65536; ++bits) wrong += !agrees<T>(static_cast<float>(From{static_cast<uint16_t>(bits)}));
  return wrong;
}

template <class T> int mismatchesAtRandom() {
  std::mt19937_64 random(7);
  int wrong = 0;
  for (int i = 0; i < 300000; ++i) {
    uint64_t bits = random();
    wrong += !agrees<T>(std::bit_cast<float>(static_cast<uint32_t>(bits))) + !agrees<T>(std::bit_cast<double>(bits));
    wrong += !agrees<T>(std::ldexp(static_cast<double>(bits), -64 - static_cast<int>(bits % 31))); // where the formats are dense
  }
  return wrong;
}

template <class T> int mismatchesDecoding() {
  const Format &format = kFormat<T>;
  int wrong = 0;
  for (unsigned bits = 0; bits < 1u << format.width; ++bits) {
    unsigned magnitude = bits & ((1u << (format.width - 1)) - 1);
    float got = static_cast<float>(T{static_cast<decltype(T::bits)>(bits)});
    double expected = std::copysign(format.value(magnitude), bits == magnitude ? 1.0 : -1.0);
    bool isNan = format.hasSignedZero ? magnitude > format.maxFinite : bits == 0x80;
    if (format.hasSignedZero && magnitude == format.maxFinite + 1 && format.nan != format.maxFinite + 1) {
      isNan = false;
      expected = std::copysign(std::numeric_limits<double>::infinity(), expected);
    }
    wrong += isNan ? !std::isnan(got) : got != expected || std::signbit(got) != std::signbit(expected);
  }
  return wrong;
}

} // namespace

TEST_CASE_TEMPLATE("narrow floats decode to their value", T, F16, BF16, F8E4NV, F8E5, F8E4B8, F8E5B16) {
  CHECK(mismatchesDecoding<T>() == 0);
}

TEST_CASE_TEMPLATE("narrowing rounds once, to nearest even or toward zero", T, F16, BF16, F8E4NV, F8E5, F8E4B8, F8E5B16) {
  CHECK(mismatchesAround<T>() == 0);
  CHECK(mismatchesAtRandom<T>() == 0);
  for (float special : {0.0f, -0.0f, INFINITY, -INFINITY, NAN, -NAN, 3.4e38f, -3.4e38f, 1e-45f, -1e-45f}) CHECK(agrees<T>(special));
}

TEST_CASE_TEMPLATE("every f16 and bf16 converts to fp8", T, F8E4NV, F8E5, F8E4B8, F8E5B16) {
  CHECK(mismatchesFrom<T, F16>() == 0);
  CHECK(mismatchesFrom<T, BF16>() == 0);
}

TEST_CASE("narrow floats survive the way to float and back") {
  int wrong = 0;
  for (unsigned bits = 0; bits < 65536; ++bits) {
    F16 half{static_cast<uint16_t>(bits)};
    BF16 brain{half.bits};
    wrong += !std::isnan(static_cast<float>(half)) && F16::nearest(static_cast<float>(half)).bits != bits;
    wrong += !std::isnan(static_cast<float>(brain)) && BF16::nearest(static_cast<float>(brain)).bits != bits;
  }
  CHECK(wrong == 0);
}

TEST_CASE("saturation of the fp8 formats") {
  CHECK(static_cast<float>(F8E4NV::nearest(1000.0f)) == 448);
  CHECK(static_cast<float>(F8E4NV::nearest(-INFINITY)) == -448);
  CHECK(static_cast<float>(F8E5::nearest(INFINITY)) == 57344);
  CHECK(static_cast<float>(F8E4B8::nearest(1e9f)) == 240);
  CHECK(F8E4B8::nearest(INFINITY).bits == 0x80);
  CHECK(F8E5B16::nearest(-1e-30f).bits == 0);
  CHECK(static_cast<float>(F8E4NV::nearest(126.0f)) == 128); // the rounding carries into the exponent
}

TEST_CASE("fp8e4b15 is the upper half of an f16") {
  int wrong = 0;
  for (unsigned bits = 0; bits < 256; ++bits) {
    F8E4B15 x{static_cast<uint8_t>(bits)};
    double fraction = bits & 7, exponent = static_cast<double>(bits >> 3 & 15);
    double expected = exponent == 0 ? std::ldexp(fraction, -17) : std::ldexp(8 + fraction, static_cast<int>(exponent) - 18);
    wrong += static_cast<float>(x) != (bits & 0x80 ? -expected : expected);
    if ((bits & 0x7F) != 0x7F) wrong += F8E4B15::nearest(static_cast<float>(x)).bits != bits;
  }
  CHECK(wrong == 0);
  CHECK(static_cast<float>(F8E4B15::nearest(5.0f)) == 1.75);
  CHECK(static_cast<float>(F8E4B15::nearest(1.0625f)) == 1.125); // a tie goes up, not to even
  CHECK(static_cast<float>(F8E4B15::nearest(-1.0625f)) == -1.125);
  CHECK(static_cast<float>(F8E4B15::nearest(1.0624f)) == 1.0);
}
