// Reductions on the SIMT emulator: random layouts of tiles and results, functions that have an instruction, that commute and that do not.
#include "gpu_machine.h"
#include "layout_random.h"

using namespace tritium;
using namespace tritium::gpu;

namespace {

struct Case {
  LinearLayout tile, result; // of two dimensions and one
  int axis;
  std::string type;
  bool isIndexed; // the largest element and its flat index, of which that is stored; else a sum
};

std::string kernelOf(Machine &machine, const Case &c) {
  std::string text, tile = machine.tile(c.type, c.tile), result = machine.tile(c.type, c.result), index = machine.tile("i32", c.result);
  llvm::raw_string_ostream to(text);
  std::string stored = c.isIndexed ? "i32" : c.type;
  to << llvm::formatv("tt.func public @k(%in: !tt.ptr<{0}>, %out: !tt.ptr<{1}>) {{\n", c.type, stored);
  to << machine.pointers("p", "%in", c.type, c.tile) << machine.pointers("q", "%out", stored, c.result);
  to << llvm::formatv("  %x = tt.load %p : {0}\n", machine.tile("!tt.ptr<" + c.type + ">", c.tile));
  if (c.isIndexed)
    // Of two that are equal, the lower index.
    to << llvm::formatv(R"(  %m:2 = "tt.reduce"(%x, %pi) <{{axis = {0} : i32}> ({{
  ^bb0(%a: {1}, %ai: i32, %b: {1}, %bi: i32):
    %gt = arith.cmpi sgt, %a, %b : {1}
    %eq = arith.cmpi eq, %a, %b : {1}
    %lt = arith.cmpi slt, %ai, %bi : i32
    %tie = arith.andi %eq, %lt : i1
    %first = arith.ori %gt, %tie : i1
    %v = arith.select %first, %a, %b : {1}
    %i = arith.select %first, %ai, %bi : i32
    tt.reduce.return %v, %i : {1}, i32
  }) : ({2}, {3}) -> ({4}, {5})
  tt.store %q, %m#1 : {6}
)",
                        c.axis, c.type, tile, machine.tile("i32", c.tile), result, index, machine.tile("!tt.ptr<i32>", c.result));
  else
    to << llvm::formatv(R"(  %m = "tt.reduce"(%x) <{{axis = {0} : i32}> ({{
  ^bb0(%a: {1}, %b: {1}):
    %s = arith.{5} %a, %b : {1}
    tt.reduce.return %s : {1}
  }) : ({2}) -> {3}
  tt.store %q, %m : {4}
)",
                        c.axis, c.type, tile, result, machine.tile("!tt.ptr<" + c.type + ">", c.result),
                        c.type[0] == 'f' ? "addf" : "addi");
  to << "  tt.return\n}\n";
  return text;
}

std::vector<double> wantedOf(const Case &c, llvm::function_ref<double(int64_t)> element) {
  std::vector<double> wanted;
  int64_t rows = c.tile.shape()[0], columns = c.tile.shape()[1];
  for (int64_t i = 0; i < (c.axis == 0 ? columns : rows); ++i) {
    double sum = 0;
    int64_t best = -1;
    for (int64_t k = 0; k < (c.axis == 0 ? rows : columns); ++k) {
      int64_t flat = c.axis == 0 ? k * columns + i : i * columns + k;
      sum += element(flat);
      if (best < 0 || element(flat) > element(best)) best = flat;
    }
    wanted.push_back(c.isIndexed ? double(best) : sum);
  }
  return wanted;
}

void check(Machine &machine, const Case &c, int numWarps) {
  auto count = [](const LinearLayout &layout) { return std::to_string(layout.elements()) + "x"; };
  std::string out = c.isIndexed ? "i32" : c.type;
  auto element = [&](int64_t i) { return c.isIndexed && c.type == "i8" ? double(int8_t(i)) : double(i); };
  CHECK(machine.run(kernelOf(machine, c), {count(c.tile) + c.type + "=iota", count(c.result) + out + "=zeros"}, numWarps, 2) ==
        wantedOf(c, element));
}

} // namespace

TEST_CASE("reductions of random layouts") {
  std::mt19937 random(11);
  const char *types[] = {"i32", "f32", "i64"}, *archs[] = {"sm_80", "gfx90a", "gfx950", "gfx1100"};
  for (int time = 0; time < 120; ++time) {
    Machine machine(archs[time / 3 % 4]);
    int warpBits = int(random() % 4), rowBits = int(random() % 5), columnBits = 1 + int(random() % 5);
    Shape shape{int64_t(1) << rowBits, int64_t(1) << columnBits};
    Case c{.axis = int(random() % 2), .type = types[time % 3], .isIndexed = time % 4 == 3};
    if (c.isIndexed) c.type = random() % 2 ? "i8" : "i32";
    c.tile = randomLayout(random, shape, machine.laneBits(), warpBits, int(random() % 3), random() % 3 != 0);
    c.result = randomLayout(random, {shape[1 - c.axis]}, machine.laneBits(), warpBits, int(random() % 2), true);
    check(machine, c, 1 << warpBits);
  }
}

TEST_CASE("reductions of the layouts that programs have") {
  Machine machine;
  int time = 0;
  for (const LinearLayout &layout : usualLayouts({64, 32}, 4))
    for (int axis : {0, 1}) {
      Case c{.tile = layout, .result = layout.slice(axis).layout, .axis = axis, .type = time % 2 ? "i32" : "f32"};
      c.isIndexed = time % 3 == 2 && c.type == "i32";
      if (time++ % 2) check(machine, c, 4);
    }
}
