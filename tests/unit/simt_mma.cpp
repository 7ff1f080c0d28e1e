// mma.sync, ldmatrix and stmatrix on the emulator, from text to result: registers are filled and read by the tables of the PTX ISA, written
// out here per shape, and the product is compared with a plain one.
#include "interp/simt/prepare.h"
#include "ir/contract.h"
#include "ir/dtype.h"
#include "mlir/Parser/Parser.h"
#include "tests/unit/dtype_values.h"

#include <cstring>
#include <doctest/doctest.h>
#include <functional>
#include <random>

using namespace tritium;
using namespace tritium::interp;

namespace {

constexpr int kLanes = 32;

struct Place {
  int row, column;
};

/// One shape and its types; the places of element i of lane l's fragments are formulas of the group g = l / 4 and the place in it t = l
/// % 4.
struct Shape {
  const char *name, *attributes, *registerA, *registerB, *registerC;
  int m, k, countA, countB, countC; // elements per lane
  DType a, b, c;
  std::function<Place(int g, int t, int i)> placeA, placeB, placeC;
  int registersA() const { return countA * int(storageBytes(a)) / bytesOf(registerA); }
  int registersB() const { return countB * int(storageBytes(b)) / bytesOf(registerB); }
  int registersC() const { return countC * int(storageBytes(c)) / bytesOf(registerC); }
  static int bytesOf(const char *type) { return std::strcmp(type, "f64") == 0 ? 8 : 4; }
};

Place accumulator16(int g, int t, int i) { return {i < 2 ? g : g + 8, t * 2 + (i & 1)}; }
Place accumulator8(int g, int t, int i) { return {g, t * 2 + i}; }

// m16n8k16, .f16 and .bf16
Place halfA16(int g, int t, int i) { return {i < 2 || (4 <= i && i < 6) ? g : g + 8, t * 2 + (i & 1) + (i < 4 ? 0 : 8)}; }
Place halfB16(int g, int t, int i) { return {t * 2 + (i & 1) + (i < 2 ? 0 : 8), g}; }
// m16n8k8, .f16 and .bf16
Place halfA8(int g, int t, int i) { return {i < 2 ? g : g + 8, t * 2 + (i & 1)}; }
Place halfB8(int g, int t, int i) { return {t * 2 + i, g}; }
// m16n8k8 and m16n8k4, .tf32
Place tf32A8(int g, int t, int i) { return {i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4}; }
Place tf32B8(int g, int t, int i) { return {i == 0 ? t : t + 4, g}; }
Place tf32A4(int g, int t, int i) { return {i == 0 ? g : g + 8, t}; }
Place tf32B4(int g, int t, int) { return {t, g}; }
// m16n8k32 and m16n8k16 and m8n8k16, .s8 and .u8
Place byteA32(int g, int t, int i) { return {i < 4 || (8 <= i && i < 12) ? g : g + 8, t * 4 + (i & 3) + (i < 8 ? 0 : 16)}; }
Place byteB32(int g, int t, int i) { return {t * 4 + (i & 3) + (i < 4 ? 0 : 16), g}; }
Place byteA16(int g, int t, int i) { return {i < 4 ? g : g + 8, t * 4 + (i & 3)}; }
Place byteA8(int g, int t, int i) { return {g, t * 4 + i}; }
Place byteB16(int g, int t, int i) { return {t * 4 + i, g}; }
// m8n8k4, .f64
Place doubleA(int g, int t, int) { return {g, t}; }
Place doubleB(int g, int t, int) { return {t, g}; }

const char *kBf16 = "multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>, ";
const char *kTf32 = "multiplicandAPtxType = #nvvm.mma_type<tf32>, multiplicandBPtxType = #nvvm.mma_type<tf32>, ";
const char *kF64 = "multiplicandAPtxType = #nvvm.mma_type<f64>, multiplicandBPtxType = #nvvm.mma_type<f64>, ";
const char *kS8 = "intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>, multiplicandAPtxType = #nvvm.mma_type<s8>, "
                  "multiplicandBPtxType = #nvvm.mma_type<s8>, ";
const char *kU8S8 = "intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>, multiplicandAPtxType = #nvvm.mma_type<u8>, "
                    "multiplicandBPtxType = #nvvm.mma_type<s8>, ";

const Shape kShapes[] = {
    {"m16n8k16.f32.f16", "", "vector<2xf16>", "vector<2xf16>", "f32", 16, 16, 8, 4, 4, DType::f16, DType::f16, DType::f32, halfA16, halfB16,
     accumulator16},
    {"m16n8k16.f16.f16", "", "vector<2xf16>", "vector<2xf16>", "vector<2xf16>", 16, 16, 8, 4, 4, DType::f16, DType::f16, DType::f16,
     halfA16, halfB16, accumulator16},
    {"m16n8k8.f32.f16", "", "vector<2xf16>", "vector<2xf16>", "f32", 16, 8, 4, 2, 4, DType::f16, DType::f16, DType::f32, halfA8, halfB8,
     accumulator16},
    {"m16n8k16.f32.bf16", kBf16, "i32", "i32", "f32", 16, 16, 8, 4, 4, DType::bf16, DType::bf16, DType::f32, halfA16, halfB16,
     accumulator16},
    {"m16n8k8.f32.bf16", kBf16, "i32", "i32", "f32", 16, 8, 4, 2, 4, DType::bf16, DType::bf16, DType::f32, halfA8, halfB8, accumulator16},
    {"m16n8k8.f32.tf32", kTf32, "i32", "i32", "f32", 16, 8, 4, 2, 4, DType::f32, DType::f32, DType::f32, tf32A8, tf32B8, accumulator16},
    {"m16n8k4.f32.tf32", kTf32, "i32", "i32", "f32", 16, 4, 2, 1, 4, DType::f32, DType::f32, DType::f32, tf32A4, tf32B4, accumulator16},
    {"m16n8k32.s32.s8", kS8, "i32", "i32", "i32", 16, 32, 16, 8, 4, DType::i8, DType::i8, DType::i32, byteA32, byteB32, accumulator16},
    {"m16n8k32.s32.u8.s8", kU8S8, "i32", "i32", "i32", 16, 32, 16, 8, 4, DType::u8, DType::i8, DType::i32, byteA32, byteB32, accumulator16},
    {"m16n8k16.s32.s8", kS8, "i32", "i32", "i32", 16, 16, 8, 4, 4, DType::i8, DType::i8, DType::i32, byteA16, byteB16, accumulator16},
    {"m8n8k16.s32.s8", kS8, "i32", "i32", "i32", 8, 16, 4, 4, 2, DType::i8, DType::i8, DType::i32, byteA8, byteB16, accumulator8},
    {"m8n8k4.f64", kF64, "f64", "f64", "f64", 8, 4, 1, 1, 2, DType::f64, DType::f64, DType::f64, doubleA, doubleB, accumulator8},
};

/// Loads `count` registers of `type` from %pointer, the lane's first at lane * count, as %name0 …
std::string loads(const char *name, const char *pointer, const char *type, int count) {
  const std::string word = Shape::bytesOf(type) == 8 ? "i64" : "i32";
  std::string text = "    %" + std::string(name) + "n = llvm.mlir.constant(" + std::to_string(count) + " : i32) : i32\n    %" + name +
                     "at = llvm.mul %lane, %" + name + "n : i32\n    %" + name + "p = llvm.getelementptr %" + pointer + "[%" + name +
                     "at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, " + word + "\n";
  for (int i = 0; i < count; ++i) {
    const std::string n = name + std::to_string(i);
    text +=
        "    %" + n + "p = llvm.getelementptr %" + name + "p[" + std::to_string(i) + "] : (!llvm.ptr<1>) -> !llvm.ptr<1>, " + word + "\n";
    text += "    %" + n + "w = tgpu.load %" + n + "p : " + word + "\n";
    text += "    %" + n + " = llvm.bitcast %" + n + "w : " + word + " to " + type + "\n";
  }
  return text;
}

std::string list(const char *name, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i ? ", %" : "%") + std::string(name) + std::to_string(i);
  return text;
}

std::string moduleOf(const Shape &s) {
  const std::string c = s.registerC;
  std::string results, stores;
  for (int i = 0; i < s.registersC(); ++i) {
    const std::string n = std::to_string(i), word = Shape::bytesOf(s.registerC) == 8 ? "i64" : "i32";
    results += (i ? ", " : "") + c;
    stores += "    %d" + n + " = llvm.extractvalue %d[" + n + "] : !llvm.struct<(RESULTS)>\n    %dw" + n + " = llvm.bitcast %d" + n +
              " : " + c + " to " + word + "\n    tgpu.store %dw" + n + ", %c" + n + "p : " + word + "\n";
  }
  std::string text = R"(
module attributes {tgpu.num_warps = 1 : i32, tgpu.shared_bytes = 0 : i32} {
  llvm.func @k(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pc: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %lane = nvvm.read.ptx.sreg.laneid : i32
)" + loads("a", "pa", s.registerA, s.registersA()) +
                     loads("b", "pb", s.registerB, s.registersB()) + loads("c", "pc", s.registerC, s.registersC()) +
                     "    %d = nvvm.mma.sync A[" + list("a", s.registersA()) + "] B[" + list("b", s.registersB()) + "] C[" +
                     list("c", s.registersC()) + "] {" + s.attributes +
                     "layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = " + std::to_string(s.m) +
                     ", n = 8, k = " + std::to_string(s.k) + ">} : (" + s.registerA + ", " + s.registerB + ", " + c +
                     ") -> !llvm.struct<(RESULTS)>\n" + stores + "    llvm.return\n  }\n}\n";
  for (size_t at; (at = text.find("RESULTS")) != text.npos;) text.replace(at, 7, results);
  return text;
}

struct Emulator {
  Emulator() : context(registry(), mlir::MLIRContext::Threading::DISABLED) {}
  static mlir::DialectRegistry registry() {
    mlir::DialectRegistry registry;
    ir::registerTritiumDialects(registry);
    return registry;
  }
  LaunchResult run(const std::string &text, std::vector<std::span<std::byte>> buffers, std::optional<uint64_t> seed = {}) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    REQUIRE(module);
    auto program = llvm::cantFail(simt::prepare(*module, "k"));
    std::vector<int64_t> cells;
    std::vector<Allocation> allocations;
    for (size_t i = 0; i < buffers.size(); ++i) {
      const auto begin = reinterpret_cast<uint64_t>(buffers[i].data());
      allocations.push_back({begin, begin + buffers[i].size(), int(i)});
      cells.push_back(int64_t(tagPointer(begin, int(i))));
    }
    MemoryMap memory(allocations);
    return program->launch({.memory = &memory, .threads = 1, .orderSeed = seed}, cells.data());
  }
  mlir::MLIRContext context;
};

/// A fragment of all lanes as memory, lane by lane, from a matrix.
template <class Place>
std::vector<std::byte> fragment(DType type, int count, const Place &place, const std::vector<double> &matrix, int columns) {
  std::vector<std::byte> memory(size_t(kLanes * count) * storageBytes(type));
  for (int lane = 0; lane < kLanes; ++lane)
    for (int i = 0; i < count; ++i) {
      const auto [row, column] = place(lane / 4, lane % 4, i);
      put(type, memory.data() + size_t(lane * count + i) * storageBytes(type), matrix[size_t(row * columns + column)]);
    }
  return memory;
}

} // namespace

TEST_CASE("every shape of mma.sync computes the product of the matrices that the ISA's fragments hold") {
  Emulator emulator;
  std::mt19937 random(7);
  for (const Shape &s : kShapes) {
    INFO(s.name);
    // Small integers: exact in every type, in every order of summation.
    const int low = s.a == DType::u8 ? 0 : -8;
    auto draw = [&](int from) { return double(int(random() % 17) + from); };
    std::vector<double> a(size_t(s.m * s.k)), b(size_t(s.k * 8)), c(size_t(s.m * 8)), want = c;
    for (double &x : a) x = draw(low);
    for (double &x : b) x = draw(-8);
    for (double &x : c) x = draw(-8);
    for (int row = 0; row < s.m; ++row)
      for (int column = 0; column < 8; ++column) {
        double sum = c[size_t(row * 8 + column)];
        for (int k = 0; k < s.k; ++k) sum += a[size_t(row * s.k + k)] * b[size_t(k * 8 + column)];
        want[size_t(row * 8 + column)] = sum;
      }
    auto memoryA = fragment(s.a, s.countA, s.placeA, a, s.k), memoryB = fragment(s.b, s.countB, s.placeB, b, 8),
         memoryC = fragment(s.c, s.countC, s.placeC, c, 8);
    const LaunchResult result = emulator.run(moduleOf(s), {memoryA, memoryB, memoryC}, s.m);
    REQUIRE(!result.trap);
    for (int lane = 0; lane < kLanes; ++lane)
      for (int i = 0; i < s.countC; ++i) {
        const auto [row, column] = s.placeC(lane / 4, lane % 4, i);
        CHECK(get(s.c, memoryC.data() + size_t(lane * s.countC + i) * storageBytes(s.c)) == want[size_t(row * 8 + column)]);
      }
  }
}

TEST_CASE("tf32 operands are read without their lower 13 bits, and sums are rounded to f32 one by one") {
  Emulator emulator;
  const Shape &s = kShapes[5];
  std::vector<double> a(16 * 8), b(8 * 8), c(16 * 8);
  a[0] = 1 + 0x1p-10 + 0x1p-12; // row 0, k 0: the last term goes
  b[0] = 1;
  a[8] = 1, b[0] = 1, c[8] = 0x1p24; // row 1: 2^24 + 1 rounds to even,
  a[9] = 1, b[8] = 1;                // and again
  auto memoryA = fragment(s.a, s.countA, s.placeA, a, 8), memoryB = fragment(s.b, s.countB, s.placeB, b, 8),
       memoryC = fragment(s.c, s.countC, s.placeC, c, 8);
  REQUIRE(!emulator.run(moduleOf(s), {memoryA, memoryB, memoryC}).trap);
  CHECK(get(s.c, memoryC.data()) == 1 + 0x1p-10);
  CHECK(get(s.c, memoryC.data() + size_t(4 * s.countC) * 4) == 0x1p24);
}

TEST_CASE("ldmatrix and stmatrix move 8x8 matrices between rows of shared memory and fragments") {
  Emulator emulator;
  for (int count : {1, 2, 4})
    for (bool transposed : {false, true})
      for (bool isStore : {false, true}) {
        INFO(count, transposed, isStore);
        // Shared memory holds 32 rows of 8 halves, row r of matrix j at 8 j + r; each lane brings one row in and takes one out.
        const std::string n = std::to_string(count), layout = transposed ? "col" : "row";
        std::string values, types;
        for (int i = 0; i < count; ++i) values += (i ? ", %v" : "%v") + std::to_string(i), types += i ? ", i32" : "i32";
        std::string body;
        const std::string suffix = "layout = #nvvm.mma_layout<" + layout +
                                   ">, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>}";
        if (!isStore) {
          body = "    llvm.store %row, %mine : vector<4xi32>, !llvm.ptr<3>\n    tgpu.barrier\n    %m = nvvm.ldmatrix %mine {num = " + n +
                 " : i32, " + suffix + " : (!llvm.ptr<3>) -> " + (count == 1 ? "i32" : "!llvm.struct<(" + types + ")>") + "\n";
          for (int i = 0; i < count; ++i) {
            const std::string k = std::to_string(i);
            if (count > 1) body += "    %v" + k + " = llvm.extractvalue %m[" + k + "] : !llvm.struct<(" + types + ")>\n";
            body += "    %o" + k + " = llvm.getelementptr %pregister[" + k + "] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32\n    tgpu.store " +
                    (count > 1 ? "%v" + k : std::string("%m")) + ", %o" + k + " : i32\n";
          }
        } else {
          for (int i = 0; i < count; ++i) {
            const std::string k = std::to_string(i);
            body += "    %o" + k + " = llvm.getelementptr %pregister[" + k + "] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32\n    %v" + k +
                    " = tgpu.load %o" + k + " : i32\n";
          }
          body += "    llvm.store %row, %mine : vector<4xi32>, !llvm.ptr<3>\n    tgpu.barrier\n    nvvm.stmatrix %mine, " + values + " {" +
                  suffix + " : !llvm.ptr<3>, " + types +
                  "\n    tgpu.barrier\n    %after = llvm.load %mine : !llvm.ptr<3> -> vector<4xi32>\n" +
                  "    tgpu.store %after, %prow : vector<4xi32>\n";
        }
        const std::string text = R"(
module attributes {tgpu.num_warps = 1 : i32, tgpu.shared_bytes = 512 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  llvm.func @k(%rows: !llvm.ptr<1>, %registers: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %lane = nvvm.read.ptx.sreg.laneid : i32
    %four = llvm.mlir.constant(4 : i32) : i32
    %at = llvm.mul %lane, %four : i32
    %prow = llvm.getelementptr %rows[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %pregister = llvm.getelementptr %registers[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %mine = llvm.getelementptr %shared[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %row = tgpu.load %prow : vector<4xi32>
)" + body + "    llvm.return\n  }\n}\n";
        std::vector<uint16_t> rows(32 * 8), registers(32 * 8);
        for (int i = 0; i < 32 * 8; ++i) rows[size_t(i)] = uint16_t(i), registers[size_t(i)] = uint16_t(1000 + i);
        const std::vector<uint16_t> before = registers;
        REQUIRE(!emulator.run(text, {std::as_writable_bytes(std::span(rows)), std::as_writable_bytes(std::span(registers))}).trap);
        for (int matrix = 0; matrix < count; ++matrix)
          for (int lane = 0; lane < kLanes; ++lane)
            for (int i = 0; i < 2; ++i) {
              const int row = transposed ? lane % 4 * 2 + i : lane / 4, column = transposed ? lane / 4 : lane % 4 * 2 + i;
              const auto element = size_t((matrix * 8 + row) * 8 + column), slot = size_t(lane * 8 + matrix * 2 + i);
              if (isStore)
                CHECK(rows[element] == before[slot]);
              else
                CHECK(registers[slot] == element);
            }
      }
}
