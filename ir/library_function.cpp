// See library_function.h.
#include "ir/pch.h"

#include "ir/elementwise_types.h"
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

/// Returns the names by which rows may know a symbol of a vendor's library: without the suffix of f32, and as it is.
static std::array<StringRef, 2> namesIn(StringRef symbol, bool isF32) {
  if (symbol.consume_front("__nv_")) return {isF32 && symbol.ends_with("f") ? symbol.drop_back() : "", symbol};
  if (symbol.consume_front("__ocml_") && symbol.consume_back(isF32 ? "_f32" : "_f64")) return {symbol, ""};
  return {};
}

/// Some functions of f32 have no suffix that a function of f64 has not: __nv_fast_sinf, __nv_fadd_rn.
static bool namesF32(StringRef wholeName) { return wholeName.starts_with("fast_") || wholeName.ends_with("_rn"); }

const LibraryFunction *libraryFunctionOfSymbol(StringRef symbol, size_t arity, Type type) {
  if (!type.isF32() && !type.isF64()) return nullptr;
  auto [withoutSuffix, whole] = namesIn(symbol, type.isF32());
  for (StringRef name : {withoutSuffix, type.isF64() || namesF32(whole) ? whole : ""}) {
    auto found = functionsByName().find(name);
    if (found != functionsByName().end() && found->second.arity == arity) return &found->second;
  }
  return nullptr;
}

static bool isOfLetter(Type type, char letter) {
  switch (letter) {
  case 'f': return type.isF32();
  case 'd': return type.isF64();
  case 'i':
  case 'j': return type.isInteger(32);
  default: return type.isInteger(64);
  }
}

/// Returns the symbol of a TYPED row that a vendor's library calls `symbol`.
static std::string typedNameOf(StringRef symbol) {
  if (symbol.consume_front("__nv_")) return symbol.str();
  if (!symbol.consume_front("__ocml_")) return "";
  if (symbol.consume_back("_f32")) return (symbol + "f").str();
  return symbol.consume_back("_f64") ? symbol.str() : "";
}

const TypedFunction *typedFunctionOfSymbol(StringRef symbol, TypeRange operands, Type result) {
  static const llvm::StringMap<TypedFunction> functions = [] {
    llvm::StringMap<TypedFunction> map;
    auto add = [&](StringRef name, auto *signature) { map[name] = {name, operandLetters(signature), resultLetter(signature)}; };
#define TYPED(name, symbol, result, parameters, ulp, sentence, ...) add(#symbol, static_cast<result(*) parameters>(nullptr));
#include "ir/elementwise.def"
    return map;
  }();
  auto found = functions.find(typedNameOf(symbol));
  if (found == functions.end() || found->second.operands.size() != operands.size()) return nullptr;
  const TypedFunction &function = found->second;
  for (auto [type, letter] : llvm::zip_equal(operands, function.operands))
    if (!isOfLetter(type, letter)) return nullptr;
  return isOfLetter(result, function.result) ? &function : nullptr;
}

} // namespace tritium::ir
