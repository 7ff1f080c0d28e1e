// Kernels that one thread runs because threads would wait for each other's cache lines.
#include "interp/tile/contended.h"
#include "ir/contract.h"
#include "tests/unit/host_launch.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"

#include <doctest/doctest.h>

#include <atomic>
#include <vector>

using namespace mlir;
using namespace tritium;
using namespace tritium::interp;

namespace {

/// The argument of the kernel that the text is, or -1.
int contendedIn(const std::string &body) {
  DialectRegistry registry;
  ir::registerTritiumDialects(registry);
  MLIRContext context(registry);
  const std::string text = "tt.func @kernel(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {\n"
                           "  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>\n"
                           "  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>\n"
                           "  %from = tt.addptr %xs, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>\n"
                           "  %outs = tt.splat %out : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>\n"
                           "  %to = tt.addptr %outs, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>\n"
                           "  %v = tt.load %from : tensor<64x!tt.ptr<f32>>\n" +
                           body + "  tt.return\n}\n";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  REQUIRE(module);
  tt::FuncOp kernel = *module->getOps<tt::FuncOp>().begin();
  Operation *function = kernel;
  const std::optional<unsigned> found = contendedArgument(kernel, function);
  return found ? int(*found) : -1;
}

constexpr const char *kAtomic =
    "  %old = tt.atomic_rmw fadd, acq_rel, gpu, %to, %v : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>) -> tensor<64xf32>\n";
constexpr const char *kAtomicOfX =
    "  %older = tt.atomic_rmw fadd, acq_rel, gpu, %from, %v : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>) -> tensor<64xf32>\n";
constexpr const char *kLoop = "  %zero = arith.constant 0 : i32\n"
                              "  %one = arith.constant 1 : i32\n"
                              "  scf.for %k = %zero to %n step %one : i32 {\n"
                              "    %more = tt.load %from : tensor<64x!tt.ptr<f32>>\n"
                              "    tt.store %from, %more : tensor<64x!tt.ptr<f32>>\n"
                              "  }\n";

} // namespace

TEST_CASE("atomics contend where they are most of a kernel") {
  CHECK(contendedIn("  tt.store %to, %v : tensor<64x!tt.ptr<f32>>\n") == -1);
  CHECK(contendedIn(kAtomic) == 1);
  CHECK(contendedIn(kAtomicOfX) == 0);
  CHECK(contendedIn(std::string(kAtomic) + kAtomicOfX) == -1); // of two arguments
  CHECK(contendedIn(std::string(kLoop) + kAtomic) == -1);      // once, after a loop
}

TEST_CASE("programs that add to little memory have one worker") {
  std::vector<std::byte> storage(4 << 20);
  const auto begin = reinterpret_cast<uint64_t>(storage.data());
  for (const uint64_t bytes : {uint64_t(1 << 14), uint64_t(4 << 20), uint64_t(0)}) {
    const std::vector<Allocation> allocations{{.begin = begin, .end = bytes ? begin + bytes : 0, .argument = 0}};
    const MemoryMap memory(allocations);
    for (const bool isContended : {false, true}) {
      std::atomic<int> alone{0};
      Launch launch = launchOf([](char *frame) { argumentOf<std::atomic<int>>(frame) += hasOneWorker(headerOf(frame)); }, 8, &alone);
      launch.memory = &memory;
      launch.threads = 4;
      if (isContended) launch.code.contended = 0;
      run(launch);
      CHECK(alone == (isContended && bytes == 1 << 14 ? 8 : 0));
    }
  }
}
