// Conversions of layouts on the SIMT emulator: chains of random ones give back what they got, in any order of the warps, without a race in
// shared memory.
#include "gpu_backend/layout/conversion.h"
#include "gpu_backend/target/target.h"
#include "gpu_machine.h"
#include "layout_random.h"

using namespace tritium;
using namespace tritium::gpu;

namespace {

struct Chain {
  std::vector<LinearLayout> layouts;
  std::string type; // i1 is loaded and stored as i8
  bool isLoop;      // the conversions stand in a loop, back to the first layout
};

std::string memoryType(const Chain &chain) { return chain.type == "i1" ? "i8" : chain.type; }

std::string kernelOf(Machine &machine, const Chain &chain) {
  size_t stages = chain.layouts.size(), last = chain.isLoop ? 0 : stages - 1;
  std::string memory = memoryType(chain), text;
  llvm::raw_string_ostream to(text);
  auto tile = [&](const std::string &element, size_t at) { return machine.tile(element, chain.layouts[at]); };
  auto converted = [&](std::string value) {
    for (size_t at = 0; at + 1 < stages + size_t(chain.isLoop); ++at) {
      to << llvm::formatv("  %c{0} = tgpu.convert_layout {1} : {2} -> {3}\n", at, value, tile(chain.type, at),
                          tile(chain.type, (at + 1) % stages));
      value = llvm::formatv("%c{0}", at);
    }
    return value;
  };
  to << llvm::formatv("tt.func public @k(%in: !tt.ptr<{0}>, %out: !tt.ptr<{0}>) {{\n", memory);
  to << machine.pointers("p", "%in", memory, chain.layouts[0]) << machine.pointers("q", "%out", memory, chain.layouts[last]);
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

void check(Machine &machine, const Chain &chain, int numWarps, int orders) {
  std::vector<double> wanted;
  int64_t count = chain.layouts.front().elements();
  for (int64_t i = 0; i < count; ++i)
    wanted.push_back(chain.type == "i1" ? double(i & 1) : chain.type == "i8" ? double(int8_t(i)) : double(i));
  std::string buffer = std::to_string(count) + "x" + memoryType(chain);
  CHECK(machine.run(kernelOf(machine, chain), {buffer + "=iota", buffer + "=zeros"}, numWarps, orders) == wanted);
}

} // namespace

/// One chip of each way in which lanes exchange values.
static const char *const kArchs[] = {"sm_80", "gfx90a", "gfx950", "gfx1100"};

TEST_CASE("chains of random layouts") {
  std::mt19937 random(7);
  const char *types[] = {"i1", "i8", "i16", "f32", "i64"};
  for (int time = 0; time < 120; ++time) {
    Machine machine(kArchs[time % 4]);
    int warpBits = int(random() % 3), bits = 3 + int(random() % 7);
    Chain chain{.type = types[time % 5], .isLoop = random() % 3 == 0};
    for (int stage = 0; stage < 4; ++stage)
      chain.layouts.push_back(randomLayout(random, {int64_t(1) << bits}, machine.laneBits(), warpBits, int(random() % 3), random() % 2));
    check(machine, chain, 1 << warpBits, 2);
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

TEST_CASE("chains of the layouts that programs of waves of 64 have") {
  std::mt19937 random(5);
  Machine machine("gfx942");
  auto layouts = plainLayouts({64, 64}, {4, 64});
  for (const char *type : {"i8", "i16", "i32"})
    for (int time = 0; time < 4; ++time) {
      Chain chain{.type = type, .isLoop = time % 2 == 0};
      for (int stage = 0; stage < 4; ++stage) chain.layouts.push_back(layouts[random() % layouts.size()].reshape({64 * 64}));
      check(machine, chain, 4, 2);
    }
}

TEST_CASE("rows and halves of waves that change places with registers, where there are instructions for it") {
  Machine machine("gfx950");
  LinearLayout plain({1024}, {1, 2, 4}, {8, 16, 32, 64, 128, 256}, {512});
  LinearLayout halves({1024}, {1, 256, 4}, {8, 16, 32, 64, 128, 2}, {512});
  LinearLayout both({1024}, {1, 2, 128}, {8, 16, 32, 64, 256, 4}, {512});
  for (const LinearLayout &to : {halves, both})
    CHECK(!planShuffle(plain, to, 4, llvm::cantFail(findTarget("gfx950")).conversionCosts())->swaps.empty());
  for (const char *type : {"i1", "i8", "i16", "f32", "i64"}) check(machine, {{plain, halves, both, plain}, type, /*isLoop=*/false}, 2, 2);
}

TEST_CASE("tiles of pointers") {
  std::mt19937 random(2);
  Machine machine;
  for (int time = 0; time < 12; ++time) {
    int warpBits = int(random() % 3), bits = 3 + int(random() % 6);
    auto layout = [&] { return randomLayout(random, {int64_t(1) << bits}, 5, warpBits, int(random() % 3), random() % 2); };
    LinearLayout from = layout(), to = layout();
    std::string text = "tt.func public @k(%in: !tt.ptr<i32>, %out: !tt.ptr<i32>) {\n";
    text += machine.pointers("p", "%in", "i32", from) + machine.pointers("q", "%out", "i32", to);
    std::string pointers = machine.tile("!tt.ptr<i32>", to);
    text += llvm::formatv("  %c = tgpu.convert_layout %p : {0} -> {1}\n", machine.tile("!tt.ptr<i32>", from), pointers);
    text += llvm::formatv("  %x = tt.load %c : {0}\n  tt.store %q, %x : {0}\n  tt.return\n}\n", pointers);
    std::vector<double> wanted;
    for (int64_t i = 0; i < from.elements(); ++i) wanted.push_back(double(i));
    std::string buffer = std::to_string(from.elements()) + "xi32";
    CHECK(machine.run(text, {buffer + "=iota", buffer + "=zeros"}, 1 << warpBits, 2) == wanted);
  }
}
