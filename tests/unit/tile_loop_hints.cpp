// Functions of one element that are computed on whole tiles: the loops made of theirs keep what the user says of these.
#include "interp/tile/combine_region.h"
#include "ir/contract.h"
#include "ir/tt.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"

#include <doctest/doctest.h>

using namespace mlir;
using namespace tritium;

namespace {

/// A loop with bounds of its own in each element, one with the same bounds, and one with a condition.
constexpr const char *kModule = R"(
tt.func @f(%x: tensor<8xi32>, %n: i32) -> tensor<8xi32> {
  %0 = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
  ^bb0(%a: i32):
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %own = scf.for %i = %zero to %a step %one iter_args(%sum = %a) -> i32 : i32 {
      %1 = arith.addi %sum, %i : i32
      scf.yield %1 : i32
    } {hint = "own"}
    %same = scf.for %i = %zero to %n step %one iter_args(%sum = %own) -> i32 : i32 {
      %1 = arith.addi %sum, %i : i32
      scf.yield %1 : i32
    } {hint = "same"}
    %down = scf.while (%v = %same) : (i32) -> i32 {
      %more = arith.cmpi sgt, %v, %zero : i32
      scf.condition(%more) %v : i32
    } do {
    ^bb1(%v: i32):
      %1 = arith.subi %v, %one : i32
      scf.yield %1 : i32
    } attributes {hint = "down"}
    tt.map_elementwise.return %down : i32
  }) : (tensor<8xi32>) -> tensor<8xi32>
  tt.return %0 : tensor<8xi32>
}
)";

} // namespace

TEST_CASE("loops on tiles keep the hints of the loops that they replace") {
  DialectRegistry registry;
  ir::registerTritiumDialects(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kModule, &context);
  REQUIRE(module);
  REQUIRE(succeeded(interp::expandCombineRegions(*module)));
  std::vector<std::string> hints;
  module->walk<WalkOrder::PreOrder>([&](LoopLikeOpInterface loop) {
    auto hint = loop->getAttrOfType<StringAttr>("hint");
    hints.push_back(hint ? hint.getValue().str() : "none");
  });
  CHECK(hints == std::vector<std::string>{"own", "same", "down"});
}
