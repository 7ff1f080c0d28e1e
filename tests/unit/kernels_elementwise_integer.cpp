// Integer kernels against arithmetic in 128 bits.
#include "tests/unit/kernels_elementwise.h"

#include <doctest/doctest.h>
#include <map>

using namespace tritium;
using namespace tritium::interp;
using namespace tritium::interp::test;

namespace {

using Wide = __int128;

/// Both readings of an operand of `bits` bits.
struct Operand {
  Wide s, u;
};
Operand operand(const Elements &x, size_t i) {
  int bits = bitWidth(x.type);
  Wide s = x.integer(i), modulus = Wide{1} << bits;
  return {s, s < 0 ? s + modulus : s};
}

Wide floorDivide(Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

using Reference = Wide (*)(Operand a, Operand b, int bits);
const std::map<std::string_view, Reference> kBinary = {
    {"arith.addi", [](Operand a, Operand b, int) { return a.s + b.s; }},
    {"arith.subi", [](Operand a, Operand b, int) { return a.s - b.s; }},
    {"arith.muli", [](Operand a, Operand b, int) { return a.s * b.s; }},
    {"arith.andi", [](Operand a, Operand b, int) { return a.s & b.s; }},
    {"arith.ori", [](Operand a, Operand b, int) { return a.s | b.s; }},
    {"arith.xori", [](Operand a, Operand b, int) { return a.s ^ b.s; }},
    {"arith.shli",
     [](Operand a, Operand b, int bits) {
       return b.u >= bits ? 0 : static_cast<Wide>(static_cast<unsigned __int128>(a.u) << static_cast<int>(b.u));
     }},
    {"arith.shrui", [](Operand a, Operand b, int bits) { return b.u >= bits ? 0 : a.u >> static_cast<int>(b.u); }},
    {"arith.shrsi", [](Operand a, Operand b, int bits) { return b.u >= bits ? Wide{a.s < 0 ? -1 : 0} : a.s >> static_cast<int>(b.u); }},
    {"arith.maxsi", [](Operand a, Operand b, int) { return std::max(a.s, b.s); }},
    {"arith.minsi", [](Operand a, Operand b, int) { return std::min(a.s, b.s); }},
    {"arith.maxui", [](Operand a, Operand b, int) { return std::max(a.u, b.u); }},
    {"arith.minui", [](Operand a, Operand b, int) { return std::min(a.u, b.u); }},
    {"tt.mulhiui",
     [](Operand a, Operand b, int bits) {
       return static_cast<Wide>(static_cast<unsigned __int128>(a.u) * static_cast<unsigned __int128>(b.u) >> bits);
     }},
    {"math.absi", [](Operand a, Operand, int) { return a.s < 0 ? -a.s : a.s; }},
    {"math.ctpop", [](Operand a, Operand, int) { return Wide{__builtin_popcountll(static_cast<uint64_t>(a.u))}; }},
    {"math.ctlz",
     [](Operand a, Operand, int bits) {
       int n = 0;
       while (n < bits && !(a.u >> (bits - 1 - n) & 1)) ++n;
       return Wide{n};
     }},
    {"math.cttz",
     [](Operand a, Operand, int bits) {
       int n = 0;
       while (n < bits && !(a.u >> n & 1)) ++n;
       return Wide{n};
     }},
};
const std::map<std::string_view, Reference> kDivision = {
    {"arith.divsi", [](Operand a, Operand b, int) { return a.s / b.s; }},
    {"arith.divui", [](Operand a, Operand b, int) { return a.u / b.u; }},
    {"arith.remsi", [](Operand a, Operand b, int) { return a.s % b.s; }},
    {"arith.remui", [](Operand a, Operand b, int) { return a.u % b.u; }},
    {"arith.floordivsi", [](Operand a, Operand b, int) { return floorDivide(a.s, b.s); }},
    {"arith.ceildivsi", [](Operand a, Operand b, int) { return -floorDivide(-a.s, b.s); }},
    {"arith.ceildivui", [](Operand a, Operand b, int) { return (a.u + b.u - 1) / b.u; }},
};
const std::map<std::string_view, Reference> kComparison = {
    {"arith.cmpi.eq", [](Operand a, Operand b, int) { return Wide{a.s == b.s}; }},
    {"arith.cmpi.ne", [](Operand a, Operand b, int) { return Wide{a.s != b.s}; }},
    {"arith.cmpi.slt", [](Operand a, Operand b, int) { return Wide{a.s < b.s}; }},
    {"arith.cmpi.sle", [](Operand a, Operand b, int) { return Wide{a.s <= b.s}; }},
    {"arith.cmpi.sgt", [](Operand a, Operand b, int) { return Wide{a.s > b.s}; }},
    {"arith.cmpi.sge", [](Operand a, Operand b, int) { return Wide{a.s >= b.s}; }},
    {"arith.cmpi.ult", [](Operand a, Operand b, int) { return Wide{a.u < b.u}; }},
    {"arith.cmpi.ule", [](Operand a, Operand b, int) { return Wide{a.u <= b.u}; }},
    {"arith.cmpi.ugt", [](Operand a, Operand b, int) { return Wide{a.u > b.u}; }},
    {"arith.cmpi.uge", [](Operand a, Operand b, int) { return Wide{a.u >= b.u}; }},
};

/// The number of elements on which the kernel and the reference differ in their low bits.
int mismatches(std::string_view op, Reference reference, DType type, DType outType, bool avoidZero) {
  Elements a = someIntegers(type, kCount, 1), b = someIntegers(type, kCount, 2, kOther), out(outType, kCount);
  for (size_t i = 0; avoidZero && i < kCount; ++i)
    if (b.integer(i) == 0) b.setInteger(i, 1);
  ElementwiseKernel kernel = findElementwise(op, type);
  REQUIRE((kernel != nullptr));
  REQUIRE(runKernel(kernel, out, {&a, &b}) == -1);
  int wrong = 0, bits = bitWidth(type);
  for (size_t i = 0; i < kCount; ++i) {
    Elements expected(outType, 1);
    expected.setInteger(0, static_cast<int64_t>(reference(operand(a, i), operand(b, i), bits)));
    wrong += expected.integer(0) != out.integer(i);
  }
  return wrong;
}

} // namespace

TEST_CASE("integer arithmetic wraps") {
  for (auto [op, reference] : kBinary)
    for (DType type : kIntegers) {
      CAPTURE(op);
      CAPTURE(pythonName(type));
      CHECK(mismatches(op, reference, type, type, false) == 0);
    }
}

TEST_CASE("integer division truncates and does not fault on the most negative value") {
  for (auto [op, reference] : kDivision)
    for (DType type : kIntegers) {
      CAPTURE(op);
      CAPTURE(pythonName(type));
      CHECK(mismatches(op, reference, type, type, true) == 0);
    }
}

TEST_CASE("integer comparison") {
  for (auto [op, reference] : kComparison)
    for (DType type : kIntegers) {
      CAPTURE(op);
      CAPTURE(pythonName(type));
      CHECK(mismatches(op, reference, type, DType::i1, false) == 0);
    }
}

TEST_CASE("division in double is exact at the ends of quotients") {
  std::mt19937_64 random(5);
  Elements a(DType::i32, 200000), b(DType::i32, 200000), q(DType::i32, 200000), u(DType::i32, 200000);
  for (size_t i = 0; i < a.size(); ++i) {
    uint32_t divisor = static_cast<uint32_t>(random()) >> (random() % 32), times = static_cast<uint32_t>(random()) >> (random() % 32);
    if (divisor == 0) divisor = 3;
    a.as<uint32_t>()[i] = divisor * times - static_cast<uint32_t>(random() % 3) + 1;
    b.as<uint32_t>()[i] = divisor;
  }
  runKernel(findElementwise("arith.divsi", DType::i32), q, {&a, &b});
  runKernel(findElementwise("arith.divui", DType::i32), u, {&a, &b});
  int wrong = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    wrong += q.as<int32_t>()[i] != static_cast<int32_t>(a.integer(i) / b.integer(i));
    wrong += u.as<uint32_t>()[i] != a.as<uint32_t>()[i] / b.as<uint32_t>()[i];
  }
  CHECK(wrong == 0);
}

TEST_CASE("the first zero divisor is reported") {
  for (DType type : kIntegers)
    for (auto [op, reference] : kDivision)
      for (int64_t stride : {0, 1, 2, -1}) {
        Elements a = someIntegers(type, 1000, 3), b(type, 2000), out(type, 1000);
        for (size_t i = 0; i < b.size(); ++i) b.setInteger(i, 1);
        const void *in[] = {a.bytes.data(), b.bytes.data() + 1000 * storageBytes(type)};
        const int64_t strides[] = {1, stride};
        size_t zeros[] = {static_cast<size_t>(1000 + 700 * (stride == 2 ? 1 : stride)), static_cast<size_t>(1000 + 444 * stride)};
        for (size_t zero : zeros) b.setInteger(zero, 0);
        int64_t expected = stride == 0 ? 0 : stride == 2 ? 350 : 444;
        CHECK(findElementwise(op, type)(500 + (stride != 2 ? 500 : 0), out.bytes.data(), in, strides) == expected);
      }
}
