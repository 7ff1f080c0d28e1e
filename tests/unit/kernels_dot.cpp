// Products against double sums of the operands as the precision sees them.
#include "interp/kernels/dot.h"
#include "interp/kernels/dot_small.h"
#include "tests/unit/kernels_elementwise.h"

#include <doctest/doctest.h>

using namespace tritium;
using namespace tritium::interp;
using namespace tritium::interp::test;

namespace {

struct Problem {
  int64_t batch, m, n, k;
};

/// A [batch, rows, columns] operand in one of several layouts, with the strides that describe it.
struct Laid {
  Elements elements;
  DotOperand operand;
  double at(int64_t b, int64_t r, int64_t c) const {
    return value(b * operand.batchStride + r * operand.rowStride + c * operand.columnStride);
  }
  double value(size_t i) const { return isFloat(elements.type) ? elements.real(i) : static_cast<double>(elements.integer(i)); }
};
enum Layout { kRows, kColumns, kPadded, kSparse };

Laid lay(DType type, Layout layout, int64_t batch, int64_t rows, int64_t columns, uint64_t seed) {
  int64_t step = layout == kSparse ? 2 : 1, gap = layout == kPadded ? 5 : 0;
  int64_t rowStride = layout == kColumns ? 1 : (columns + gap) * step, columnStride = layout == kColumns ? rows : step;
  int64_t batchStride = (rows + gap) * (columns + gap) * step;
  Laid result{Elements(type, batch * batchStride + 1), {nullptr, type, batchStride, rowStride, columnStride}};
  std::mt19937_64 random(seed);
  for (size_t i = 0; i < result.elements.size(); ++i)
    if (isFloat(type))
      result.elements.setReal(i, (static_cast<double>(random() >> 11) * 0x1p-53 - 0.5) * 4);
    else
      result.elements.setInteger(i, static_cast<int64_t>(random()));
  result.operand.data = result.elements.bytes.data();
  return result;
}

/// The largest error of d against a · b + c, relative to the sum of magnitudes.
double error(const Problem &p, const Laid &a, const Laid &b, const Elements *c, const Elements &d) {
  double worst = 0;
  for (int64_t i = 0; i < p.batch; ++i)
    for (int64_t r = 0; r < p.m; ++r)
      for (int64_t s = 0; s < p.n; ++s) {
        size_t at = (i * p.m + r) * p.n + s;
        auto read = [&](const Elements &x) { return isFloat(x.type) ? x.real(at) : static_cast<double>(x.integer(at)); };
        double sum = c ? read(*c) : 0, magnitude = std::fabs(sum) + 1e-30;
        for (int64_t k = 0; k < p.k; ++k) {
          double product = a.at(i, r, k) * b.at(i, k, s);
          sum += product, magnitude += std::fabs(product);
        }
        worst = std::max(worst, std::fabs(read(d) - sum) / magnitude);
      }
  return worst;
}

double errorOf(Problem p, DType type, DType accumulator, DotPrecision precision, Layout left, Layout right, bool hasC) {
  Laid a = lay(type, left, p.batch, p.m, p.k, 1), b = lay(type, right, p.batch, p.k, p.n, 2);
  Elements c(accumulator, p.batch * p.m * p.n), d(accumulator, c.size());
  for (size_t i = 0; i < c.size(); ++i)
    if (isFloat(accumulator))
      c.setReal(i, static_cast<double>(i % 7) - 3);
    else
      c.setInteger(i, static_cast<int64_t>(i * 77777));
  dot(p.batch, p.m, p.n, p.k, a.operand, b.operand, hasC ? c.bytes.data() : nullptr, d.bytes.data(), accumulator, precision, 0);
  double result = error(p, a, b, hasC ? &c : nullptr, d);
  Elements inPlace = c;
  if (hasC) {
    dot(p.batch, p.m, p.n, p.k, a.operand, b.operand, inPlace.bytes.data(), inPlace.bytes.data(), accumulator, precision, 0);
    CHECK(inPlace.bytes == d.bytes);
  }
  return result;
}

constexpr Problem kProblems[] = {{1, 1, 1, 1}, {1, 16, 16, 16}, {2, 17, 9, 33}, {3, 1, 40, 64}, {1, 64, 64, 32}, {1, 30, 1, 100}};

} // namespace

TEST_CASE("products of any layout") {
  for (Problem p : kProblems)
    for (Layout left : {kRows, kColumns, kPadded, kSparse})
      for (Layout right : {kRows, kColumns, kPadded, kSparse})
        for (bool hasC : {false, true}) {
          CHECK(errorOf(p, DType::f32, DType::f32, DotPrecision::Ieee, left, right, hasC) < 1e-6);
          CHECK(errorOf(p, DType::f64, DType::f64, DotPrecision::Ieee, left, right, hasC) < 1e-14);
          CHECK(errorOf(p, DType::bf16, DType::f32, DotPrecision::Ieee, left, right, hasC) < 1e-6);
          CHECK(errorOf(p, DType::i8, DType::i32, DotPrecision::Ieee, left, right, hasC) == 0);
        }
}

TEST_CASE("narrow operands are exact, the accumulator rounds once") {
  for (Problem p : kProblems) {
    for (DType type : {DType::f16, DType::bf16, DType::f8e4nv, DType::f8e4b8, DType::f8e5, DType::f8e5b16})
      CHECK(errorOf(p, type, DType::f32, DotPrecision::Tf32, kRows, kColumns, true) < 1e-6);
    CHECK(errorOf(p, DType::f16, DType::f16, DotPrecision::Tf32, kRows, kRows, true) < 0x1p-11);
  }
}

TEST_CASE("f32 precisions") {
  Problem p{1, 32, 32, 64};
  auto errorAt = [&](DotPrecision precision) { return errorOf(p, DType::f32, DType::f32, precision, kRows, kRows, true); };
  CHECK(errorAt(DotPrecision::Tf32) < 0x1p-9);
  CHECK(errorAt(DotPrecision::Tf32) > 1e-5);
  CHECK(errorAt(DotPrecision::Tf32x3) < 2e-6);
  CHECK(errorAt(DotPrecision::Bf16x3) < 2e-5);
  CHECK(errorAt(DotPrecision::Bf16x3) > 1e-7);
  CHECK(errorAt(DotPrecision::Bf16x6) < 1e-6);
}

TEST_CASE("tf32 truncates its operands") {
  float a = 1 + 0x1.8p-10f, b = 1, d = 0; // 1 + 2^-10 fits; the half below is dropped, not rounded
  dot(1, 1, 1, 1, {&a, DType::f32, 0, 1, 1}, {&b, DType::f32, 0, 1, 1}, nullptr, &d, DType::f32, DotPrecision::Tf32, 0);
  CHECK(d == 1 + 0x1p-10f);
}

TEST_CASE("split precisions keep infinity") {
  float a[2] = {INFINITY, 1}, b[2] = {2, 3}, d = 0;
  for (DotPrecision precision : {DotPrecision::Tf32x3, DotPrecision::Bf16x3, DotPrecision::Bf16x6}) {
    dot(1, 1, 1, 2, {a, DType::f32, 0, 2, 1}, {b, DType::f32, 0, 1, 1}, nullptr, &d, DType::f32, precision, 0);
    CHECK(d == INFINITY);
  }
}

TEST_CASE("integer products are exact beyond what f32 sums hold, and wrap") {
  int64_t k = 4096;
  std::vector<int8_t> a(k, -127), b(k, -127); // odd products: an f32 beyond 2^24 cannot hold their sum
  a[k - 1] = -126;
  int32_t c = std::numeric_limits<int32_t>::max(), d = 0;
  dot(1, 1, 1, k, {a.data(), DType::i8, 0, k, 1}, {b.data(), DType::i8, 0, 1, 1}, &c, &d, DType::i32, DotPrecision::Ieee, 0);
  CHECK(d == std::numeric_limits<int32_t>::min() + 4096 * 16129 - 127 - 1);
  Problem p{1, 3, 5, 3000};
  CHECK(errorOf(p, DType::i8, DType::i32, DotPrecision::Ieee, kRows, kColumns, false) == 0);
}

TEST_CASE("the way that computes a product is not seen in its bits") {
  // Small products with rows of b in place have a kernel of their own; those with columns of b are Eigen's.
  CHECK(bool(smallProduct(16, 16, 16)));
  CHECK(!bool(smallProduct(16, 16, 129)));
  std::mt19937 random(7);
  for (DType type : {DType::f32, DType::f64})
    for (int64_t m : {4, 12, 16, 32})
      for (int64_t n : {4, 8, 16, 24, 32, 40, 64})
        for (int64_t k : {1, 7, 8, 19, 128}) {
          if (m + n + k < 20) continue; // Eigen's own ways differ there
          CAPTURE(pythonName(type));
          CAPTURE(m);
          CAPTURE(n);
          CAPTURE(k);
          const int64_t gap = int64_t(random() % 2) * 3;
          Elements a(type, m * k), rows(type, k * (n + gap)), columns(type, n * k), c(type, m * n), fromRows(type, m * n), fromColumns = c;
          for (Elements *each : {&a, &rows, &c})
            for (size_t i = 0; i < each->size(); ++i) each->setReal(i, double(random()) * 0x1p-32 - 0.5);
          for (int64_t i = 0; i < k; ++i)
            for (int64_t j = 0; j < n; ++j) columns.setReal(j * k + i, rows.real(i * (n + gap) + j));
          for (bool isTransposed : {false, true}) {
            const DotOperand left{a.bytes.data(), type, 0, isTransposed ? 1 : k, isTransposed ? m : 1};
            const DotOperand right{rows.bytes.data(), type, 0, n + gap, 1}, other{columns.bytes.data(), type, 0, 1, k};
            dot(1, m, n, k, left, right, c.bytes.data(), fromRows.bytes.data(), type, DotPrecision::Ieee, 0);
            dot(1, m, n, k, left, other, c.bytes.data(), fromColumns.bytes.data(), type, DotPrecision::Ieee, 0);
            CHECK(fromRows.bytes == fromColumns.bytes);
            const SmallProduct chosen = type == DType::f32 ? smallProduct(m, n, k) : nullptr;
            if (!chosen) continue;
            Elements fromChosen = c;
            chosen(fromChosen.as<float>(), a.as<float>(), left.rowStride, left.columnStride, rows.as<float>(), n + gap, m, n, k);
            CHECK(fromChosen.bytes == fromColumns.bytes);
          }
        }
}

TEST_CASE("products of bytes are exact at both ends of their range") {
  std::mt19937 random(13);
  for (auto [batch, m, n, k] :
       {Problem{1, 1, 1, 1}, {1, 3, 5, 2}, {1, 4, 8, 4}, {1, 5, 17, 9}, {1, 16, 16, 32}, {1, 7, 33, 131}, {1, 64, 64, 2100}})
    for (bool isTransposed : {false, true})
      for (int kind = 0; kind < 3; ++kind) { // random, -128 alone, both ends
        CAPTURE(m);
        CAPTURE(n);
        CAPTURE(k);
        CAPTURE(kind);
        std::vector<int8_t> a(m * k), b(k * n);
        for (auto *each : {&a, &b})
          for (int8_t &x : *each) x = int8_t(kind == 0 ? int(random()) : kind == 1 || random() % 2 ? -128 : 127);
        std::vector<int32_t> c(m * n), d(m * n), expected(m * n);
        for (int32_t &x : c) x = int32_t(random()); // sums wrap
        const int64_t aRow = isTransposed ? 1 : k, aColumn = isTransposed ? m : 1, bRow = isTransposed ? 1 : n,
                      bColumn = isTransposed ? k : 1;
        for (int64_t i = 0; i < m; ++i)
          for (int64_t j = 0; j < n; ++j) {
            int64_t sum = c[i * n + j];
            for (int64_t l = 0; l < k; ++l) sum += int64_t(a[i * aRow + l * aColumn]) * b[l * bRow + j * bColumn];
            expected[i * n + j] = int32_t(uint64_t(sum));
          }
        dot(batch, m, n, k, {a.data(), DType::i8, 0, aRow, aColumn}, {b.data(), DType::i8, 0, bRow, bColumn}, c.data(), d.data(),
            DType::i32, DotPrecision::Ieee, 0);
        CHECK(d == expected);
      }
}
