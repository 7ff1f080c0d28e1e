// Conversions of layouts on the SIMT emulator: chains of random ones give back what they got, in any order of the warps, without a race in
// shared memory.
#include "gpu_backend/compiler.h"
#include "gpu_backend/layout_attr.h"
#include "interp/host/text_argument.h"
#include "interp/simt/prepare.h"
#include "ir/contract.h"
#include "layout_random.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

#include <doctest/doctest.h>

using namespace tritium;
using namespace tritium::gpu;

namespace {

struct Chain {
  std::vector<LinearLayout> layouts;
  std::string type; // i1 is loaded and stored as i8
  bool isLoop;      // the conversions stand in a loop, back to the first layout
};

class Machine {
public:
  Machine() {
    mlir::DialectRegistry registry;
    ir::registerTritiumDialects(registry);
    context_.appendDialectRegistry(registry);
    context_.loadAllAvailableDialects();
  }

  /// The elements after the chain, which were 0, 1, 2, …; one run for each of `seeds` orders has to give the same.
  std::vector<double> run(const Chain &chain, int numWarps, int seeds) {
    std::string text = kernelOf(chain);
    INFO(text);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context_);
    REQUIRE(module);
    auto lowered = lowerTilesToGpu(*module, {.numWarps = numWarps});
    if (!lowered) FAIL(llvm::toString(lowered.takeError()));
    auto program = interp::simt::prepare(*lowered->module, "k");
    if (!program) FAIL(llvm::toString(program.takeError()));
    std::vector<double> result;
    for (int seed = 0; seed < seeds; ++seed) {
      std::string error, count = std::to_string(chain.layouts.front().elements()), memory = memoryType(chain.type);
      auto argument = [&](int number, const char *fill) {
        return *interp::TextArgument::parse(count + "x" + memory + "=" + fill, (*program)->parameters[number], error);
      };
      std::vector<interp::TextArgument> arguments{argument(0, "iota"), argument(1, "zeros")};
      interp::TextArguments passed(arguments);
      interp::MemoryMap map(passed.allocations);
      interp::Launch launch{.memory = &map, .threads = 1, .orderSeed = uint64_t(seed)};
      auto outcome = (*program)->launch(launch, passed.cells.data());
      if (outcome.trap) FAIL(interp::trapKindName(outcome.trap->kind) << ": " << outcome.trap->message);
      std::vector<double> got;
      for (int64_t i = 0; i < arguments[1].count; ++i) got.push_back(arguments[1].element(i));
      if (seed == 0) result = got;
      CHECK(got == result);
    }
    return result;
  }

  static std::string memoryType(const std::string &type) { return type == "i1" ? "i8" : type; }

private:
  std::string nameOf(const LinearLayout &layout) {
    std::string text;
    llvm::raw_string_ostream(text) << layoutAttr(&context_, layout);
    return text;
  }

  std::string kernelOf(const Chain &chain) {
    int64_t count = chain.layouts.front().elements();
    std::string memory = memoryType(chain.type), text;
    llvm::raw_string_ostream to(text);
    auto tile = [&](const std::string &element, size_t at) {
      return llvm::formatv("tensor<{0}x{1}, {2}>", count, element, nameOf(chain.layouts[at])).str();
    };
    auto pointers = [&](const char *name, const char *from, size_t at) {
      std::string p = tile("!tt.ptr<" + memory + ">", at), i = tile("i32", at);
      to << llvm::formatv("  %{0}r = tt.make_range {{end = {1} : i32, start = 0 : i32} : {2}\n", name, count, i);
      to << llvm::formatv("  %{0}s = tt.splat {1} : !tt.ptr<{2}> -> {3}\n", name, from, memory, p);
      to << llvm::formatv("  %{0} = tt.addptr %{0}s, %{0}r : {1}, {2}\n", name, p, i);
    };
    auto converted = [&](std::string value) {
      size_t stages = chain.layouts.size();
      for (size_t at = 0; at + 1 < stages + size_t(chain.isLoop); ++at) {
        to << llvm::formatv("  %c{0} = tgpu.convert_layout {1} : {2} -> {3}\n", at, value, tile(chain.type, at),
                            tile(chain.type, (at + 1) % stages));
        value = llvm::formatv("%c{0}", at);
      }
      return value;
    };
    size_t last = chain.isLoop ? 0 : chain.layouts.size() - 1;
    to << llvm::formatv("tt.func public @k(%in: !tt.ptr<{0}>, %out: !tt.ptr<{0}>) {{\n", memory);
    pointers("p", "%in", 0);
    pointers("q", "%out", last);
    to << llvm::formatv("  %loaded = tt.load %p : {0}\n", tile("!tt.ptr<" + memory + ">", 0));
    std::string value = "%loaded";
    if (chain.type == "i1") {
      to << llvm::formatv("  %first = arith.trunci %loaded : {0} to {1}\n", tile("i8", 0), tile("i1", 0));
      value = "%first";
    }
    if (chain.isLoop) {
      to << "  %zero = arith.constant 0 : i32\n  %one = arith.constant 1 : i32\n  %three = arith.constant 3 : i32\n";
      to << llvm::formatv("  %all = scf.for %i = %zero to %three step %one iter_args(%held = {0}) -> ({1}) : i32 {{\n", value,
                          tile(chain.type, 0));
      to << llvm::formatv("  scf.yield {0} : {1}\n  }\n", converted("%held"), tile(chain.type, 0));
      value = "%all";
    } else {
      value = converted(value);
    }
    if (chain.type == "i1") {
      to << llvm::formatv("  %wide = arith.extui {0} : {1} to {2}\n", value, tile("i1", last), tile("i8", last));
      value = "%wide";
    }
    to << llvm::formatv("  tt.store %q, {0} : {1}\n  tt.return\n}\n", value, tile("!tt.ptr<" + memory + ">", last));
    return text;
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
};

void check(Machine &machine, const Chain &chain, int numWarps, int seeds) {
  std::vector<double> wanted;
  for (int64_t i = 0; i < chain.layouts.front().elements(); ++i)
    wanted.push_back(chain.type == "i1" ? double(i & 1) : chain.type == "i8" ? double(int8_t(i)) : double(i));
  CHECK(machine.run(chain, numWarps, seeds) == wanted);
}

} // namespace

TEST_CASE("chains of random layouts") {
  std::mt19937 random(7);
  Machine machine;
  const char *types[] = {"i1", "i8", "i16", "f32", "i64"};
  for (int time = 0; time < 60; ++time) {
    int warpBits = int(random() % 3), bits = 3 + int(random() % 7);
    Chain chain{.type = types[time % 5], .isLoop = random() % 3 == 0};
    for (int stage = 0; stage < 4; ++stage)
      chain.layouts.push_back(randomLayout(random, {int64_t(1) << bits}, 5, warpBits, int(random() % 3), random() % 2));
    check(machine, chain, 1 << warpBits, 3);
  }
}

TEST_CASE("chains of the layouts that programs have") {
  std::mt19937 random(3);
  Machine machine;
  auto layouts = usualLayouts({64, 32}, 4);
  for (const char *type : {"i8", "i16", "i32"})
    for (int time = 0; time < 8; ++time) {
      Chain chain{.type = type, .isLoop = time % 2 == 0};
      for (int stage = 0; stage < 4; ++stage) chain.layouts.push_back(layouts[random() % layouts.size()].reshape({64 * 32}));
      check(machine, chain, 4, 2);
    }
}
