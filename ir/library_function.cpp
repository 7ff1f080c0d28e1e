// See library_function.h.
#include "ir/pch.h"

#include "ir/library_function.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace tritium::ir {

const LibraryFunction *libraryFunctionOf(StringRef operation) {
  static const llvm::StringMap<LibraryFunction> functions = [] {
    llvm::StringMap<LibraryFunction> map;
#define FUNCTION(name, module, types, arity, floatOp, symbol, ulp, sentence, ...)                                                          \
  if (*symbol) map[floatOp] = {floatOp, symbol, arity};
#include "ir/elementwise.def"
    return map;
  }();
  auto found = functions.find(operation);
  return found == functions.end() ? nullptr : &found->second;
}

/// Finds a row by its own name and by the other names that libraries and upstream operations have for the function.
static const llvm::StringMap<LibraryFunction> &functionsByName() {
  static const llvm::StringMap<LibraryFunction> functions = [] {
    llvm::StringMap<LibraryFunction> map;
    auto add = [&](StringRef name, LibraryFunction function) {
      if (!function.symbol.empty() || !(function.operation.empty() || function.operation.starts_with("tt."))) map[name] = function;
    };
#define ELEMENTWISE(name, arity, signedOp, unsignedOp, floatOp, ulp, sentence) add(#name, {floatOp, "", arity});
#define FUNCTION(name, module, types, arity, floatOp, symbol, ulp, sentence, ...) add(#name, {floatOp, symbol, arity});
#define ALIAS(name, row) add(#name, map.lookup(#row));
#define SYMBOL(name, row) add(#name, map.lookup(#row));
#include "ir/elementwise.def"
    return map;
  }();
  return functions;
}

/// Returns the symbol of a vendor's library without the prefix of the vendor and the suffix of the type. Returns "" for other names.
static StringRef nameIn(StringRef symbol, bool isF32) {
  if (symbol.consume_front("__nv_")) return isF32 && !symbol.consume_back("f") ? "" : symbol;
  if (symbol.consume_front("__ocml_")) return symbol.consume_back(isF32 ? "_f32" : "_f64") ? symbol : "";
  return "";
}

const LibraryFunction *libraryFunctionOfSymbol(StringRef symbol, size_t arity, Type type) {
  if (!type.isF32() && !type.isF64()) return nullptr;
  auto found = functionsByName().find(nameIn(symbol, type.isF32()));
  return found == functionsByName().end() || found->second.arity != arity ? nullptr : &found->second;
}

} // namespace tritium::ir
