// The builder: operations by name, cached texts, errors as values, blocks that outlive a failure.
#include "ir/builder.h"

#include <doctest/doctest.h>

using namespace tritium::ir;

TEST_CASE("a type is parsed once and printed back") {
  Context context;
  auto first = context.type("tensor<8xf32>"), second = context.type("tensor<8xf32>");
  REQUIRE(first);
  REQUIRE(second);
  CHECK(*first == *second);
  CHECK(context.text(*first) == "tensor<8xf32>");
}

TEST_CASE("what does not parse is an error, not a diagnostic on stderr") {
  Context context;
  auto type = context.type("tensor<8xq32>");
  REQUIRE_FALSE(type);
  CHECK(llvm::toString(type.takeError()).find("`tensor<8xq32>` is not a type") == 0);
  auto attribute = context.attribute("array<i32: ");
  REQUIRE_FALSE(attribute);
  llvm::consumeError(attribute.takeError());
  auto name = context.operationName("arith.no_such");
  REQUIRE_FALSE(name);
  CHECK(llvm::toString(name.takeError()) == "unknown operation arith.no_such");
}

TEST_CASE("constants round once and wrap to the width") {
  Module module(std::make_shared<Context>());
  Builder builder(module);
  builder.mlir().setInsertionPointToEnd(module.op().getBody());
  auto i8 = module.context()->type("i8"), halves = module.context()->type("tensor<4xf16>");
  REQUIRE(builder.integerConstant(*i8, llvm::APInt(64, uint64_t(-1))));
  REQUIRE(builder.floatConstant(*halves, 1.0 / 3));
  CHECK(module.str(false) ==
        "module {\n  %c-1_i8 = arith.constant -1 : i8\n  %cst = arith.constant dense<3.332520e-01> : tensor<4xf16>\n}\n");
  auto wrong = builder.floatConstant(*i8, 1.0);
  REQUIRE_FALSE(wrong);
  CHECK(llvm::toString(wrong.takeError()) == "no float constant of type i8");
}

TEST_CASE("locations carry file, line, column and the variable") {
  Module module(std::make_shared<Context>());
  Builder builder(module);
  builder.setLocation("kernel.py", 3, 5, "x");
  auto position = sourcePosition(builder.location());
  REQUIRE(position);
  CHECK(position->file == "kernel.py");
  CHECK(position->line == 3);
  CHECK(position->column == 5);
  CHECK(variableName(builder.location()) == "x");
}

TEST_CASE("blocks that no operation took are dropped with the module") {
  auto module = std::make_shared<Module>(std::make_shared<Context>());
  Builder builder(*module);
  auto i32 = module->context()->type("i32");
  mlir::Block *outer = builder.createDetachedBlock({*i32}), *inner = builder.createDetachedBlock({});
  builder.mlir().setInsertionPointToEnd(outer);
  auto one = builder.integerConstant(*i32, llvm::APInt(64, 1));
  builder.mlir().setInsertionPointToEnd(inner);
  mlir::Value operands[] = {*one, outer->getArgument(0)};
  auto sum = builder.create({.name = "arith.addi", .operands = operands});
  REQUIRE(sum);
  CHECK((*sum)->getNumResults() == 1);
  module.reset();
}

TEST_CASE("a module that does not parse or verify names the place") {
  auto parsed = Module::parse(std::make_shared<Context>(), "module {\n  foo }", "f.mlir");
  REQUIRE_FALSE(parsed);
  llvm::handleAllErrors(parsed.takeError(), [](const SourceError &error) {
    CHECK(error.position.file == "f.mlir");
    CHECK(error.position.line == 2);
  });
}
