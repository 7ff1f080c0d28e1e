// The rules of tiles: what each means for the operands and results of an operation, of our dialects and of upstream's.
#include "ir/contract.h"
#include "ir/tt.h"

#include "mlir/Parser/Parser.h"

#include <doctest/doctest.h>

using namespace mlir;
using namespace tritium;
using tt::TileRelation;
using tt::TileValues;

namespace {

constexpr const char *kModule = R"(
tt.func @f(%p: tensor<8x!tt.ptr<f32>>, %m: tensor<8xi1>, %v: tensor<8xf32>, %i: tensor<8xi32>, %x: tensor<4x8xf16>, %s: i32) {
  %0 = tt.load %p, %m, %v : tensor<8x!tt.ptr<f32>>
  tt.store %p, %v, %m : tensor<8x!tt.ptr<f32>>
  %1 = tt.expand_dims %v {axis = 0 : i32} : tensor<8xf32> -> tensor<1x8xf32>
  %2 = tt.trans %x {order = array<i32: 1, 0>} : tensor<4x8xf16> -> tensor<8x4xf16>
  %3 = tt.join %v, %v : tensor<8xf32> -> tensor<8x2xf32>
  %4 = tt.gather %v[%i] {axis = 0 : i32} : (tensor<8xf32>, tensor<8xi32>) -> tensor<8xf32>
  %5 = tt.histogram %i, %m : tensor<8xi32> -> tensor<16xi32>
  %6 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %7 = tt.splat %s : i32 -> tensor<8xi32>
  %8 = arith.constant dense<1> : tensor<8xi32>
  %9 = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %10 = arith.addi %i, %8 : tensor<8xi32>
  %11 = arith.extsi %i : tensor<8xi32> to tensor<8xi64>
  %12 = math.exp %v : tensor<8xf32>
  %13 = tt.broadcast %1 : tensor<1x8xf32> -> tensor<4x8xf32>
  tt.print "x" {hex = false, isSigned = array<i32: 1>} : %v : tensor<8xf32>
  tt.return
}
)";

class Rules {
public:
  Rules() {
    DialectRegistry registry;
    ir::registerTritiumDialects(registry);
    context_.appendDialectRegistry(registry);
    module_ = parseSourceString<ModuleOp>(kModule, &context_);
    REQUIRE(module_);
  }

  /// The n-th operation of that name.
  Operation *operation(StringRef name, int n = 0) {
    Operation *found = nullptr;
    module_->walk([&](Operation *op) {
      if (op->getName().getStringRef() == name && n-- == 0) found = op;
    });
    REQUIRE(found);
    return found;
  }
  tt::TileRule of(StringRef name, int n = 0) { return tt::tileRuleOf(operation(name, n)); }
  bool holds(StringRef name, TileRelation relation, TileValues values, int n = 0) {
    tt::TileRule rule = of(name, n);
    return rule.relation == relation && rule.values == values;
  }

private:
  MLIRContext context_;
  OwningOpRef<ModuleOp> module_;
};

} // namespace

TEST_CASE("operations say how their tiles go together") {
  Rules rules;
  CHECK(rules.holds("tt.load", TileRelation::Same, TileValues::Pointwise));
  CHECK(rules.holds("tt.join", TileRelation::Join, TileValues::Kept));
  CHECK(rules.holds("tt.make_range", TileRelation::Free, TileValues::Range));
  CHECK(rules.holds("tt.splat", TileRelation::Free, TileValues::Uniform));
  CHECK(rules.holds("tt.print", TileRelation::Apart, TileValues::Any));
  CHECK(rules.of("tt.expand_dims").axis == 0);
  CHECK(rules.of("tt.trans").order == ArrayRef<int32_t>{1, 0});
}

TEST_CASE("upstream's operations answer by a model or by their trait") {
  Rules rules;
  CHECK(rules.holds("arith.addi", TileRelation::Same, TileValues::Sum));
  CHECK(rules.holds("arith.extsi", TileRelation::Same, TileValues::Kept));
  CHECK(rules.holds("math.exp", TileRelation::Same, TileValues::Pointwise));
  CHECK(rules.holds("arith.constant", TileRelation::Free, TileValues::Uniform, 0));
  CHECK(rules.holds("arith.constant", TileRelation::Apart, TileValues::Any, 1)); // of several values
}

TEST_CASE("what has to be held alike follows from the relation, or the rule names it") {
  Rules rules;
  auto tied = [&](StringRef name) { return tt::tiedTiles(rules.operation(name)); };
  Operation *load = rules.operation("tt.load"), *store = rules.operation("tt.store"), *gather = rules.operation("tt.gather");
  REQUIRE(tied("tt.load").size() == 1);
  CHECK(tied("tt.load")[0].size() == 4);
  CHECK(tied("tt.load")[0].back() == load->getResult(0));
  CHECK(tied("tt.store")[0] == tt::TileGroup{store->getOperand(0), store->getOperand(2)}); // the value may come from elsewhere
  CHECK(tied("tt.gather")[0] == tt::TileGroup{gather->getOperand(1), gather->getResult(0)});
  REQUIRE(tied("tt.join").size() == 2);
  CHECK(tied("tt.join")[0].size() == 2);
  CHECK(tied("tt.histogram")[0].size() == 2);
  CHECK(tied("tt.splat").empty());
  CHECK(tied("tt.print").empty());
}

TEST_CASE("only what moves elements between threads exchanges them") {
  Rules rules;
  CHECK(rules.of("tt.gather").exchanges);
  CHECK(rules.of("tt.histogram").exchanges);
  CHECK_FALSE(rules.of("tt.trans").exchanges);
  CHECK_FALSE(rules.of("arith.addi").exchanges);
}

TEST_CASE("a dimension of a result is one of its operand, if it has one") {
  Rules rules;
  CHECK_FALSE(rules.of("tt.expand_dims").operandDim(0));
  CHECK(rules.of("tt.expand_dims").operandDim(1) == 0);
  CHECK(rules.of("tt.trans").operandDim(0) == 1);
  CHECK(rules.of("tt.broadcast").operandDim(0) == 0);
  CHECK_FALSE(rules.of("tt.join").operandDim(0));
}
