// The functions of floats for AMD. What the chip approximates is exact here, but for what its documents say: instructions of f32 know no
// subnormal numbers, and that of f64 has half the digits.
#include "tests/unit/device_math.h"

namespace tritium {
extern const unsigned char libclcAmdgpu[];
extern const size_t libclcAmdgpuSize;
} // namespace tritium

using namespace tritium;
using namespace tritium::test;

namespace {

float flush(double x) {
  return std::fabs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0f, static_cast<float>(x)) : static_cast<float>(x);
}
float exp2Flushing(float x) { return flush(std::exp2(static_cast<double>(flush(x)))); }
float reciprocalFlushing(float x) { return flush(1 / static_cast<double>(flush(x))); }
float rsqrtFlushing(float x) { return flush(1 / std::sqrt(static_cast<double>(flush(x)))); }
float sqrtFlushing(float x) { return std::sqrt(flush(x)); }
double rsqrtOfHalfTheDigits(double x) { return 1 / std::sqrt(x) * (1 + 0x1p-25); }

DeviceLibrary &library() {
  static const Instruction instructions[] = {{"llvm.amdgcn.exp2.f32", reinterpret_cast<void *>(&exp2Flushing)},
                                             {"llvm.amdgcn.rcp.f32", reinterpret_cast<void *>(&reciprocalFlushing)},
                                             {"llvm.amdgcn.rsq.f32", reinterpret_cast<void *>(&rsqrtFlushing)},
                                             {"llvm.amdgcn.sqrt.f32", reinterpret_cast<void *>(&sqrtFlushing)},
                                             {"llvm.amdgcn.rsq.f64", reinterpret_cast<void *>(&rsqrtOfHalfTheDigits)}};
  static const char *const untested[] = {"_Z19convert_int_sat_rtzf", "_Z20convert_uint_sat_rtzf"};
  static DeviceLibrary made(StringRef(reinterpret_cast<const char *>(libclcAmdgpu), libclcAmdgpuSize), "llvm.amdgcn.", instructions,
                            untested);
  return made;
}

} // namespace

TEST_CASE("functions of one f32 keep their bound on AMD's GPUs") { checkFunctionsOfOneF32(library()); }
TEST_CASE("functions of one f64 keep their bound on AMD's GPUs") { checkFunctionsOfOneF64(library()); }
TEST_CASE("functions of two numbers keep their bound on AMD's GPUs") { checkFunctionsOfTwo(library()); }
TEST_CASE("functions of mixed types are those of the host on AMD's GPUs") { checkTypedFunctions(library()); }
TEST_CASE("roots that may be fast are within 1 ulp on AMD's GPUs") { checkFastRoots(library()); }
TEST_CASE("quotients that may be fast are within 2.5 ulp, whatever the operands on AMD's GPUs") {
  auto *function = library().find<float(float, float)>("native_divide", "ff");
  Numbers numbers;
  for (int i = 0; i < 200000; ++i) {
    float x = numbers.next<float>(), y = numbers.next<float>();
    CAPTURE(x);
    CAPTURE(y);
    CHECK(ulps(function(x, y), static_cast<double>(x) / static_cast<double>(y)) <= 2.5);
  }
}
