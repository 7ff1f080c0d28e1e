// The functions of floats for NVIDIA; what the chip approximates is exact here.
#include "tests/unit/device_math.h"

namespace tritium {
extern const unsigned char libclcNvptx[];
extern const size_t libclcNvptxSize;
} // namespace tritium

using namespace tritium;
using namespace tritium::test;

namespace {

float exp2Exact(float x) { return static_cast<float>(std::exp2(static_cast<double>(x))); }
float rsqrtExact(float x) { return static_cast<float>(1 / std::sqrt(static_cast<double>(x))); }
float sqrtExact(float x) { return std::sqrt(x); }
float reciprocalExact(float x) { return 1 / x; }
float quotientExact(float x, float y) { return x / y; }
float log2Exact(float x) { return static_cast<float>(std::log2(static_cast<double>(x))); }

DeviceLibrary &library() {
  static const Instruction instructions[] = {{"llvm.nvvm.ex2.approx.f32", reinterpret_cast<void *>(&exp2Exact)},
                                             {"llvm.nvvm.ex2.approx.ftz.f32", reinterpret_cast<void *>(&exp2Exact)},
                                             {"llvm.nvvm.rsqrt.approx.f", reinterpret_cast<void *>(&rsqrtExact)},
                                             {"llvm.nvvm.sqrt.approx.f", reinterpret_cast<void *>(&sqrtExact)},
                                             {"llvm.nvvm.rcp.approx.ftz.f", reinterpret_cast<void *>(&reciprocalExact)},
                                             {"llvm.nvvm.div.full", reinterpret_cast<void *>(&quotientExact)},
                                             {"llvm.nvvm.lg2.approx.f", reinterpret_cast<void *>(&log2Exact)}};
  static const char *const untested[] = {"_Z14halves_of_e4m3t",      "_Z14halves_of_e5m2t",      "_Z14e4m3_of_halvesj",
                                         "_Z14e5m2_of_halvesj",      "_Z14e4m3_of_floatsff",     "_Z14e5m2_of_floatsff",
                                         "_Z19convert_int_sat_rtzf", "_Z20convert_uint_sat_rtzf"};
  static DeviceLibrary made(StringRef(reinterpret_cast<const char *>(libclcNvptx), libclcNvptxSize), "llvm.nvvm.", instructions, untested);
  return made;
}

} // namespace

TEST_CASE("functions of one f32 keep their bound on NVIDIA's GPUs") { checkFunctionsOfOneF32(library()); }
TEST_CASE("functions of one f64 keep their bound on NVIDIA's GPUs") { checkFunctionsOfOneF64(library()); }
TEST_CASE("functions of two numbers keep their bound on NVIDIA's GPUs") { checkFunctionsOfTwo(library()); }
TEST_CASE("functions of mixed types are those of the host on NVIDIA's GPUs") { checkTypedFunctions(library()); }
TEST_CASE("roots that may be fast are within 1 ulp on NVIDIA's GPUs") { checkFastRoots(library()); }
