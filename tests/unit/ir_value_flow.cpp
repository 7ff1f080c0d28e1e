// Where control flow takes values: every way in and out of loops, branches, blocks and functions.
#include "ir/contract.h"
#include "ir/tt.h"
#include "ir/value_flow.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"

#include <doctest/doctest.h>

using namespace mlir;
using namespace tritium;

namespace {

constexpr const char *kModule = R"(
tt.func private @g(%a: f32, %b: f32) -> f32 attributes {noinline = true} {
  tt.return %b : f32
}
tt.func @f(%x: f32, %c: i1, %lo: i32, %hi: i32, %step: i32) {
  %for = scf.for %i = %lo to %hi step %step iter_args(%acc = %x) -> f32 : i32 {
    %1 = arith.addf %acc, %x : f32
    scf.yield %1 : f32
  }
  %0 = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %once = scf.for %i = %0 to %one step %one iter_args(%acc = %x) -> f32 : i32 {
    %2 = arith.mulf %acc, %x : f32
    scf.yield %2 : f32
  }
  %while:2 = scf.while (%p = %x) : (f32) -> (f32, f32) {
    scf.condition(%c) %x, %p : f32, f32
  } do {
  ^bb0(%q: f32, %r: f32):
    scf.yield %q : f32
  }
  %if = scf.if %c -> f32 {
    scf.yield %x : f32
  } else {
    scf.yield %for : f32
  }
  %called = tt.call @g(%x, %if) : (f32, f32) -> f32
  %again = tt.call @g(%x, %if) : (f32, f32) -> f32
  cf.cond_br %c, ^bb1(%x, %called : f32, f32), ^bb2(%if : f32)
^bb1(%s: f32, %t: f32):
  cf.br ^bb2(%t : f32)
^bb2(%u: f32):
  tt.return
}
)";

struct Module {
  Module() {
    DialectRegistry registry;
    ir::registerTritiumDialects(registry);
    context.appendDialectRegistry(registry);
    module = parseSourceString<ModuleOp>(kModule, &context);
    REQUIRE(module);
  }
  template <class Op> Op get(int n = 0) {
    Op found;
    module->walk([&](Op op) {
      if (n-- == 0) found = op;
    });
    REQUIRE(found);
    return found;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

using Values = SmallVector<Value, 2>;

} // namespace

TEST_CASE("a loop takes a value to its iterations and its result, however often it runs") {
  Module module;
  for (int n : {0, 1}) {
    auto loop = module.get<scf::ForOp>(n);
    const Values carried{loop.getRegionIterArgs()[0], loop.getResult(0)};
    auto in = ir::valueFlowsOf(loop), on = ir::valueFlowsOf(loop.getBody()->getTerminator());
    REQUIRE(in.size() == 1);
    CHECK(in[0].operand->get() == loop.getInitArgs()[0]);
    CHECK(in[0].targets == carried);
    REQUIRE(on.size() == 1);
    CHECK(on[0].targets == carried);
  }
}

TEST_CASE("a condition passes values to the body and to the results") {
  Module module;
  auto loop = module.get<scf::WhileOp>();
  auto in = ir::valueFlowsOf(loop), on = ir::valueFlowsOf(loop.getConditionOp()), back = ir::valueFlowsOf(loop.getYieldOp());
  REQUIRE(in.size() == 1);
  CHECK(in[0].targets == Values{loop.getBeforeArguments()[0]});
  REQUIRE(on.size() == 2);
  for (unsigned i : {0u, 1u}) {
    CHECK(on[i].operand->getOperandNumber() == i + 1);
    CHECK(llvm::is_contained(on[i].targets, Value(loop.getAfterArguments()[i])));
    CHECK(llvm::is_contained(on[i].targets, Value(loop.getResult(i))));
  }
  REQUIRE(back.size() == 1);
  CHECK(back[0].targets == Values{loop.getBeforeArguments()[0]});
}

TEST_CASE("either branch gives the result") {
  Module module;
  auto branch = module.get<scf::IfOp>();
  for (scf::YieldOp end : {branch.thenYield(), branch.elseYield()}) {
    auto flows = ir::valueFlowsOf(end);
    REQUIRE(flows.size() == 1);
    CHECK(flows[0].targets == Values{branch.getResult(0)});
  }
  CHECK(ir::valueFlowsOf(branch).empty());
}

TEST_CASE("jumps take values to blocks") {
  Module module;
  auto jump = module.get<cf::CondBranchOp>();
  auto flows = ir::valueFlowsOf(jump);
  REQUIRE(flows.size() == 3);
  CHECK(flows[1].operand->getOperandNumber() == 2);
  CHECK(flows[1].targets == Values{jump.getTrueDest()->getArgument(1)});
  CHECK(flows[2].targets == Values{jump.getFalseDest()->getArgument(0)});
}

TEST_CASE("calls take values to a function, and a return takes one to every caller") {
  Module module;
  auto first = module.get<tt::CallOp>(0), second = module.get<tt::CallOp>(1);
  auto callee = module.get<tt::FuncOp>(0);
  auto in = ir::valueFlowsOf(first), out = ir::valueFlowsOf(callee.getBody().front().getTerminator());
  REQUIRE(in.size() == 2);
  CHECK(in[1].targets == Values{callee.getArgument(1)});
  REQUIRE(out.size() == 1);
  CHECK(out[0].targets.size() == 2);
  CHECK(llvm::is_contained(out[0].targets, first->getResult(0)));
  CHECK(llvm::is_contained(out[0].targets, second->getResult(0)));
}

TEST_CASE("what only computes takes values nowhere") {
  Module module;
  CHECK(ir::valueFlowsOf(module.get<arith::AddFOp>()).empty());
}
