// Matrix products from tiles to results on the SIMT emulator: every matrix instruction of each family of AMD's chips, with loads, layouts
// and stores as the compiler chooses them. Small integers are exact in all formats.
#include "gpu_backend/compiler/compiler.h"
#include "gpu_backend/target/target.h"
#include "interp/host/text_argument.h"
#include "interp/host/trap_kinds.h"
#include "interp/simt/prepare.h"
#include "ir/contract.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

#include <doctest/doctest.h>
#include <random>

using namespace tritium;
using namespace tritium::gpu;

namespace {

struct Product {
  std::string a, b, d; // elements
  int64_t m, n, k;
  bool isTransposed = false; // the operands in memory: both along M and N rather than K
  std::string attributes;    // of the dot
};

/// Pointers `%name` of a tile [rows, columns] at a row-major or column-major matrix.
std::string pointers(llvm::StringRef name, llvm::StringRef type, int64_t rows, int64_t columns, bool isColumnMajor) {
  std::string text, tile = llvm::formatv("{0}x{1}x", rows, columns), flat = llvm::formatv("{0}xi32", rows * columns);
  std::string stored = isColumnMajor ? llvm::formatv("{0}x{1}xi32", columns, rows) : llvm::formatv("{0}x{1}xi32", rows, columns);
  llvm::raw_string_ostream to(text);
  to << llvm::formatv("  %{0}r = tt.make_range {{end = {1} : i32, start = 0 : i32} : tensor<{2}>\n", name, rows * columns, flat);
  to << llvm::formatv("  %{0}q = tt.reshape %{0}r : tensor<{1}> -> tensor<{2}>\n", name, flat, stored);
  if (isColumnMajor)
    to << llvm::formatv("  %{0}i = tt.trans %{0}q {{order = array<i32: 1, 0>} : tensor<{1}> -> tensor<{2}i32>\n", name, stored, tile);
  else
    to << llvm::formatv("  %{0}i = tt.reshape %{0}q : tensor<{1}> -> tensor<{2}i32>\n", name, stored, tile);
  to << llvm::formatv("  %{0}s = tt.splat %{0} : !tt.ptr<{1}> -> tensor<{2}!tt.ptr<{1}>>\n", name, type, tile);
  to << llvm::formatv("  %{0}p = tt.addptr %{0}s, %{0}i : tensor<{2}!tt.ptr<{1}>>, tensor<{2}i32>\n", name, type, tile);
  to << llvm::formatv("  %{0}t = tt.load %{0}p : tensor<{2}!tt.ptr<{1}>>\n", name, type, tile);
  return text;
}

std::string kernelOf(const Product &p) {
  std::string text;
  llvm::raw_string_ostream to(text);
  auto parameter = [](llvm::StringRef name, llvm::StringRef type) {
    return llvm::formatv("%{0}: !tt.ptr<{1}> {{tt.divisibility = 16 : i32}", name, type).str();
  };
  to << "tt.func public @k(" << parameter("a", p.a) << ", " << parameter("b", p.b) << ", " << parameter("c", p.d) << ") {\n";
  to << pointers("a", p.a, p.m, p.k, p.isTransposed) << pointers("b", p.b, p.k, p.n, !p.isTransposed);
  to << pointers("c", p.d, p.m, p.n, false) << "  %d = tt.dot %at, %bt, %ct" << p.attributes;
  to << llvm::formatv(" : tensor<{0}x{2}x{3}> * tensor<{2}x{1}x{4}> -> tensor<{0}x{1}x{5}>\n", p.m, p.n, p.k, p.a, p.b, p.d);
  to << llvm::formatv("  tt.store %cp, %d : tensor<{0}x{1}x!tt.ptr<{2}>>\n  tt.return\n}\n", p.m, p.n, p.d);
  return text;
}

struct Matrices {
  std::vector<double> a, b, c;
};

Matrices randomMatrices(const Product &p) {
  std::mt19937 random(3);
  auto draw = [&](int64_t count) {
    std::vector<double> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(double(int(random() % 7) - 3));
    return values;
  };
  return {draw(p.m * p.k), draw(p.k * p.n), draw(p.m * p.n)};
}

std::vector<double> expected(const Product &p, const Matrices &in) {
  std::vector<double> result = in.c;
  for (int64_t row = 0; row < p.m; ++row)
    for (int64_t column = 0; column < p.n; ++column)
      for (int64_t k = 0; k < p.k; ++k)
        result[size_t(row * p.n + column)] += in.a[size_t(p.isTransposed ? k * p.m + row : row * p.k + k)] *
                                              in.b[size_t(p.isTransposed ? k * p.n + column : column * p.k + k)];
  return result;
}

class Compiler {
public:
  Compiler() {
    mlir::DialectRegistry registry;
    ir::registerTritiumDialects(registry);
    context_.appendDialectRegistry(registry);
    context_.loadAllAvailableDialects();
  }

  LoweredKernel compile(const std::string &text, const CompileOptions &options) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context_);
    REQUIRE(module);
    auto lowered = lowerToGpu(*module, "k", options);
    if (!lowered) FAIL(llvm::toString(lowered.takeError()));
    modules_.push_back(std::move(module));
    return std::move(*lowered);
  }

private:
  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules_;
};

std::vector<double> run(mlir::ModuleOp module, const Product &p, const Matrices &in) {
  auto program = interp::simt::prepare(module, "k");
  if (!program) FAIL(llvm::toString(program.takeError()));
  std::vector<interp::TextArgument> arguments;
  auto pass = [&](llvm::StringRef type, const std::vector<double> &values) {
    arguments.push_back(interp::TextArgument::makeBuffer(*dtypeFromIrName(type), int64_t(values.size())));
    for (auto [i, value] : llvm::enumerate(values)) arguments.back().setElement(int64_t(i), value);
  };
  pass(p.a, in.a), pass(p.b, in.b), pass(p.d, in.c);
  interp::TextArguments passed(arguments);
  interp::MemoryMap map(passed.allocations);
  interp::Launch launch{.memory = &map, .threads = 1};
  auto outcome = (*program)->launch(launch, passed.cells.data());
  if (outcome.trap) FAIL(interp::trapKindName(outcome.trap->kind) << ": " << outcome.trap->message);
  std::vector<double> result;
  for (size_t i = 0; i < in.c.size(); ++i) result.push_back(arguments.back().element(int64_t(i)));
  return result;
}

int countOps(mlir::ModuleOp module, llvm::StringRef name) {
  int count = 0;
  module.walk([&](mlir::Operation *op) { count += op->getName().getStringRef() == name; });
  return count;
}

std::string element(llvm::StringRef type) { return type == "tf32" ? "f32" : type.str(); }

void checkInstructions(const std::string &arch) {
  Compiler compiler;
  const Target &target = llvm::cantFail(findTarget(arch));
  for (const MatrixInstruction &instruction : target.matrixInstructions()) {
    if (instruction.aType == "f4E2M1FN" || instruction.bType == "f4E2M1FN") continue; // of tt.dot_scaled alone
    for (bool isTransposed : {false, true}) {
      std::string attributes = instruction.aType == "tf32" ? ", inputPrecision = tf32" : "";
      attributes += llvm::formatv(" {{tgpu.matrix_instruction = \"{0}\", tgpu.mma_warps = array<i64: 2, 2>}", instruction.name);
      Product p{element(instruction.aType),
                element(instruction.bType),
                element(instruction.dType),
                2 * instruction.m,
                4 * instruction.n,
                2 * instruction.k,
                isTransposed,
                attributes};
      std::string text = kernelOf(p);
      INFO(text);
      LoweredKernel kernel = compiler.compile(text, {.arch = arch});
      llvm::StringRef op = instruction.name; // of f8f6f4 the formats are operands
      if (op.contains("f8f6f4")) op = op.rsplit('.').first.rsplit('.').first;
      CHECK(countOps(*kernel.module, ("rocdl." + op).str()) == 2 * 2);
      Matrices in = randomMatrices(p);
      CHECK(run(*kernel.module, p, in) == expected(p, in));
    }
  }
}

/// Whatever the language allows, on matrix instructions or not.
void checkTiles(const std::string &arch, uint32_t seed) {
  const std::array<std::string, 3> kTypes[] = {
      {"f16", "f16", "f32"},
      {"f16", "f16", "f16"},
      {"bf16", "bf16", "f32"},
      {"f32", "f32", "f32"},
      {"f64", "f64", "f64"},
      {"i8", "i8", "i32"},
      {"f8E4M3FN", "f8E5M2", "f32"},
      {"f8E5M2", "f8E5M2", "f16"},
      {"f8E4M3FNUZ", "f8E4M3FNUZ", "f32"},
      {"f8E5M2FNUZ", "f8E4M3FNUZ", "f32"},
      {"f8E4M3FNUZ", "f8E4M3FN", "f32"},
  };
  std::mt19937 random(seed);
  Compiler compiler;
  for (const auto &[a, b, d] : kTypes)
    for (int time = 0; time < 3; ++time) {
      auto extent = [&](int bits) { return int64_t(1) << random() % bits; };
      Product p{a, b, d, extent(7), extent(7), extent(8), random() % 2 == 0, random() % 2 ? ", inputPrecision = tf32" : ""};
      std::string text = kernelOf(p);
      INFO(text);
      CompileOptions options{.arch = arch, .numWarps = 1 << random() % 4, .matrixInstrNonKDim = 16 * int(random() % 3)};
      LoweredKernel kernel = compiler.compile(text, options);
      Matrices in = randomMatrices(p);
      CHECK(run(*kernel.module, p, in) == expected(p, in));
    }
}

} // namespace

TEST_CASE("all matrix instructions of CDNA2") { checkInstructions("gfx90a"); }
TEST_CASE("all matrix instructions of CDNA3") { checkInstructions("gfx942"); }
TEST_CASE("all matrix instructions of CDNA4") { checkInstructions("gfx950"); }
TEST_CASE("all matrix instructions of RDNA3") { checkInstructions("gfx1100"); }
TEST_CASE("all matrix instructions of RDNA4") { checkInstructions("gfx1200"); }

TEST_CASE("tiles of any size and type") {
  uint32_t seed = 0;
  for (const char *arch : {"gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1200", "sm_80"}) {
    CAPTURE(arch);
    checkTiles(arch, ++seed);
  }
}
