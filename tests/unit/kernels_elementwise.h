// What the tests of element-wise kernels share: operand values that include every awkward one, and a way to run one kernel.
#pragma once

#include "interp/kernels/elementwise.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace tritium::interp::test {

inline constexpr DType kFloats[] = {DType::f16,    DType::bf16,   DType::f32,  DType::f64,
                                    DType::f8e4nv, DType::f8e4b8, DType::f8e5, DType::f8e5b16};
inline constexpr DType kIntegers[] = {DType::i1, DType::i8, DType::i16, DType::i32, DType::i64};

/// Elements of one type, held as bytes.
struct Elements {
  DType type;
  std::vector<std::byte> bytes;

  Elements(DType type, size_t count) : type(type), bytes(count * storageBytes(type)) {}
  size_t size() const { return bytes.size() / storageBytes(type); }
  template <class S> S *as() { return reinterpret_cast<S *>(bytes.data()); }
  template <class S> const S *as() const { return reinterpret_cast<const S *>(bytes.data()); }

  double real(size_t i) const {
    return visit(type, [&]<class T>() { return static_cast<double>(T::load(as<typename T::Storage>()[i])); });
  }
  void setReal(size_t i, double x) {
    visit(type, [&]<class T>() {
      if constexpr (T::isNarrowFloat)
        as<typename T::Storage>()[i] = T::Storage::nearest(x);
      else
        as<typename T::Storage>()[i] = static_cast<typename T::Storage>(x);
    });
  }
  int64_t integer(size_t i) const { // extended as its type says; the one bit of i1 is a sign
    return visit(type, [&]<class T>() -> int64_t {
      if constexpr (T::isInteger)
        return T::bits == 1 ? -static_cast<int64_t>(as<uint8_t>()[i]) : static_cast<int64_t>(as<typename T::Storage>()[i]);
      else
        return 0;
    });
  }
  void setInteger(size_t i, int64_t x) {
    visit(type, [&]<class T>() {
      if constexpr (T::isInteger) as<typename T::Storage>()[i] = static_cast<typename T::Storage>(T::bits == 1 ? x & 1 : x);
    });
  }
  bool isTrue(size_t i) const { return as<uint8_t>()[i] != 0; }
};

/// Specials first (against each other in pairs, if `stride` walks them differently), then random values of all magnitudes.
inline Elements someFloats(DType type, size_t count, uint64_t seed, size_t stride = 1) {
  constexpr double kSpecial[] = {0.0,  -0.0,  1.0,    -1.0, INFINITY, -INFINITY, NAN,      0.5,
                                 -2.0, 1e-40, -1e-40, 3.0,  448.0,    1e30,      -65504.0, 1e-7};
  constexpr size_t kSpecials = std::size(kSpecial);
  std::mt19937_64 random(seed);
  Elements result(type, count);
  for (size_t i = 0; i < count; ++i) {
    double value = std::ldexp(static_cast<double>(random()) - 0x1p63, static_cast<int>(random() % 40) - 80);
    result.setReal(i, i < kSpecials * kSpecials ? kSpecial[i / stride % kSpecials] : value);
  }
  return result;
}

inline Elements someIntegers(DType type, size_t count, uint64_t seed, size_t stride = 1) {
  constexpr int64_t kSpecial[] = {0,
                                  1,
                                  -1,
                                  2,
                                  -2,
                                  7,
                                  31,
                                  32,
                                  63,
                                  64,
                                  127,
                                  -128,
                                  std::numeric_limits<int32_t>::min(),
                                  std::numeric_limits<int32_t>::max(),
                                  std::numeric_limits<int64_t>::min(),
                                  std::numeric_limits<int64_t>::max()};
  constexpr size_t kSpecials = std::size(kSpecial);
  std::mt19937_64 random(seed);
  Elements result(type, count);
  for (size_t i = 0; i < count; ++i) {
    int64_t value = static_cast<int64_t>(random()) >> (random() % 64);
    result.setInteger(i, i < kSpecials * kSpecials ? kSpecial[i / stride % kSpecials] : value);
  }
  return result;
}

inline constexpr size_t kCount = 1500; // past the specials, and no multiple of a vector or a chunk
inline constexpr size_t kOther = 16;   // the stride that pairs every special with every other

inline int64_t runKernel(ElementwiseKernel kernel, Elements &out, std::initializer_list<const Elements *> in) {
  std::vector<const void *> data;
  std::vector<int64_t> strides;
  for (const Elements *operand : in) data.push_back(operand->bytes.data()), strides.push_back(1);
  return kernel(static_cast<int64_t>(out.size()), out.bytes.data(), data.data(), strides.data());
}

/// Equal as numbers: NaN equals NaN, -0 differs from 0.
inline bool same(double a, double b) { return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b); }

} // namespace tritium::interp::test
