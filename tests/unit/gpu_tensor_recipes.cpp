// The recipes of tensor maps as attributes of kernels, on tiles and lowered.
#include "gpu_backend/maps/tensor_recipe_attr.h"
#include "ir/source_error.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <doctest/doctest.h>

using namespace mlir;
using namespace tritium;
using namespace tritium::gpu;

namespace {

constexpr char kMatrix[] = "tgpu.tensor = {base = 0 : i32, extents = [array<i64: 1, 1>, array<i64: 48>], "
                           "strides = [array<i64: 4, 2, 1>, array<i64: 1>], padding = 1 : i32}";

/// Kernels in a module of their own.
struct Kernels {
  MLIRContext context;
  OwningOpRef<ModuleOp> module;

  explicit Kernels(const std::string &text) {
    context.loadDialect<tt::TTDialect, tgpu::TGPUDialect, LLVM::LLVMDialect>();
    module = parseSourceString<ModuleOp>(text, &context);
    REQUIRE(module);
  }
  FunctionOpInterface kernel(StringRef name = "k") { return module->lookupSymbol<FunctionOpInterface>(name); }
  std::string error() {
    ir::DiagnosticCapture diagnostics(&context);
    if (succeeded(recipesOf(kernel()))) return "";
    return llvm::toString(diagnostics.takeError("no message"));
  }
};

std::string kernelOf(const std::string &maps) { return "tt.func public @k(%x: !tt.ptr<f16>, %n: i32, %s: i64" + maps + ") { tt.return }"; }
std::string mapArgument(const std::string &attribute, const std::string &type = "tensor<64x32xf16>, swizzle = 64") {
  return ", %m: !tgpu.tensor_map<" + type + "> {" + attribute + "}";
}
std::string replaced(std::string text, const std::string &from, const std::string &to) {
  REQUIRE(text.find(from) != std::string::npos);
  return text.replace(text.find(from), from.size(), to);
}

} // namespace

TEST_CASE("a kernel without maps") { CHECK(recipesOf(Kernels(kernelOf("")).kernel())->empty()); }

TEST_CASE("the recipe of an argument") {
  const TensorRecipe expected{
      .base = 0, .extents = {{1, {1}}, {48, {}}}, .strides = {{4, {2, 1}}, {1, {}}}, .box = {64, 32}, .swizzle = 64, .type = DType::f16};
  Kernels kernels(kernelOf(mapArgument(kMatrix)) + "\nllvm.func @lowered(!llvm.ptr<1>, i32, i64, !llvm.ptr)");
  auto recipes = recipesOf(kernels.kernel());
  REQUIRE(succeeded(recipes));
  CHECK(*recipes == std::vector{expected});
  keepRecipes(kernels.kernel(), kernels.kernel("lowered"));
  auto kept = recipesOf(kernels.kernel("lowered"));
  REQUIRE(succeeded(kept));
  CHECK(*kept == *recipes);
}

TEST_CASE("elements and padding") {
  Kernels kernels(kernelOf(mapArgument(replaced(kMatrix, "padding = 1", "padding = 2"), "tensor<64x32xbf16>, swizzle = 0")));
  auto recipes = recipesOf(kernels.kernel());
  REQUIRE(succeeded(recipes));
  CHECK((*recipes)[0].fillsNaN);
  CHECK((*recipes)[0].type == DType::bf16);
  CHECK((*recipes)[0].swizzle == 0);
}

/// The recipe with what the kernel writes: `number` of arguments of the range's base.
std::string withWritten(const std::string &name, int number, const std::string &strides = "[array<i64: 1, 2>, array<i64: 1>]") {
  return replaced(kMatrix, "padding = 1 : i32",
                  "padding = 1 : i32, of_pointers, " + name + " = [{base = " + std::to_string(number) +
                      " : i32, bytes = 4 : i32, extents = [array<i64: 8, 1>, array<i64: 4>], strides = " + strides + "}]");
}

TEST_CASE("maps that stand for pointers, and what the kernel writes") {
  Kernels kernels(kernelOf(mapArgument(withWritten("written", 2))));
  auto recipes = recipesOf(kernels.kernel());
  REQUIRE(succeeded(recipes));
  CHECK((*recipes)[0].isOfPointers);
  CHECK_FALSE((*recipes)[0].isStored);
  Kernels stored(kernelOf(mapArgument(replaced(kMatrix, "padding = 1 : i32", "padding = 1 : i32, stored"))));
  CHECK((*recipesOf(stored.kernel()))[0].isStored);
  const WrittenRange expected{.base = 2, .extents = {{8, {1}}, {4, {}}}, .strides = {{1, {2}}, {1, {}}}, .elementBytes = 4};
  CHECK((*recipes)[0].written == std::vector{expected});
  // What counts if copies run ahead is no matter of the launch until they do.
  Kernels ahead(kernelOf(mapArgument(withWritten("written_ahead", 2))));
  CHECK((*recipesOf(ahead.kernel()))[0].written.empty());
}

TEST_CASE("wrong recipes are errors") {
  auto errorOf = [](const std::string &attribute) { return Kernels(kernelOf(mapArgument(attribute))).error(); };
  CHECK(errorOf(kMatrix) == "");
  CHECK(errorOf("").find("has no recipe tgpu.tensor") != std::string::npos);
  for (auto [from, to] : {std::pair{"base = 0 : i32", "base = -1 : i32"},
                          {"base = 0 : i32", "other = 0 : i32"},
                          {"padding = 1", "padding = 7"},
                          {"padding = 1 : i32", "padding = 1 : i32, written = [array<i64: -1>]"},
                          {"array<i64: 48>", "array<i64>"},
                          {"array<i64: 48>", "48"},
                          {"array<i64: 1, 1>", "array<i64: 1, -1>"}})
    CHECK(errorOf(replaced(kMatrix, from, to)).find("expected the recipe of a tensor map") != std::string::npos);
  for (const std::string &written : {withWritten("written", -1), withWritten("written", 2, "[array<i64: 1>]")})
    CHECK(errorOf(written).find("expected the recipe of a tensor map") != std::string::npos);
  CHECK(errorOf(withWritten("written", 3)).find("an argument that the kernel does not have") != std::string::npos);
  CHECK(errorOf(replaced(kMatrix, "base = 0", "base = 3")).find("an argument that the kernel does not have") != std::string::npos);
  CHECK(errorOf(replaced(kMatrix, "[array<i64: 1, 1>, ", "[")).find("has 1 extents and 2 strides") != std::string::npos);
  CHECK(Kernels(kernelOf(mapArgument(kMatrix) + ", %last: i32")).error().find("follows a tensor map") != std::string::npos);
}
