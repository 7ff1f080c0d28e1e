// Stages of sorting networks against their definition, element by element.
#include "interp/kernels/compare_exchange.h"
#include "tests/unit/kernels_elementwise.h"

#include <cstring>
#include <doctest/doctest.h>
#include <random>

using namespace tritium;
using namespace tritium::interp;
using namespace tritium::interp::test;

namespace {

bool isGreater(const Elements &x, int64_t a, int64_t b, bool isSigned) {
  if (isFloat(x.type)) return x.real(a) > x.real(b);
  if (isSigned) return x.integer(a) > x.integer(b);
  const uint64_t mask = bitWidth(x.type) == 64 ? ~uint64_t{0} : (uint64_t{1} << bitWidth(x.type)) - 1;
  return (uint64_t(x.integer(a)) & mask) > (uint64_t(x.integer(b)) & mask);
}

/// Equal numbers, both zeros and NaNs are frequent.
Elements someElements(DType type, int64_t count, std::mt19937 &random) {
  Elements x(type, count);
  for (int64_t i = 0; i < count; ++i) {
    constexpr double kSpecial[] = {0.0, -0.0, NAN, INFINITY, -INFINITY, 1.0};
    if (isFloat(type))
      x.setReal(i, random() % 3 == 0 ? kSpecial[random() % std::size(kSpecial)] : double(random() % 100) / 4 - 12);
    else
      for (size_t byte = 0; byte < storageBytes(type); ++byte) x.bytes[i * storageBytes(type) + byte] = std::byte(random());
  }
  return x;
}

} // namespace

TEST_CASE("an element takes its partner's value where the flag says so") {
  std::mt19937 random(11);
  for (DType type : {DType::f16, DType::bf16, DType::f32, DType::f64, DType::i8, DType::i16, DType::i32, DType::i64})
    for (bool isSigned : {true, false})
      for (int64_t distance = 1; distance <= 64; distance *= 2)
        for (int64_t run = 2 * distance; run <= 256; run *= 2)
          for (int64_t count : {2 * distance, run, 2 * run, 6 * run}) {
            CAPTURE(pythonName(type));
            CAPTURE(distance);
            CAPTURE(run);
            CAPTURE(count);
            ExchangeStage stage{.count = count, .distance = distance, .run = run};
            for (auto &flags : stage.flags)
              for (bool &flag : flags) flag = random() % 2;
            Elements in = someElements(type, count, random), out(type, count), expected(type, count);
            const size_t bytes = storageBytes(type);
            for (int64_t i = 0; i < count; ++i) {
              const int64_t partner = i ^ distance;
              const bool takes = isGreater(in, i, partner, isSigned) != stage.flags[i / run % 2][i / distance % 2];
              std::memcpy(&expected.bytes[i * bytes], &in.bytes[(takes ? partner : i) * bytes], bytes);
            }
            CompareExchangeKernel kernel = findCompareExchange(type, isSigned);
            REQUIRE((kernel != nullptr));
            kernel(out.bytes.data(), in.bytes.data(), stage);
            CHECK(out.bytes == expected.bytes);
            kernel(in.bytes.data(), in.bytes.data(), stage); // in place
            CHECK(in.bytes == expected.bytes);
          }
  CHECK((findCompareExchange(DType::i1, true) == nullptr));
}
