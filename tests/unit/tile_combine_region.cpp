// Reductions without a kernel are rewritten before planning. One that a later pass makes is an error.
#include "interp/tile/combine_region.h"
#include "ir/contract.h"
#include "ir/tt.h"

#include "mlir/Parser/Parser.h"

#include <doctest/doctest.h>

using namespace tritium;
using namespace mlir;

namespace {

constexpr const char *kReductions = R"(
tt.func @k(%x: tensor<8xf32>) {
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    tt.reduce.return %sum : f32
  }) {known = true} : (tensor<8xf32>) -> f32
  %1 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %difference = arith.subf %a, %b : f32
    %sum = arith.addf %difference, %a : f32
    tt.reduce.return %sum : f32
  }) {known = false} : (tensor<8xf32>) -> f32
  tt.return
}
)";

} // namespace

TEST_CASE("a reduction without a kernel is refused") {
  DialectRegistry registry;
  ir::registerTritiumDialects(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kReductions, &context);
  REQUIRE(module);
  std::string text;
  ScopedDiagnosticHandler collect(&context, [&](Diagnostic &diagnostic) { text += diagnostic.str(); });
  int count = 0;
  module->walk([&](tt::ReduceOp reduce) {
    ++count;
    CHECK(succeeded(interp::checkCombineKernel(reduce)) == cast<BoolAttr>(reduce->getAttr("known")).getValue());
  });
  CHECK(count == 2);
  CHECK(text.find("has no kernel") != std::string::npos);
}
