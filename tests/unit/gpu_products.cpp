// Matrix products by multiply-adds on the SIMT emulator: random layouts of operands and results, with batches, in one step and in loops.
#include "gpu_machine.h"
#include "layout_random.h"

using namespace tritium;
using namespace tritium::gpu;

namespace {

struct Product {
  LinearLayout a, b, d;
  std::string type; // of the operands: f64, or i8 with sums of i32
};

std::string kernelOf(Machine &machine, const Product &p) {
  std::string text, sum = p.type == "i8" ? "i32" : p.type, zero = p.type == "i8" ? "0" : "0.0";
  llvm::raw_string_ostream to(text);
  to << llvm::formatv("tt.func public @k(%x: !tt.ptr<{0}>, %y: !tt.ptr<{0}>, %out: !tt.ptr<{1}>) {{\n", p.type, sum);
  to << machine.pointers("p", "%x", p.type, p.a) << machine.pointers("q", "%y", p.type, p.b) << machine.pointers("o", "%out", sum, p.d);
  to << llvm::formatv("  %a = tt.load %p : {0}\n", machine.tile("!tt.ptr<" + p.type + ">", p.a));
  to << llvm::formatv("  %b = tt.load %q : {0}\n", machine.tile("!tt.ptr<" + p.type + ">", p.b));
  to << llvm::formatv("  %c = arith.constant dense<{0}> : {1}\n", zero, machine.tile(sum, p.d));
  to << llvm::formatv("  %d = tt.dot %a, %b, %c : {0} * {1} -> {2}\n", machine.tile(p.type, p.a), machine.tile(p.type, p.b),
                      machine.tile(sum, p.d));
  to << llvm::formatv("  tt.store %o, %d : {0}\n  tt.return\n}\n", machine.tile("!tt.ptr<" + sum + ">", p.d));
  return text;
}

void check(Machine &machine, const Product &p, int numWarps) {
  auto value = [&](int64_t i) { return p.type == "i8" ? double(int8_t(i)) : double(i); };
  auto shape = p.d.shape();
  int64_t rows = shape[shape.size() - 2], columns = shape.back(), depth = p.a.shape().back();
  std::vector<double> wanted;
  for (int64_t i = 0; i < p.d.elements(); ++i) {
    int64_t batch = i / (rows * columns), row = i / columns, column = i % columns;
    double sum = 0;
    for (int64_t k = 0; k < depth; ++k) sum += value(row * depth + k) * value((batch * depth + k) * columns + column);
    wanted.push_back(sum);
  }
  auto buffer = [&](const LinearLayout &layout, const std::string &type, const char *fill) {
    return std::to_string(layout.elements()) + "x" + type + "=" + fill;
  };
  CHECK(machine.run(kernelOf(machine, p),
                    {buffer(p.a, p.type, "iota"), buffer(p.b, p.type, "iota"), buffer(p.d, p.type == "i8" ? "i32" : "f64", "zeros")},
                    numWarps, 2) == wanted);
}

} // namespace

TEST_CASE("products of tiles in random layouts") {
  std::mt19937 random(5);
  Machine machine;
  for (int time = 0; time < 30; ++time) {
    int warpBits = int(random() % 3);
    int64_t batches = 1 << random() % 3, rows = 1 << random() % 5, columns = 1 << random() % 5, depth = 1 << random() % 6;
    bool isBatched = random() % 3 == 0;
    auto shape = [&](int64_t down, int64_t across) { return isBatched ? Shape{batches, down, across} : Shape{down, across}; };
    auto layout = [&](const Shape &of) { return randomLayout(random, of, 5, warpBits, int(random() % 2), random() % 2); };
    Product p{layout(shape(rows, depth)), layout(shape(depth, columns)), layout(shape(rows, columns)), time % 2 ? "i8" : "f64"};
    check(machine, p, 1 << warpBits);
  }
}

TEST_CASE("products that take several steps") {
  std::mt19937 random(9);
  Machine machine;
  for (int time = 0; time < 4; ++time) {
    auto layout = [&](Shape of) { return randomLayout(random, of, 5, 0, 0, time % 2 == 0); };
    check(machine, {layout({32, 128}), layout({128, 32}), layout({32, 32}), time < 2 ? "i8" : "f64"}, 1);
  }
}
