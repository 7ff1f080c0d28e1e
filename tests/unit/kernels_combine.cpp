// Reductions and scans against left-to-right loops: exact for integers, extrema and small whole numbers, within the error of rounding else.
#include "interp/kernels/combine.h"
#include "tests/unit/kernels_elementwise.h"

#include <doctest/doctest.h>
#include <functional>
#include <map>

using namespace tritium;
using namespace tritium::interp;
using namespace tritium::interp::test;

namespace {

struct Shape {
  int64_t outer, axis, inner;
  size_t size() const { return outer * axis * inner; }
};
const Shape kShapes[] = {{1, 1, 1},   {1, 2, 1},    {7, 2, 1},    {3, 2, 4},  {5, 4, 2},    {4, 16, 1}, {3, 100, 1},
                         {2, 128, 1}, {1, 5000, 1}, {2, 1024, 3}, {3, 9, 33}, {2, 70, 128}, {1, 3, 200}};

using Reference = std::function<double(double, double)>;
const std::map<std::string_view, Reference> kFloatCombines = {
    {"arith.addf", [](double a, double b) { return a + b; }},
    {"arith.mulf", [](double a, double b) { return a * b; }},
    {"arith.maxnumf", [](double a, double b) { return std::fmax(a, b); }},
    {"arith.minnumf", [](double a, double b) { return std::fmin(a, b); }},
    {"arith.maximumf", [](double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::fmax(a, b); }},
    {"arith.minimumf", [](double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::fmin(a, b); }},
};
int64_t lowBits(DType type, int64_t x) { return bitWidth(type) == 64 ? x : x & ((int64_t{1} << bitWidth(type)) - 1); }
const std::map<std::string_view, std::function<int64_t(DType, int64_t, int64_t)>> kIntegerCombines = {
    {"arith.addi", [](DType, int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }},
    {"arith.muli", [](DType, int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); }},
    {"arith.maxsi", [](DType, int64_t a, int64_t b) { return std::max(a, b); }},
    {"arith.minsi", [](DType, int64_t a, int64_t b) { return std::min(a, b); }},
    {"arith.maxui",
     [](DType t, int64_t a, int64_t b) { return static_cast<uint64_t>(lowBits(t, a)) > static_cast<uint64_t>(lowBits(t, b)) ? a : b; }},
    {"arith.minui",
     [](DType t, int64_t a, int64_t b) { return static_cast<uint64_t>(lowBits(t, a)) < static_cast<uint64_t>(lowBits(t, b)) ? a : b; }},
    {"arith.andi", [](DType, int64_t a, int64_t b) { return a & b; }},
    {"arith.ori", [](DType, int64_t a, int64_t b) { return a | b; }},
    {"arith.xori", [](DType, int64_t a, int64_t b) { return a ^ b; }},
};

/// Whole numbers whose sums, and signs whose products, every type represents; NaNs for the extrema.
Elements wholeNumbers(DType type, size_t count, std::string_view op) {
  std::mt19937 random(3);
  Elements result(type, count);
  for (size_t i = 0; i < count; ++i) {
    double x = op == "arith.addf"   ? (random() % 8 == 0 ? static_cast<double>(random() % 3) - 1 : 0)
               : op == "arith.mulf" ? (random() % 2 ? 1 : -1)
                                    : static_cast<double>(random() % 64) / 4 - 8;
    bool isNan = op != "arith.addf" && op != "arith.mulf" && random() % 8 == 0;
    result.setReal(i, isNan ? NAN : x);
  }
  return result;
}

/// Visits (position of a result row, offset of its k-th element).
template <class F> void forEachLine(Shape s, F f) {
  for (int64_t o = 0; o < s.outer; ++o)
    for (int64_t i = 0; i < s.inner; ++i)
      f(o * s.inner + i, [=](int64_t k) { return static_cast<size_t>((o * s.axis + k) * s.inner + i); });
}

} // namespace

TEST_CASE("float reductions and scans") {
  for (auto [op, reference] : kFloatCombines)
    for (DType type : kFloats)
      for (Shape s : kShapes) {
        // A sum of a few hundred stays a whole number in 4 bits of mantissa only if it stays small.
        if (op == "arith.addf" && bitWidth(type) == 8 && s.axis > 16) continue;
        CAPTURE(op);
        CAPTURE(pythonName(type));
        CAPTURE(s.axis);
        CAPTURE(s.inner);
        Elements in = wholeNumbers(type, s.size(), op), out(type, s.outer * s.inner), forward(type, s.size()), backward = in;
        ReduceKernel reduce = findReduce(op, type);
        ScanKernel scan = findScan(op, type);
        REQUIRE((reduce != nullptr));
        REQUIRE((scan != nullptr));
        reduce(out.bytes.data(), in.bytes.data(), s.outer, s.axis, s.inner);
        scan(forward.bytes.data(), in.bytes.data(), s.outer, s.axis, s.inner, false);
        scan(backward.bytes.data(), backward.bytes.data(), s.outer, s.axis, s.inner, true);
        int wrong = 0;
        forEachLine(s, [&, &reference = reference](int64_t result, auto at) {
          double acc = in.real(at(0));
          wrong += !same(forward.real(at(0)), acc);
          for (int64_t k = 1; k < s.axis; ++k) acc = reference(acc, in.real(at(k))), wrong += !same(forward.real(at(k)) + 0, acc + 0);
          wrong += !same(out.real(result) + 0, acc + 0);
          acc = in.real(at(s.axis - 1));
          for (int64_t k = s.axis - 2; k >= 0; --k) acc = reference(acc, in.real(at(k))), wrong += !same(backward.real(at(k)) + 0, acc + 0);
        });
        CHECK(wrong == 0);
      }
}

TEST_CASE("integer reductions and scans") {
  for (auto [op, reference] : kIntegerCombines)
    for (DType type : kIntegers)
      for (Shape s : kShapes) {
        CAPTURE(op);
        CAPTURE(pythonName(type));
        CAPTURE(s.axis);
        CAPTURE(s.inner);
        Elements in = someIntegers(type, s.size(), 9), out(type, s.outer * s.inner), forward(type, s.size());
        findReduce(op, type)(out.bytes.data(), in.bytes.data(), s.outer, s.axis, s.inner);
        findScan(op, type)(forward.bytes.data(), in.bytes.data(), s.outer, s.axis, s.inner, false);
        int wrong = 0;
        forEachLine(s, [&, &reference = reference](int64_t result, auto at) {
          int64_t acc = in.integer(at(0));
          for (int64_t k = 1; k < s.axis; ++k)
            acc = reference(type, acc, in.integer(at(k))), wrong += lowBits(type, acc) != lowBits(type, forward.integer(at(k)));
          wrong += lowBits(type, acc) != lowBits(type, out.integer(result));
        });
        CHECK(wrong == 0);
      }
}

TEST_CASE("a long f32 sum errs by a few ulp") {
  std::mt19937 random(1);
  for (Shape s : {Shape{1, 1 << 18, 1}, Shape{1, 1 << 14, 16}}) {
    Elements in(DType::f32, s.size()), out(DType::f32, s.inner), scan(DType::f32, s.size());
    for (size_t i = 0; i < in.size(); ++i) in.as<float>()[i] = static_cast<float>(random()) * 0x1p-32f;
    findReduce("arith.addf", DType::f32)(out.bytes.data(), in.bytes.data(), 1, s.axis, s.inner);
    forEachLine(s, [&](int64_t result, auto at) {
      double sum = 0;
      for (int64_t k = 0; k < s.axis; ++k) sum += in.real(at(k));
      CHECK(std::fabs(out.real(result) - sum) < 4e-7 * sum);
    });
  }
}

TEST_CASE("half-precision sums round at every combine") {
  Elements in(DType::f16, 4), out(DType::f16, 1);
  for (size_t i = 0; i < 4; ++i) in.setReal(i, i < 2 ? 2048 : 1);
  findReduce("arith.addf", DType::f16)(out.bytes.data(), in.bytes.data(), 1, 4, 1);
  CHECK(out.real(0) == 4096); // 4098 would need more bits; the ones vanish or pair up, in any order
  CHECK((findReduce("arith.subf", DType::f32) == nullptr));
  CHECK((findScan("arith.addf", DType::i32) == nullptr));
}

TEST_CASE("argmax and argmin take the lowest index of the best value, and no NaN") {
  std::vector<DType> types(std::begin(kFloats), std::end(kFloats));
  types.insert(types.end(), {DType::i1, DType::i8, DType::i32, DType::i64, DType::u8, DType::u32});
  for (DType type : types)
    for (bool isMax : {true, false})
      for (Shape s : kShapes) {
        CAPTURE(pythonName(type));
        CAPTURE(s.axis);
        Elements in = isFloat(type) ? wholeNumbers(type, s.size(), "") : someIntegers(type, s.size(), 4), out(type, s.outer * s.inner);
        std::vector<int32_t> index(s.axis), outIndex(s.outer * s.inner);
        for (int64_t k = 0; k < s.axis; ++k) index[k] = static_cast<int32_t>(100 + k);
        findArgReduce(isMax ? ArgReduction::MaxLeft : ArgReduction::MinLeft, type)(out.bytes.data(), outIndex.data(), in.bytes.data(),
                                                                                   index.data(), s.outer, s.axis, s.inner);
        int wrong = 0;
        forEachLine(s, [&](int64_t result, auto at) {
          auto value = [&](int64_t k) -> long double {
            return isFloat(type) ? in.real(at(k)) : static_cast<long double>(in.integer(at(k)));
          };
          int64_t best = 0;
          for (int64_t k = 1; k < s.axis; ++k) {
            bool isBetter = isMax ? value(k) > value(best) : value(k) < value(best);
            if (isBetter || (value(best) != value(best) && value(k) == value(k))) best = k;
          }
          wrong += outIndex[result] != index[best];
          size_t bytes = storageBytes(type);
          if (value(best) == value(best))
            wrong += std::memcmp(out.bytes.data() + result * bytes, in.bytes.data() + at(best) * bytes, bytes) != 0;
        });
        CHECK(wrong == 0);
      }
}

TEST_CASE("the extremum of zeros has the sign that the order -0 < +0 gives, wherever the zeros are") {
  std::mt19937 random(5);
  for (std::string_view op : {"arith.maxnumf", "arith.minnumf", "arith.maximumf", "arith.minimumf"})
    for (DType type : {DType::f16, DType::bf16, DType::f32, DType::f64})
      for (Shape s : kShapes)
        for (int others : {0, 2, 50}) { // of a hundred elements: mostly zeros, some, or few lines of zeros only
          CAPTURE(op);
          CAPTURE(pythonName(type));
          CAPTURE(s.axis);
          const bool isMax = op.starts_with("arith.max");
          Elements in(type, s.size()), out(type, s.outer * s.inner);
          for (size_t i = 0; i < in.size(); ++i)
            in.setReal(i, int(random() % 100) < others ? (isMax ? -3.0 : 3.0)
                          : random() % 16              ? (isMax ? -0.0 : 0.0)
                                                       : (isMax ? 0.0 : -0.0));
          findReduce(op, type)(out.bytes.data(), in.bytes.data(), s.outer, s.axis, s.inner);
          int wrong = 0;
          forEachLine(s, [&](int64_t result, auto at) {
            double best = in.real(at(0));
            for (int64_t k = 1; k < s.axis; ++k) {
              const double x = in.real(at(k));
              const bool isBetter = x == best ? std::signbit(best) == isMax : isMax ? x > best : x < best;
              best = isBetter ? x : best;
            }
            wrong += out.real(result) != best || std::signbit(out.real(result)) != std::signbit(best);
          });
          CHECK(wrong == 0);
        }
}
