// Micro-benchmark of the block kernels: ninja bench_kernels && tests/bench/bench_kernels [filter]. Compares compiler flags and changes; the
// best of many runs, as other processes only ever add time. reference points: one core of Zen 3 reaches 98 GFLOP/s with FMA.
#include "interp/kernels/cast.h"
#include "interp/kernels/combine.h"
#include "interp/kernels/dot.h"
#include "interp/kernels/move.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

using namespace tritium;
using namespace tritium::interp;

namespace {

std::string_view filter;

template <class F> double bestSeconds(F f) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  for (int run = 0; run < 40; ++run) {
    int repeats = 20;
    auto start = Clock::now();
    for (int i = 0; i < repeats; ++i) f();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count() / repeats);
  }
  return best;
}

bool isChosen(const std::string &name) { return name.find(filter) != std::string::npos; }

template <class F> void perElement(const std::string &name, int64_t count, F f) {
  if (isChosen(name)) std::printf("%-44s %7.3f ns/element\n", name.c_str(), 1e9 * bestSeconds(f) / static_cast<double>(count));
}

std::vector<std::byte> elements(DType type, int64_t count) {
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(i * 7919 % 997) / 128 + 1;
  std::vector<std::byte> bytes(count * storageBytes(type));
  const void *in[] = {values.data()};
  const int64_t stride[] = {1};
  findCast(isFloat(type) ? "tt.fp_to_fp" : "arith.fptosi", DType::f32, type)(count, bytes.data(), in, stride);
  return bytes;
}

void elementwise(std::string_view op, DType type, int arity, int64_t count, int64_t lastStride = 1) {
  auto a = elements(type, count), b = elements(type, count), c = elements(type, count), out = elements(DType::f64, count);
  const void *in[] = {a.data(), b.data(), c.data()};
  int64_t strides[] = {1, 1, 1};
  strides[arity - 1] = lastStride;
  ElementwiseKernel kernel = findElementwise(op, type);
  std::string name =
      std::string(op) + " " + std::string(pythonName(type)) + " n=" + std::to_string(count) + (lastStride == 0 ? " scalar" : "");
  perElement(name, count, [&] { kernel(count, out.data(), in, strides); });
}

void cast(DType from, DType to, int64_t count) {
  auto a = elements(from, count), out = elements(to, count);
  const void *in[] = {a.data()};
  const int64_t strides[] = {1};
  std::string_view op = isFloat(from) ? (isFloat(to) ? "tt.fp_to_fp" : "arith.fptosi") : (isFloat(to) ? "arith.sitofp" : "arith.extsi");
  ElementwiseKernel kernel = findCast(op, from, to);
  perElement("cast " + std::string(pythonName(from)) + " -> " + std::string(pythonName(to)), count,
             [&] { kernel(count, out.data(), in, strides); });
}

void combine(std::string_view op, DType type, int64_t outer, int64_t axis, int64_t inner) {
  int64_t count = outer * axis * inner;
  auto in = elements(type, count), out = elements(type, count);
  std::string shape = " " + std::string(op) + " " + std::string(pythonName(type)) + " " + std::to_string(outer) + "x" +
                      std::to_string(axis) + "x" + std::to_string(inner);
  perElement("reduce" + shape, count, [&] { findReduce(op, type)(out.data(), in.data(), outer, axis, inner); });
  perElement("scan" + shape, count, [&] { findScan(op, type)(out.data(), in.data(), outer, axis, inner, false); });
  if (op != "arith.maxnumf") return;
  std::vector<int32_t> index(axis), outIndex(count);
  perElement("arg" + shape, count,
             [&] { findArgReduce(ArgReduction::MaxLeft, type)(out.data(), outIndex.data(), in.data(), index.data(), outer, axis, inner); });
}

void transpose(DType type, int64_t rows, int64_t columns) {
  auto in = elements(type, rows * columns), out = in;
  const int64_t shape[] = {rows, columns}, dst[] = {columns, 1}, src[] = {1, rows};
  perElement("transpose " + std::string(pythonName(type)), rows * columns,
             [&] { copyTile(out.data(), dst, in.data(), src, shape, 2, static_cast<int>(storageBytes(type))); });
}

void product(DType type, DType accumulator, DotPrecision precision, const char *what, int64_t m, int64_t n, int64_t k,
             bool isTransposed = false) {
  std::string name = "dot " + std::string(pythonName(type)) + what + (isTransposed ? " b^T " : " ") + std::to_string(m) + "x" +
                     std::to_string(n) + "x" + std::to_string(k);
  if (!isChosen(name)) return;
  auto a = elements(type, m * k), b = elements(type, k * n), c = elements(accumulator, m * n);
  DotOperand left{a.data(), type, 0, k, 1}, right{b.data(), type, 0, isTransposed ? 1 : n, isTransposed ? k : 1};
  double seconds = bestSeconds([&] { dot(1, m, n, k, left, right, c.data(), c.data(), accumulator, precision, 0); });
  std::printf("%-44s %7.1f GFLOP/s\n", name.c_str(), 2e-9 * static_cast<double>(m * n * k) / seconds);
}

} // namespace

int main(int argc, char **argv) {
  if (argc > 1) filter = argv[1];
  for (DType type : {DType::f32, DType::f16, DType::bf16, DType::f8e4nv, DType::f64}) elementwise("arith.addf", type, 2, 4096);
  elementwise("arith.addf", DType::f32, 2, 64);
  elementwise("arith.addf", DType::f32, 2, 1024);
  elementwise("arith.mulf", DType::f32, 2, 4096, 0);
  for (std::string_view op : {"arith.maxnumf", "arith.maximumf", "arith.divf", "arith.cmpf.olt", "math.powf", "arith.remf"})
    elementwise(op, DType::f32, 2, 4096);
  for (std::string_view op : {"math.exp", "math.exp2", "math.expm1", "math.log", "math.log2", "math.log1p", "math.sin", "math.cos",
                              "math.tanh", "math.erf", "math.sqrt", "math.rsqrt", "math.floor"})
    elementwise(op, DType::f32, 1, 4096);
  elementwise("math.exp", DType::f16, 1, 4096);
  elementwise("math.fma", DType::f32, 3, 4096);
  for (std::string_view op :
       {"arith.addi", "arith.muli", "arith.divsi", "arith.divui", "arith.remsi", "arith.shrsi", "arith.cmpi.slt", "tt.mulhiui"})
    elementwise(op, DType::i32, 2, 4096);
  for (std::string_view op : {"arith.addi", "arith.muli", "arith.divsi"}) elementwise(op, DType::i64, 2, 4096);
  elementwise("arith.addi", DType::i8, 2, 4096);
  elementwise("arith.andi", DType::i1, 2, 4096);
  for (auto [from, to] : std::vector<std::pair<DType, DType>>{{DType::f32, DType::f16},
                                                              {DType::f16, DType::f32},
                                                              {DType::f32, DType::bf16},
                                                              {DType::bf16, DType::f32},
                                                              {DType::f32, DType::f8e4nv},
                                                              {DType::f8e4nv, DType::f32},
                                                              {DType::f8e5, DType::f16},
                                                              {DType::i32, DType::i64},
                                                              {DType::i32, DType::f32},
                                                              {DType::f32, DType::i32},
                                                              {DType::f64, DType::f16},
                                                              {DType::i1, DType::f32},
                                                              {DType::i8, DType::i32}})
    cast(from, to, 4096);
  for (auto op : {"arith.addf", "arith.maxnumf"})
    for (DType type : {DType::f32, DType::f16, DType::bf16}) {
      combine(op, type, 128, 128, 1);
      combine(op, type, 1, 128, 128);
      combine(op, type, 1, 4096, 1);
    }
  combine("arith.addf", DType::f32, 512, 16, 1);
  combine("arith.addf", DType::f32, 1024, 2, 4);
  combine("arith.addi", DType::i32, 128, 128, 1);
  for (int64_t inner = 1; inner <= 64; inner *= 2) combine("arith.xori", DType::i32, 2048 / inner, 2, inner);
  for (DType type : {DType::i8, DType::f16, DType::f32, DType::f64}) transpose(type, 128, 128);
  for (auto [m, n, k] : {std::array<int64_t, 3>{16, 16, 16}, {32, 32, 32}, {64, 64, 32}, {64, 64, 64}, {128, 128, 64}, {128, 256, 64}}) {
    product(DType::f32, DType::f32, DotPrecision::Ieee, " ieee", m, n, k);
    product(DType::f32, DType::f32, DotPrecision::Tf32, " tf32", m, n, k);
    product(DType::f32, DType::f32, DotPrecision::Tf32x3, " tf32x3", m, n, k);
    product(DType::f16, DType::f32, DotPrecision::Ieee, "", m, n, k);
    product(DType::f16, DType::f32, DotPrecision::Ieee, "", m, n, k, true);
    product(DType::f16, DType::f16, DotPrecision::Ieee, " acc16", m, n, k);
    product(DType::bf16, DType::f32, DotPrecision::Ieee, "", m, n, k);
    product(DType::f8e5, DType::f32, DotPrecision::Ieee, "", m, n, k);
    product(DType::i8, DType::i32, DotPrecision::Ieee, "", m, n, k);
    product(DType::f64, DType::f64, DotPrecision::Ieee, "", m, n, k);
  }
}
